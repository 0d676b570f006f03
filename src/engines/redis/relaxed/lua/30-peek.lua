-- The first of the items that wait, best first, after what is overdue went back.
--
-- KEYS[1]  the shard
-- ARGV[1]  how many shards the queue has
-- ARGV[2]  how many items
-- ARGV[3]  1: with their payloads
--
-- Output   0, then of each item: id, priority; with payloads: id, priority, payload
--          n alone, when the queue has n shards, which is another number

local function peek(keys, args)
  local base = keys[1]
  local actual = disagreement(base, args[1])
  if actual ~= AGREED then return { actual } end
  give_back_overdue(base)
  local seen = redis.call("ZRANGE", base .. ":waiting", 0, args[2] - 1, "WITHSCORES")
  local answers = { AGREED }
  for i = 1, #seen, 2 do
    answers[#answers + 1] = seen[i]
    answers[#answers + 1] = seen[i + 1]
    if args[3] == "1" then answers[#answers + 1] = redis.call("HGET", base .. ":payload", seen[i]) or "" end
  end
  return answers
end

register("peek", peek, { "allow-oom" })
