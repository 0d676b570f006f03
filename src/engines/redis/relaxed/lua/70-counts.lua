-- How many items there are, after what is overdue went back.
--
-- KEYS[1]  the shard
-- ARGV[1]  how many shards the queue has
--
-- Output   0, how many wait, how many are taken
--          n alone, when the queue has n shards, which is another number

local function counts(keys, args)
  local base = keys[1]
  local actual = disagreement(base, args[1])
  if actual ~= AGREED then return { actual } end
  give_back_overdue(base)
  return { AGREED, redis.call("ZCARD", base .. ":waiting"), redis.call("ZCARD", base .. ":taken") }
end

register("counts", counts, { "allow-oom" })
