-- One shard of a relaxed queue: its keys, its time, and what several calls do.
--
-- All keys begin with the key that the call names, so they are in one hash slot:
--   :waiting  sorted  ids by priority, and where two are equal by id
--   :taken    sorted  ids of items in a consumer's hands, by when they go back (ms since 1970, this server's time)
--   :held     hash    of the same: token of the taking, a space, the priority
--   :payload  hash    payloads of all items, waiting and taken
--   :shards   text    how many shards the queue has, as the last to add said
--
--             add                take
--   (nothing) ───▶ :waiting ◀──────────▶ :taken ───▶ (nothing)
--                           abort, overdue     commit

-- How many overdue items go back in one call; the rest in the next ones.
local RETURNS_MAX = 100

local function register(name, callback, flags)
  redis.register_function({ function_name = "VERSION_" .. name, callback = callback, flags = flags or {} })
end

local function now_ms()
  local time = redis.call("TIME")
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The token and the priority of a taking; nothing when the item is not taken.
local function holding(base, id)
  local held = redis.call("HGET", base .. ":held", id)
  if not held then return nil end
  return string.match(held, "^(%S+) (%S+)$")
end

-- Puts a taken item back where it stood.
local function give_back(base, id, priority)
  redis.call("ZREM", base .. ":taken", id)
  redis.call("HDEL", base .. ":held", id)
  redis.call("ZADD", base .. ":waiting", priority, id)
end

-- Puts back what was not committed in time.
local function give_back_overdue(base)
  local overdue = redis.call("ZRANGE", base .. ":taken", "-inf", now_ms(), "BYSCORE", "LIMIT", 0, RETURNS_MAX)
  for _, id in ipairs(overdue) do
    local _, priority = holding(base, id)
    give_back(base, id, priority)
  end
end

local AGREED = 0

-- How many shards the queue has, if the caller has it wrong; else AGREED. A caller that knew fewer would never look into
-- some of them. A shard without items agrees with anyone, so an empty queue can get another number of them.
local function disagreement(base, shards)
  local kept = redis.call("GET", base .. ":shards")
  if not kept or kept == shards or redis.call("EXISTS", base .. ":payload") == 0 then return AGREED end
  return tonumber(kept)
end
