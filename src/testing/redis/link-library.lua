-- A small library for tests of the link.

-- KEYS[1] a list, ARGV[1] what is put at its end. Output: { length, ARGV[1] }.
local function add(keys, args)
  return { redis.call("RPUSH", keys[1], args[1]), args[1] }
end

-- Output: one of each sort of answer.
local function answers()
  return { 7, "text", false, { 1, { "deep" } } }
end

-- KEYS[1] a list. Output: all of it.
local function read(keys)
  return redis.call("LRANGE", keys[1], 0, -1)
end

-- Output: a number, which is not a list.
local function number()
  return 7
end

-- An error of the function's own.
local function fail()
  return redis.error_reply("ERR this function always fails")
end

-- Never ends by itself.
local function loop()
  while true do end
end

local function register(name, callback, flags)
  redis.register_function({ function_name = "VERSION_" .. name, callback = callback, flags = flags })
end

register("add", add, {})
register("answers", answers, { "no-writes" })
register("read", read, { "no-writes", "allow-oom" })
register("number", number, { "no-writes" })
register("fail", fail, { "no-writes" })
register("loop", loop, { "no-writes" })
