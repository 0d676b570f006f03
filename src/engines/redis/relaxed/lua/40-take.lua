-- Takes items from the front, one after the other. Each may have a guard: if the first item is worse than that by now,
-- it is left, and nothing is taken for this one. Takers have peeked just before, so what is overdue is back.
--
-- KEYS[1]  the shard
-- ARGV[1]  token of this taking
-- ARGV[2]  after how many ms an item that was not committed goes back
-- ARGV     then of each item to take: priority and id of the guard; both empty when there is none
--
-- Output   of each: id, priority, payload; all empty when nothing was taken. An item without a payload, which somebody
--          else must have removed, is gone: id, priority, 0

local TAKE_WORDS = 2
local GONE = 0

-- By bytes, as sorted sets have it; `<` would ask the locale of the server.
local function is_later(id, other)
  for i = 1, math.min(#id, #other) do
    local a, b = string.byte(id, i), string.byte(other, i)
    if a ~= b then return a > b end
  end
  return #id > #other
end

local function is_worse(id, priority, guard_priority, guard_id)
  if guard_priority == "" then return false end
  local difference = tonumber(priority) - tonumber(guard_priority)
  if difference ~= 0 then return difference > 0 end
  return is_later(id, guard_id)
end

-- Takes the first item, and says what it is.
local function take_first(base, id, priority, holder)
  redis.call("ZREM", base .. ":waiting", id)
  local payload = redis.call("HGET", base .. ":payload", id)
  if not payload then return GONE end
  redis.call("ZADD", base .. ":taken", holder.due_at, id)
  redis.call("HSET", base .. ":held", id, holder.token .. " " .. priority)
  return payload
end

local function take(keys, args)
  local base = keys[1]
  local holder = { token = args[1], due_at = now_ms() + args[2] }
  local taken = {}
  for i = 3, #args, TAKE_WORDS do
    local first = redis.call("ZRANGE", base .. ":waiting", 0, 0, "WITHSCORES")
    local id, priority, payload = first[1] or "", first[2] or "", ""
    if id ~= "" and is_worse(id, priority, args[i], args[i + 1]) then id, priority = "", "" end
    if id ~= "" then payload = take_first(base, id, priority, holder) end
    local n = #taken
    taken[n + 1], taken[n + 2], taken[n + 3] = id, priority, payload
  end
  return taken
end

register("take", take, { "allow-oom" })
