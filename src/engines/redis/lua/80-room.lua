-- A room as one call sees it: read once, changed in memory, and written back at the end of the call.
--
-- All keys of a room begin with the key that the call names, so they are in one hash slot:
--   :state     hash    numbers of the room, its flow, lanes, pace and draws
--   :orders    text    the rules, phase by phase, as JSON; decoded once and remembered until they change
--   :line:L    sorted  those who wait in lane L, by sequence and then by id
--   :due       sorted  the same by when they lapse
--   :turns     sorted  those admitted and not yet in, by when the turn is missed; :firm those whose turn is firm, by when
--                      it goes loose
--   :returned  set     those in a line who came with a loose turn to a full site
--   :gap:N     text    numbers given out between N and the next whole one
--   :visits    hash    those on the site; :visits:due the same by when their slot is free again, and slots that are held for
--                      a while after their visit was ended
--   :places:B  hash    what has become of each ticket, by id, in buckets by when its holder joined
--   :buckets   sorted  the buckets by when their last ticket has run out
--   :ended     sorted  ids of visits that were ended, until their passes have run out
--   :resumes   sorted  ids of spent passes that began a visit again or tried to, until the next try counts
--   :invites   sorted  one-time codes that were used, until they would have run out
--   :flow      list    those who entered in the last minute
--   :pool:G    text    those who gathered for a draw
--   :loads     list    what gateways told of the origin
--
-- This and the following files make the exact line. The files in `relaxed/` replace some functions for a relaxed line.

local room = {}

local EVERYBODY = 0
local SEQUENCE_EPOCH = 1735689600000
local SEQUENCES_PER_MS = 1000
-- The clock of a new primary may be behind by this much; time then stands still until it has caught up.
local CLOCK_BACK_MAX_MS = 10000
local TOLD_PERIOD_MS = 10000
local HOLD_SLACK_MS = 2000
-- The door turns some times a second, so after this long a silence nobody could reach the room.
local SILENCE_MS = 2000
-- Visitors who came during the silence were told to come back within this time.
local AWAY_RETRY_MS = 10000
-- Boards are published no more often than this on average.
local BOARD_STEP_MS = 100

-- Identifies the Redis process; read once.
local run_id

local function who_runs()
  if not run_id then run_id = string.match(redis.call("INFO", "server"), "run_id:(%x+)") or "unknown" end
  return run_id
end

local function text(number)
  return string.format("%.17g", number)
end

local function whole(number)
  return string.format("%.0f", number)
end

-- A sequence as a text in an answer: Redis cuts off the fraction of a number.
local function sequence_word(sequence)
  return sequence % 1 == 0 and sequence or text(sequence)
end

-- Decoded orders by room.
local known_orders = {}

local STATE = {
  "orders", "run", "next", "lapsed", "lastTurn", "share", "active", "noShows", "lanesUsed", "paceSums",
  "flowEmpty", "flowCount", "flowBack", "flowBackAt", "loose", "hasSetBacks", "hasReturned", "draws", "pool", "seenAt",
  "told", "toldBefore", "toldAt", "heldFrom", "heldUntil", "pardonUntil", "createdAt", "boardVersion",
}

local function orders_of(prefix, version)
  local known = known_orders[prefix]
  if known and known.version == version then return known end
  local decoded = cjson.decode(redis.call("GET", prefix .. ":orders"))
  decoded.version = version
  decoded.lowered = {}
  known_orders[prefix] = decoded
  return decoded
end

-- The entries of the last minute, in a list: the queue that `flow` works on.
local flow_queue = {}
flow_queue.__index = flow_queue

local function parse_pair(pair)
  local at, count = string.match(pair, "^(%S+) (%S+)$")
  return tonumber(at), tonumber(count)
end

function flow_queue:first()
  if self.head == nil then
    local first = redis.call("LINDEX", self.key, 0)
    if not first then
      self.head = false
    else
      self.head = { parse_pair(first) }
    end
  end
  if self.head then return self.head[1], self.head[2] end
end

function flow_queue:drop_first()
  redis.call("LPOP", self.key)
  self.head = nil
  self.tail = nil
end

function flow_queue:read_tail()
  if self.tail == nil then
    local last = redis.call("LINDEX", self.key, -1)
    if not last then
      self.tail = false
    else
      self.tail = { parse_pair(last) }
    end
  end
  return self.tail
end

function flow_queue:last_at()
  local tail = self:read_tail()
  if tail then return tail[1] end
end

function flow_queue:add_to_last(count)
  local tail = self:read_tail()
  tail[2] = tail[2] + count
  self.head = nil
  redis.call("LSET", self.key, -1, text(tail[1]) .. " " .. whole(tail[2]))
end

