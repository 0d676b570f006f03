-- Ends items for good: their work is done. What is overdue can be committed while nobody else was given it.
--
-- KEYS[1]  the shard
-- ARGV     of each item: id, token of the taking
--
-- Output   of each: 1 when it was committed, 2 when it is not here any more, 0 when it is here but not in this taking

local COMMIT_WORDS = 2
local NOT_YOURS, COMMITTED, NOT_HERE = 0, 1, 2

local function commit_one(base, id, token)
  if holding(base, id) == token then
    redis.call("ZREM", base .. ":taken", id)
    redis.call("HDEL", base .. ":held", id)
    redis.call("HDEL", base .. ":payload", id)
    return COMMITTED
  end
  return redis.call("HEXISTS", base .. ":payload", id) == 1 and NOT_YOURS or NOT_HERE
end

local function commit(keys, args)
  local answers = {}
  for i = 1, #args, COMMIT_WORDS do
    answers[#answers + 1] = commit_one(keys[1], args[i], args[i + 1])
  end
  return answers
end

register("commit", commit, { "allow-oom" })
