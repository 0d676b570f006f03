-- Adds items, each once: an id that is here already, waiting or taken, stays as it is.
--
-- KEYS[1]  the shard
-- ARGV[1]  how many shards the queue has
-- ARGV     then of each item: id, priority, payload
--
-- Output   0, then of each item: 1 when it was added, 0 when it was here already
--          n alone, when the queue has n shards, which is another number

local ADD_WORDS = 3

local function add(keys, args)
  local base, shards = keys[1], args[1]
  local actual = disagreement(base, shards)
  if actual ~= AGREED then return { actual } end
  redis.call("SET", base .. ":shards", shards)
  local answers = { AGREED }
  for i = 2, #args, ADD_WORDS do
    local id, priority, payload = args[i], args[i + 1], args[i + 2]
    local is_new = redis.call("HSETNX", base .. ":payload", id, payload)
    if is_new == 1 then redis.call("ZADD", base .. ":waiting", priority, id) end
    answers[#answers + 1] = is_new
  end
  return answers
end

register("add", add)
