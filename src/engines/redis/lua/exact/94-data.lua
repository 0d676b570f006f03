-- Functions of exact lines only: turns and draws, and data that gateways share besides rooms (changes made at run time, and the
-- state of the key ring).

local data = {}

-- A field, its value as far as the caller knows, and its new value; "" for none. Returns 1, or 0 when the value has changed
-- meanwhile.
function data.swap(keys, args)
  local held = redis.call("HGET", keys[1], args[1]) or ""
  if held ~= args[2] then return { 0 } end
  if args[3] == "" then
    redis.call("HDEL", keys[1], args[1])
  else
    redis.call("HSET", keys[1], args[1], args[3])
  end
  return { 1 }
end

register_in_room("turn", turn.call, { "allow-oom" })
register("draw", office.draw, { "allow-oom" })
register("swap", data.swap, { "allow-oom" })
