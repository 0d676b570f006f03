-- The functions that gateways call, for both kinds of lines. VERSION is filled in when the library is loaded.

local function register(name, callback, flags)
  redis.register_function({ function_name = "VERSION_" .. name, callback = callback, flags = flags or {} })
end

-- Registers a function that needs an open room: its first argument is the time or "".
local function register_in_room(name, work, flags)
  register(name, function(keys, args)
    local self = room.open(keys[1], args[1])
    if not self then return { "unknownRoom" } end
    return work(self, args)
  end, flags)
end

-- Joining needs memory that a full Redis does not have; all other calls go on, and most of them free some.
register_in_room("join", visit_call)
register_in_room("visit", visit_call, { "allow-oom" })
register_in_room("look", office.look, { "allow-oom" })
register_in_room("show", office.show, { "allow-oom" })
register("configure", office.configure, { "allow-oom" })
register("resign", turn.resign, { "allow-oom" })
register("note", office.note, { "allow-oom" })
register("report", office.report)
register("loads", office.loads, { "no-writes" })
register("sample", office.sample, { "no-writes" })
register("ended", office.ended, { "no-writes" })
