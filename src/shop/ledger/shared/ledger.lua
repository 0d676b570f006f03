-- A shop's ledger in Redis. One gateway owns it at a time: it has all records in memory, decides everything, and what it changes is
-- written here in one go, together with the number of the write. Whoever is not the owner any more writes nothing.
--
--   BASE:state     owner, seq (number of the last write), alarm, isFree (its owner gave it up), past (the owners before, and the
--                  numbers of their last writes, latest first), refill (which one is under way)
--   BASE:live      the owner, for as long as a write keeps it from expiring
--   BASE:records   all records
--   BASE:refill    the same, while they are written anew: after a failover that lost writes
--
-- Like those who are on the site, a sale goes on when Redis is out of memory; only writing everything anew does not.

-- About twenty owners.
local PAST_CHARACTERS = 1000

local function names(base)
  return base .. ":state", base .. ":live", base .. ":records", base .. ":refill"
end

local function register(name, callback, flags)
  redis.register_function({
    function_name = "VERSION_" .. name,
    callback = callback,
    flags = flags or { "allow-oom" },
  })
end

local function seq_of(state)
  return tonumber(redis.call("HGET", state, "seq") or "0")
end

-- For the owner alone: its token is the first argument. Where there is no owner at all, Redis has lost everything: the owner comes
-- back with what it has in memory.
local function register_for_owner(name, work, flags)
  register(name, function(keys, args)
    local state, live, records, refill = names(keys[1])
    local owner = redis.call("HGET", state, "owner")
    if not owner then return { "behind" } end
    if owner ~= args[1] then return { "lost", owner, seq_of(state) } end
    return work(args, { state = state, live = live, records = records, refill = refill })
  end, flags)
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

-- Token, milliseconds, and what may be taken: "all" when an owner would have come back by now, if there is one, also without any
-- records, since Redis may have lost them; "whatIsFree"; or "nothing".
register("take", function(keys, args)
  local state, live, records = names(keys[1])
  local owner = redis.call("GET", live)
  if owner and owner ~= args[1] then return { "held" } end
  if redis.call("EXISTS", state) == 0 then
    -- Whoever had them has as long to come back.
    redis.call("HSET", state, "seq", "0")
    redis.call("SET", live, "", "PX", args[2])
    return { "held" }
  end
  local is_free = args[3] == "whatIsFree" and redis.call("HGET", state, "isFree") == "1"
  if not owner and args[3] ~= "all" and not is_free then return { "held" } end
  local last, seq = redis.call("HGET", state, "owner"), seq_of(state)
  local past = redis.call("HGET", state, "past") or ""
  if last and last ~= args[1] then
    past = string.sub(last .. " " .. string.format("%d", seq) .. " " .. past, 1, PAST_CHARACTERS)
  end
  redis.call("SET", live, args[1], "PX", args[2])
  redis.call("HSET", state, "owner", args[1], "isFree", "0", "past", past)
  return { "taken", seq, redis.call("HGET", state, "alarm") or "", redis.call("HLEN", records), past }
end)

-- Token, milliseconds, number of the write before, number of this write, alarm, records. With the same number twice it writes
-- nothing, and says that its owner is alive.
register_for_owner("commit", function(args, key)
  local seq = seq_of(key.state)
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
end)

-- Token, milliseconds, number of the refill, an owner that Redis may have gone back to and the last of its writes that are in memory:
-- begins to write all records anew.
register("clear", function(keys, args)
  local state, live, _, refill = names(keys[1])
  local owner, seq = redis.call("HGET", state, "owner"), seq_of(state)
  local is_back = owner == args[4] and seq <= tonumber(args[5])
  if owner and owner ~= args[1] and not is_back then return { "lost", owner, seq } end
  redis.call("UNLINK", refill)
  redis.call("SET", live, args[1], "PX", args[2])
  redis.call("HSET", state, "owner", args[1], "isFree", "0", "refill", args[3])
  return { "kept" }
end)

-- Whether what was written anew so far is there. Redis may have lost a part of it again.
local function is_whole(key, refill, count)
  return redis.call("HGET", key.state, "refill") == refill and redis.call("HLEN", key.refill) == tonumber(count)
end

-- Token, milliseconds, number of the refill, how many records were written before these, records.
register_for_owner("fill", function(args, key)
  if not is_whole(key, args[3], args[4]) then return { "behind" } end
  redis.call("SET", key.live, args[1], "PX", args[2])
  write(key.refill, args, 5)
  return { "kept" }
end, {})

-- Token, milliseconds, number of the refill, how many records there are, number of the last write in them, alarm: they take the place
-- of the others.
register_for_owner("swap", function(args, key)
  if not is_whole(key, args[3], args[4]) then return { "behind" } end
  redis.call("SET", key.live, args[1], "PX", args[2])
  redis.call("UNLINK", key.records)
  if redis.call("EXISTS", key.refill) == 1 then redis.call("RENAME", key.refill, key.records) end
  set_alarm(key.state, args[6])
  redis.call("HSET", key.state, "seq", args[5])
  redis.call("HDEL", key.state, "refill")
  return { "kept" }
end)

-- Token: the next one need not wait.
register_for_owner("free", function(_, key)
  redis.call("DEL", key.live)
  redis.call("HSET", key.state, "isFree", "1")
  return { "kept" }
end)
