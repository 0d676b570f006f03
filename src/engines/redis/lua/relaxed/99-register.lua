-- The functions by which gateways call. VERSION is put in when the library is loaded.

local function register(name, callback, flags)
  redis.register_function({ function_name = "VERSION_" .. name, callback = callback, flags = flags or {} })
end

-- The same names as those of an exact line, where both have them. A relaxed line has no draws.
register("join", visit_call)
register("visit", visit_call, { "allow-oom" })
register("resign", turn.resign, { "allow-oom" })
register("configure", office.configure, { "allow-oom" })
register("look", office.look, { "allow-oom" })
register("show", office.show, { "allow-oom" })
register("note", office.note, { "allow-oom" })
register("report", office.report)
register("loads", office.loads, { "no-writes" })
register("ended", office.ended, { "no-writes" })
register("sweep", shards.sweep, { "allow-oom" })
register("peek", shards.peek, { "no-writes" })
register("take", shards.take, { "allow-oom" })
register("reserve", shards.reserve, { "allow-oom" })
register("confirm", shards.confirm, { "allow-oom" })
