-- Calls of gateways and operators that are not about a visitor: rules, figures, board and draws of a room.

local office = {}

local LOADS_MAX = 4000
local MARKS_MAX = 48
local EXACT_MARKS = 16
local FORMAT = "1"
-- Visits followed for the forecast of waits, and about how many of all that one call looks through for more.
local SAMPLE_MAX = 1000
local SCAN_COUNT = 1000

-- The time or "", orders as JSON, the key of its budget or "", and for how long people may have been told to stay away by
-- a room that Redis has lost. Opens a room or changes its rules; every place is kept.
function office.configure(keys, args)
  local prefix = keys[1]
  local state = prefix .. ":state"
  local format = redis.call("HGET", state, "format")
  if format and format ~= FORMAT then return { "format", format } end
  local version = redis.sha1hex(args[2])
  redis.call("SET", prefix .. ":orders", args[2])
  redis.call("HSET", state, "orders", version, "format", FORMAT)
  if redis.call("HEXISTS", state, "next") == 0 then
    local now = room.instant(args[1])
    local first = math.max(1, (math.floor(now) - SEQUENCE_EPOCH) * SEQUENCES_PER_MS)
    redis.call("HSET", state, "next", whole(first), "createdAt", whole(now), "run", who_runs(),
      "boardVersion", whole(first_version(now)))
    if tonumber(args[4]) > 0 then
      redis.call("HSET", state, "heldFrom", "0", "heldUntil", whole(now + tonumber(args[4]) + HOLD_SLACK_MS))
    end
  end
  local budget_key = redis.call("HGET", state, "budget")
  if budget_key and budget_key ~= args[3] then redis.call("SREM", budget_key, prefix) end
  redis.call("HSET", state, "budget", args[3])
  if args[3] ~= "" then redis.call("SADD", args[3], prefix) end
  local self = room.open(prefix, args[1])
  draws.announce_all(self)
  keeper.close(self)
  return { "ok" }
end

