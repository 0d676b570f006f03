-- Puts items back where they stood, for anyone to take.
--
-- KEYS[1]  the shard
-- ARGV     of each item: id, token of the taking
--
-- Output   of each: 1 when it went back, 0 when it was not in this taking any more

local ABORT_WORDS = 2

local function abort(keys, args)
  local base = keys[1]
  local answers = {}
  for i = 1, #args, ABORT_WORDS do
    local token, priority = holding(base, args[i])
    local is_held = token == args[i + 1]
    if is_held then give_back(base, args[i], priority) end
    answers[#answers + 1] = is_held and 1 or 0
  end
  return answers
end

register("abort", abort, { "allow-oom" })
