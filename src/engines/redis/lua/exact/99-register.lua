-- The functions by which gateways call. VERSION is put in when the library is loaded.

local function register(name, callback, flags)
  redis.register_function({ function_name = "VERSION_" .. name, callback = callback, flags = flags or {} })
end

-- Joining needs memory that a full Redis does not have; everything else goes on, and most of it frees some.
register("join", visit_call)
register("visit", visit_call, { "allow-oom" })
register("turn", turn.call, { "allow-oom" })
register("resign", turn.resign, { "allow-oom" })
register("configure", office.configure, { "allow-oom" })
register("look", office.look, { "allow-oom" })
register("show", office.show, { "allow-oom" })
register("note", office.note, { "allow-oom" })
register("report", office.report)
register("loads", office.loads, { "no-writes" })
register("draw", office.draw, { "allow-oom" })
register("ended", office.ended, { "no-writes" })
register("swap", data.swap, { "allow-oom" })