-- The ranks that get a mark in a line of `waiting`; see core/board.ts.
local function mark_ranks(waiting)
  local ranks = {}
  local exact = math.min(waiting, EXACT_MARKS)
  for rank = 0, exact - 1 do ranks[#ranks + 1] = rank end
  local last, steps = waiting - 1, MARKS_MAX - exact
  for step = 1, steps do
    if #ranks >= waiting then break end
    local rank = math.floor(exact * (last / exact) ^ (step / steps) + 0.5)
    if rank > ranks[#ranks] then ranks[#ranks + 1] = rank end
  end
  return ranks
end

local function lane_figures(self, lane, lane_state, has_marks)
  local figures = {
    lane = lane,
    waiting = room.waiting_in(self, lane),
    admitted = tonumber(lane_state["admitted:" .. lane] or 0),
    highest = lane_state["highest:" .. lane],
    marks = {},
  }
  if has_marks then
    for _, rank in ipairs(mark_ranks(figures.waiting)) do
      local _, _, sequence = line.at(self, lane, rank)
      figures.marks[#figures.marks + 1] = rank
      figures.marks[#figures.marks + 1] = text(sequence)
    end
  end
  return figures
end

local function pairs_to_table(list)
  local found = {}
  for i = 1, #list, 2 do found[list[i]] = list[i + 1] end
  return found
end

-- The time or "", "1" for marks, "1" for the latest admissions. Returns all figures of a room, as JSON.
function office.look(self, args)
  local prefix = self.prefix
  local lane_state = pairs_to_table(redis.call("HGETALL", prefix .. ":lanes"))
  local figures = {}
  for i, named in ipairs(self.rules.lanes.named) do
    figures[i] = lane_figures(self, named.number, lane_state, args[2] == "1")
  end
  figures[#figures + 1] = lane_figures(self, EVERYBODY, lane_state, args[2] == "1")
  local sums = room.pace_sums(self)
  draws.announce_all(self)
  local look = {
    now = self.now, waiting = self.waiting, admitted = self.admitted, onSite = self.on_site, lapsed = self.lapsed,
    looseTurns = redis.call("ZCARD", prefix .. ":turns") - redis.call("ZCARD", prefix .. ":firm"),
    share = self.share, isAwake = self.is_awake, memo = redis.call("HGET", prefix .. ":state", "memo") or nil,
    noShows = no_shows.share(room.no_shows(self)), lanes = figures,
    perMs = text(pace.per_ms(sums, self.rules)), waitAccuracy = redis.call("HGET", prefix .. ":state", "waitAccuracy") or nil,
    totals = pairs_to_table(redis.call("HGETALL", prefix .. ":totals")),
  }
  if #room.draws(self) > 0 then look.draws = self.drawn end
  if args[3] == "1" then look.recent = table.concat(redis.call("LRANGE", prefix .. ":recent", 0, -1), " ") end
  keeper.close(self)
  return { cjson.encode(look) }
end

-- The time or "", gateway, its token, the board as JSON, and what the gateway has learned of waits and how good they were,
-- each as JSON or "". Shows the board to everyone, if this gateway has the lease or can have it. Gives the token and the
-- board's version.
function office.show(self, args)
  local fence = turn.lease(self, args[2], tonumber(args[3]))
  room.close(self)
  if not fence then return { 0, 0 } end
  local version = redis.call("HINCRBY", self.prefix .. ":state", "boardVersion", 1)
  local board = "{\"version\":" .. whole(version) .. "," .. string.sub(args[4], 2)
  redis.call("SET", self.prefix .. ":board", board)
  if (args[5] or "") ~= "" then redis.call("HSET", self.prefix .. ":state", "waits", args[5], "waitAccuracy", args[6]) end
  redis.call("PUBLISH", self.prefix .. ":news", args[2] .. " board " .. board)
  return { fence, version }
end

-- "1" for what was learned of waits, then the ids of visits that a gateway follows. Gives that or "", until when the pass of
-- each visit lasts or 0 if it is over, and while few are followed some more visits: id, when its turn was given, until when
-- its pass lasts. A scan from the start finds the same part of the visits each time; a visit it no longer finds is not over.
function office.sample(keys, args)
  local prefix = keys[1]
  local reply = { args[1] == "1" and redis.call("HGET", prefix .. ":state", "waits") or "" }
  local count = math.min(#args - 1, SAMPLE_MAX)
  local function ends_of(ids)
    return redis.call("ZMSCORE", prefix .. ":visits:due", unpack(ids))
  end
  local is_followed = {}
  if count > 0 then
    local ids = { unpack(args, 2, count + 1) }
    local found = redis.call("HMGET", prefix .. ":visits", unpack(ids))
    local ends = ends_of(ids)
    for i, id in ipairs(ids) do
      is_followed[id] = true
      reply[i + 1] = found[i] and ends[i] and visits.pass_end(tonumber(ends[i])) or 0
    end
  end
  if count == SAMPLE_MAX then return reply end
  local scanned = redis.call("HSCAN", prefix .. ":visits", "0", "COUNT", SCAN_COUNT)[2]
  local ids, given_at = {}, {}
  for i = 1, #scanned, 2 do
    if count + #ids == SAMPLE_MAX then break end
    if not is_followed[scanned[i]] then
      is_followed[scanned[i]] = true
      ids[#ids + 1] = scanned[i]
      local _, _, _, admitted_at = struct.unpack(VISIT, scanned[i + 1])
      given_at[#ids] = admitted_at
    end
  end
  if #ids == 0 then return reply end
  for i, due in ipairs(ends_of(ids)) do
    if due then
      reply[#reply + 1] = ids[i]
      reply[#reply + 1] = given_at[i]
      reply[#reply + 1] = visits.pass_end(tonumber(due))
    end
  end
  return reply
end

-- Gateway, token, memo, remarks as JSON: what standby and the adaptive loop remember, and what they did.
function office.note(keys, args)
  if not turn.is_holder({ prefix = keys[1] }, args[1], tonumber(args[2])) then return { 0 } end
  redis.call("HSET", keys[1] .. ":state", "memo", args[3])
  if args[4] ~= "[]" then
    redis.call("PUBLISH", keys[1] .. ":news", args[1] .. " remarks " .. args[4])
  end
  return { 1 }
end

-- The time or "", and a gateway's report on the origin, as JSON.
function office.report(keys, args)
  local told = redis.call("INCR", keys[1] .. ":told")
  redis.call("RPUSH", keys[1] .. ":loads", whole(room.instant(args[1])) .. " " .. args[2])
  redis.call("LTRIM", keys[1] .. ":loads", -LOADS_MAX, -1)
  return { told }
end

-- How many reports were read before. Returns how many there were in all, and the new ones, each with its time.
function office.loads(keys, args)
  local told = tonumber(redis.call("GET", keys[1] .. ":told") or 0)
  local missing = told - tonumber(args[1])
  if missing <= 0 then return { told } end
  local loads = redis.call("LRANGE", keys[1] .. ":loads", -math.min(missing, LOADS_MAX), -1)
  return { told, unpack(loads) }
end

-- The time or "", gateway, token, the draw's number, what to do: "start", "apply" with moves, "finish" with the size.
function office.draw(keys, args)
  local self = room.open(keys[1], args[1])
  if not self or not turn.is_holder(self, args[2], tonumber(args[3])) then return { 0 } end
  local draw = draws.by_number(self, tonumber(args[4]))
  if not draw or draw.drawnAt then return { 0 } end
  if args[5] == "start" then
    draws.start(self, draw)
  elseif args[5] == "apply" then
    draws.apply(self, draw, { unpack(args, 6) })
  else
    draws.finish(self, draw, tonumber(args[6]))
    redis.call("PUBLISH", self.prefix .. ":news", args[2] .. " drawn " .. whole(draw.number))
  end
  keeper.close(self)
  return { 1, whole(draw.pool) }
end

-- Ids of visits that were ended, and until when that is remembered.
function office.ended(keys)
  return redis.call("ZRANGE", keys[1] .. ":ended", 0, -1, "WITHSCORES")
end
