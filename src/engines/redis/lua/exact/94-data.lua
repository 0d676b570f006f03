-- What only the library of exact lines has: its turns and draws, and what gateways keep together besides rooms (changes made
-- at run time, and how far the ring of keys was turned).

local data = {}

-- A field, what it holds as far as the caller knows, and what it shall hold; "" for nothing. Gives 1, or 0 when it holds
-- something else by now.
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