function flow_queue:push(at, count)
  redis.call("RPUSH", self.key, text(at) .. " " .. whole(count))
  self.tail = { at, count }
  self.head = nil
end

local function open_flow(key, s)
  return {
    empty_at = tonumber(s.flowEmpty) or -math.huge,
    last_minute = tonumber(s.flowCount) or 0,
    back = tonumber(s.flowBack) or 0,
    back_at = tonumber(s.flowBackAt) or -math.huge,
    queue = setmetatable({ key = key }, flow_queue),
  }
end

-- The time of a call: Redis's own, unless the caller gave one.
function room.instant(given)
  if given ~= "" then return tonumber(given) end
  local time = redis.call("TIME")
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function decode_list(packed)
  local list = {}
  if packed then for part in string.gmatch(packed, "[^ ]+") do list[#list + 1] = tonumber(part) end end
  return list
end

-- Opens a room; nil when it was not configured here. `given`: the caller's time, if it has one; `is_handed`: that clock is moved
-- by hand, and may leap.
function room.open(prefix, given, is_handed)
  local values = redis.call("HMGET", prefix .. ":state", unpack(STATE))
  local s = {}
  for i, name in ipairs(STATE) do s[name] = values[i] or nil end
  if not s.orders then return nil end
  local now = room.instant(given)
  local seen_at = tonumber(s.seenAt) or 0
  if given == "" and now < seen_at and seen_at - now < CLOCK_BACK_MAX_MS then now = seen_at end
  local self = {
    prefix = prefix, now = now, state = s, changed = {}, totals = {}, orders = orders_of(prefix, s.orders),
    next = tonumber(s.next), lapsed = tonumber(s.lapsed) or 0, last_turn = tonumber(s.lastTurn) or 0,
    share = tonumber(s.share) or 1, is_awake = s.active == "1",
    flow = open_flow(prefix .. ":flow", s), loose = tonumber(s.loose) or 0,
    lanes_used = decode_list(s.lanesUsed), counts = {}, waiting = 0, keep_until = {}, turns_out = {}, ended = {},
    place_keys = {}, due_at = {}, told = tonumber(s.told) or 0, told_at = tonumber(s.toldAt) or 0,
  }
  for _, lane in ipairs(self.lanes_used) do
    local count = redis.call("ZCARD", prefix .. ":line:" .. lane)
    self.counts[lane] = count
    self.waiting = self.waiting + count
  end
  self.admitted = redis.call("ZCARD", prefix .. ":firm")
  self.on_site = redis.call("ZCARD", prefix .. ":visits:due")
  if seen_at < now then room.set(self, "seenAt", whole(now)) end
  room.follow(self)
  if s.run ~= who_runs() then room.wake(self) end
  if is_handed == nil then is_handed = given ~= "" end
  self.is_handed = is_handed
  if not is_handed and seen_at > 0 and now - seen_at > SILENCE_MS then room.pardon(self) end
  return self
end

function room.set(self, name, value)
  self.state[name] = value
  self.changed[name] = value
end

-- Readers keep the board with the highest version they have seen, so versions must rise through any loss.
local function first_version(now)
  return math.floor((now - SEQUENCE_EPOCH) / BOARD_STEP_MS)
end

-- Another process than before has the data, after a failover or a restart, and the last writes may be lost: their visitors have
-- sequences from here on. New sequences start well beyond those, and visitors with new ones are not admitted until the others
-- have had time to come back.
function room.wake(self)
  local told = math.max(tonumber(self.state.told) or 0, tonumber(self.state.toldBefore) or 0)
  if self.state.run and told > 0 then
    room.set(self, "heldFrom", whole(self.next))
    room.set(self, "heldUntil", whole(self.now + told + HOLD_SLACK_MS))
  end
  self.next = math.max(self.next, (math.floor(self.now) - SEQUENCE_EPOCH) * SEQUENCES_PER_MS)
  room.set(self, "boardVersion", whole(math.max(tonumber(self.state.boardVersion) or 0, first_version(self.now))))
  room.set(self, "run", who_runs())
end

-- Nobody could reach the room for a while, neither waiting visitors nor those on the site. Until all have had time to come back,
-- no place lapses, and no turn and no visit expires.
function room.pardon(self)
  local told = math.max(tonumber(self.state.told) or 0, tonumber(self.state.toldBefore) or 0)
  room.set(self, "pardonUntil", whole(self.now + math.max(told, AWAY_RETRY_MS) + HOLD_SLACK_MS))
end

function room.is_held(self, sequence)
  local until_at = tonumber(self.state.heldUntil)
  return until_at ~= nil and self.now < until_at and sequence >= tonumber(self.state.heldFrom)
end

-- Records the longest recent check-in interval, when it is longer than the recorded one.
function room.tell(self, next_check_in)
  if self.now - self.told_at >= TOLD_PERIOD_MS then
    room.set(self, "toldBefore", self.state.told or "0")
    room.set(self, "toldAt", whole(self.now))
    self.told_at = self.now
  elseif next_check_in <= self.told then
    return
  end
  room.set(self, "told", whole(next_check_in))
  self.told = next_check_in
end

-- Finds the present phase of the schedule, and the rules with the limits in force.
function room.follow(self)
  local orders = self.orders
  for _, phase in ipairs(orders.phases) do
    if not phase["until"] or self.now < phase["until"] then
      self.phase = phase
      break
    end
  end
  local index = self.phase.rules
  local rules = orders.rules[index]
  if self.share ~= 1 and rules.adaptive then
    local lowered = orders.lowered[index]
    if not lowered or lowered.share ~= self.share then
      local limited = {}
      for key, value in pairs(rules) do limited[key] = value end
      limited.totalActiveUsers, limited.newUsersPerMinute = door.limits(rules, self.share)
      lowered = { share = self.share, rules = limited }
      orders.lowered[index] = lowered
    end
    rules = lowered.rules
  end
  self.rules = rules
end

function room.count(self, total, by)
  self.totals[total] = (self.totals[total] or 0) + (by or 1)
end

-- The next sequence.
function room.coming_sequence(self)
  return self.next
end

-- The line's next number.
function room.next_sequence(self)
  local sequence = room.coming_sequence(self)
  self.next = sequence + 1
  return sequence
end

-- The lane of a number under the present rules.
function room.lane_of(self, lane)
  if lane == EVERYBODY then return EVERYBODY end
  return lanes.of(self.rules.lanes, lane)
end

-- How many wait in a lane under the present rules; lanes that these do not know belong to the default lane.
function room.waiting_in(self, lane)
  if #self.rules.lanes.named == 0 then return lane == EVERYBODY and self.waiting or 0 end
  local total = 0
  for _, used in ipairs(self.lanes_used) do
    if room.lane_of(self, used) == lane then total = total + self.counts[used] end
  end
  return total
end

function room.no_shows(self)
  if not self.learned then
    local numbers = decode_list(self.state.noShows)
    if #numbers == 9 then
      self.learned = { used_at = { unpack(numbers, 1, 8) }, missed = numbers[9] }
    else
      self.learned = no_shows.fresh()
    end
  end
  return self.learned
end

function room.keep_no_shows(self)
  local parts = {}
  for i = 1, 8 do parts[i] = text(self.learned.used_at[i]) end
  parts[9] = text(self.learned.missed)
  room.set(self, "noShows", table.concat(parts, " "))
end

function room.pace_sums(self)
  if not self.sums then
    local numbers = decode_list(self.state.paceSums)
    self.sums = { admitted = numbers[1] or 0, spent = numbers[2] or 0, bins = numbers[3] or 0, doubt = numbers[4] }
  end
  return self.sums
end

-- Draws, each { event, number, seed, seedHash, prequeueAt, startAt, drawnAt, keepUntil, pool, size }.
function room.draws(self)
  if not self.drawn then
    self.drawn = self.state.draws and cjson.decode(self.state.draws) or {}
  end
  return self.drawn
end

function room.keep_draws(self)
  room.set(self, "draws", #self.drawn == 0 and "[]" or cjson.encode(self.drawn))
end

-- Writes back the changes of the call.
function room.close(self)
  local function put(name, value)
    if self.state[name] ~= value then self.changed[name] = value end
  end
  put("next", whole(self.next))
  put("lapsed", whole(self.lapsed))
  put("lastTurn", whole(self.last_turn))
  put("flowEmpty", text(self.flow.empty_at))
  put("flowCount", whole(self.flow.last_minute))
  if self.flow.back_at > -math.huge then
    put("flowBack", whole(self.flow.back))
    put("flowBackAt", text(self.flow.back_at))
  end
  if self.loose > 0 then put("loose", text(self.loose)) end
  local fields = {}
  for name, value in pairs(self.changed) do
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  if #fields > 0 then redis.call("HSET", self.prefix .. ":state", unpack(fields)) end
  for total, by in pairs(self.totals) do
    redis.call("HINCRBYFLOAT", self.prefix .. ":totals", total, text(by))
  end
  for bucket, keep_until in pairs(self.keep_until) do
    redis.call("ZADD", self.prefix .. ":buckets", "GT", whole(keep_until), bucket)
  end
  local due = {}
  for member, deadline in pairs(self.due_at) do
    due[#due + 1] = deadline
    due[#due + 1] = member
  end
  if #due > 0 then redis.call("ZADD", self.prefix .. ":due", unpack(due)) end
end
