-- A shop's ledger in Redis. One gateway owns it at a time: it has all records in memory, decides everything, and what it changes is
-- written here in one go, together with the number of the write. Whoever is not the owner any more writes nothing.
--
--   BASE:state     owner, seq (number of the last write), alarm, isFree (its owner gave it up)
--   BASE:live      the owner, for as long as a write keeps it from expiring
--   BASE:records   all records
--   BASE:refill    the same, while they are written anew: after a failover that lost writes

local function names(base)
  return base .. ":state", base .. ":live", base .. ":records", base .. ":refill"
end

local function register(name, callback)
  redis.register_function({ function_name = "VERSION_" .. name, callback = callback })
end

-- For the owner alone: its token is the first argument. Where there is no owner at all, Redis has lost everything, and `without` is
-- done if it is given: the owner comes back with what it has in memory.
local function register_for_owner(name, work, without)
  register(name, function(keys, args)
    local state, live, records, refill = names(keys[1])
    local key = { state = state, live = live, records = records, refill = refill }
    local owner = redis.call("HGET", state, "owner")
    if not owner and without then return without(args, key) end
    if owner ~= args[1] then return { "lost" } end
    return work(args, key)
  end)
end

-- Writes pairs of a key and its value, from this argument on; "" removes the record.
local function write(records, args, from)
  for i = from, #args, 2 do
    if args[i + 1] == "" then
      redis.call("HDEL", records, args[i])
    else
      redis.call("HSET", records, args[i], args[i + 1])
    end
  end
end

-- "" leaves the alarm, "-" takes it away.
local function set_alarm(state, alarm)
  if alarm == "-" then
    redis.call("HDEL", state, "alarm")
  elseif alarm ~= "" then
    redis.call("HSET", state, "alarm", alarm)
  end
end

-- Token, milliseconds, and "1" when an owner would have come back by now, if there is one: also without any records, since Redis may
-- have lost them.
register("take", function(keys, args)
  local state, live, records = names(keys[1])
  local owner = redis.call("GET", live)
  if owner and owner ~= args[1] then return { "held" } end
  if not owner and args[3] ~= "1" and redis.call("HGET", state, "isFree") ~= "1" then return { "held" } end
  redis.call("SET", live, args[1], "PX", args[2])
  redis.call("HSET", state, "owner", args[1], "isFree", "0")
  local seq, alarm = redis.call("HGET", state, "seq") or "0", redis.call("HGET", state, "alarm") or ""
  return { "taken", tonumber(seq), alarm, redis.call("HLEN", records) }
end)

-- Token, milliseconds, number of the write before, number of this write, alarm, records. With the same number twice it writes
-- nothing, and says that its owner is alive.
register_for_owner("commit", function(args, key)
  local seq = tonumber(redis.call("HGET", key.state, "seq") or "0")
  local before, after = tonumber(args[3]), tonumber(args[4])
  -- Sent twice, since its answer was not heard.
  local is_kept = seq == after and before ~= after
  if not is_kept and seq ~= before then return { "behind" } end
  redis.call("SET", key.live, args[1], "PX", args[2])
  if not is_kept and before ~= after then
    write(key.records, args, 6)
    set_alarm(key.state, args[5])
    redis.call("HSET", key.state, "seq", args[4])
  end
  return { "kept" }
end, function() return { "behind" } end)

-- Token, milliseconds: begins to write all records anew.
local function clear(args, key)
  redis.call("DEL", key.refill)
  redis.call("SET", key.live, args[1], "PX", args[2])
  redis.call("HSET", key.state, "owner", args[1], "isFree", "0")
  return { "kept" }
end
register_for_owner("clear", clear, clear)

-- Token, milliseconds, records.
register_for_owner("fill", function(args, key)
  redis.call("SET", key.live, args[1], "PX", args[2])
  write(key.refill, args, 3)
  return { "kept" }
end)

-- Token, milliseconds, number of the last write in them, alarm: they take the place of the others.
register_for_owner("swap", function(args, key)
  redis.call("SET", key.live, args[1], "PX", args[2])
  redis.call("DEL", key.records)
  if redis.call("EXISTS", key.refill) == 1 then redis.call("RENAME", key.refill, key.records) end
  set_alarm(key.state, args[4])
  redis.call("HSET", key.state, "seq", args[3])
  return { "kept" }
end)

-- Token: the next one need not wait.
register_for_owner("free", function(_, key)
  redis.call("DEL", key.live)
  redis.call("HSET", key.state, "isFree", "1")
  return { "kept" }
end)
