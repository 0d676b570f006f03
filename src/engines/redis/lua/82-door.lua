-- The doorkeeper's questions about a room, answered from its state.

local keeper = {}

local TURNS_REMEMBERED_MAX = 1000

function keeper.is_lane_served(self, lane)
  local rules = self.rules
  if not rules.privilegedOnly then return true end
  local known = lanes.of(rules.lanes, lane)
  for _, named in ipairs(rules.lanes.named) do
    if named.number == known and named.isPrivileged then return true end
  end
  return false
end

-- How many of the waiting visitors may be admitted.
local function served_waiting(self)
  local rules = self.rules
  if not rules.privilegedOnly then return self.waiting end
  local waiting = 0
  for _, named in ipairs(rules.lanes.named) do
    if named.isPrivileged then waiting = waiting + room.waiting_in(self, named.number) end
  end
  return waiting
end

-- How much of a turn's claim window is over, 0 to 1. Those `admitted` have a firm turn.
local function turn_age(self, claim_by)
  return 1 - (claim_by - self.now) / self.rules.claimWindowMs
end

local function turn_ages(self)
  local ages = {}
  for i, member in ipairs(redis.call("ZRANGE", self.prefix .. ":firm", 0, -1)) do
    ages[i] = turn_age(self, tonumber(redis.call("ZSCORE", self.prefix .. ":turns", member)))
  end
  return ages
end

local function at_the_door(self, budget_free)
  local learned = room.no_shows(self)
  local rules = self.rules
  return {
    waiting = served_waiting(self),
    admitted = self.admitted,
    on_site = self.on_site,
    is_prequeue = self.phase.isPrequeue,
    is_active = not rules.standby or self.is_awake,
    budget_free = budget_free,
    no_shows = no_shows.share(learned),
    expected = rules.fillNoShows and no_shows.expected(learned, turn_ages(self)) or self.admitted,
  }
end

-- Slots that the other rooms of its budget leave to this one.
function keeper.budget_free(self)
  local shared = self.orders.budget
  if not shared then return math.huge end
  local rooms, index = {}, nil
  for _, prefix in ipairs(redis.call("SMEMBERS", shared.key)) do
    local other = prefix == self.prefix and self or room.open(prefix, whole(self.now), self.is_handed)
    if other and other.orders.budget and other.orders.budget.key == shared.key then
      local wanted = shared.totalActiveUsers
      if other ~= self then
        wanted = door.open(other.rules, at_the_door(other, math.huge), other.flow, other.now)
      end
      rooms[#rooms + 1] = {
        used = other.admitted + other.on_site,
        wanted = wanted,
        guaranteed = other.orders.budget.guaranteed,
        last_turn_at = other.last_turn,
        prefix = prefix,
      }
      -- The flow may have dropped entries that are over a minute old.
      if other ~= self then room.close(other) end
    end
  end
  table.sort(rooms, function(a, b) return a.prefix < b.prefix end)
  for i, known in ipairs(rooms) do if known.prefix == self.prefix then index = i end end
  return budget.free(shared.totalActiveUsers, rooms, index)
end

-- What a newcomer gets: straight through, a place, or a reason for neither.
function keeper.greet(self, lane)
  local rules = self.rules
  if not keeper.is_lane_served(self, lane) then return rules.closed and "closed" or "notPrivileged" end
  if served_waiting(self) == 0 then
    local at = at_the_door(self, keeper.budget_free(self))
    if door.is_open(rules, at, self.flow, self.now) and door.may_use_turn(rules, at, self.flow, self.now) then
      return "through"
    end
  end
  return door.why_no_place(rules, self.phase.isPrequeue) or "place"
end

-- True when an ended visit may begin again.
function keeper.may_resume(self)
  return door.is_slot_free(self.rules, at_the_door(self, keeper.budget_free(self)))
end

function keeper.open(self)
  return door.open(self.rules, at_the_door(self, keeper.budget_free(self)), self.flow, self.now)
end

function keeper.took(self, count)
  if count == 0 then return end
  local rate = door.rate_of_turns(self.rules, no_shows.share(room.no_shows(self)))
  flow.give_turns(self.flow, rate, count, self.now)
end

-- Until when a turn given now is firm. In random order nobody goes back to the front, so a place whose turns are always loose
-- might never get in.
function keeper.firm_until(self, has_returned, has_missed)
  local is_loose = has_missed and self.rules.queueingMethod ~= "random"
  return pacing.whole_tenth(self.now + firm_turns.firm_ms(self.loose, self.rules, has_returned, is_loose))
end

-- Make a turn firm, and loose again. The second returns whether it was firm.
function keeper.make_firm(self, member, until_at)
  if redis.call("ZADD", self.prefix .. ":firm", until_at, member) == 1 then self.admitted = self.admitted + 1 end
end

function keeper.unmake_firm(self, member)
  local was_firm = redis.call("ZREM", self.prefix .. ":firm", member) == 1
  if was_firm then self.admitted = self.admitted - 1 end
  return was_firm
end

-- A firm turn ends: it was firm for long enough ("loose"), or its holder left.
function keeper.gave_back(self, why)
  flow.give_turns_back(self.flow, 1, self.now)
  if why == "loose" then self.loose = firm_turns.loosened(self.loose) end
end

-- True when a visitor with a turn may enter now.
function keeper.may_enter(self, is_firm)
  local at = at_the_door(self, is_firm and math.huge or keeper.budget_free(self))
  if not is_firm and not door.is_room_for_one(self.rules, at, self.flow, self.now) then return false end
  return door.may_use_turn(self.rules, at, self.flow, self.now)
end

-- A visitor entered: with a turn that would have been missed at `claim_by`, or straight through (nil).
function keeper.entered(self, claim_by)
  flow.enter(self.flow, 1, self.now)
  if claim_by then
    no_shows.used(room.no_shows(self), turn_age(self, claim_by))
    room.keep_no_shows(self)
    self.loose = firm_turns.used(self.loose)
  end
end

function keeper.missed(self)
  no_shows.missed(room.no_shows(self))
  room.keep_no_shows(self)
end

-- A visitor got a turn, or went straight through: lane and sequence are the present ones.
function keeper.note_admitted(self, lane, sequence)
  self.last_turn = self.now
  room.count(self, "admitted")
  keeper.count_in(self, lane, sequence)
end

-- How many turns were given in a lane.
function keeper.let_in(self, lane)
  local kept = self.let_in_before or {}
  self.let_in_before = kept
  if not kept[lane] then
    kept[lane] = tonumber(redis.call("HGET", self.prefix .. ":lanes", "admitted:" .. lane) or 0)
  end
  local since = self.in_lane and self.in_lane[lane]
  return kept[lane] + (since and since.count or 0)
end

function keeper.count_in(self, lane, sequence)
  local in_lane = self.in_lane or {}
  self.in_lane = in_lane
  local known = in_lane[lane] or { count = 0, highest = 0 }
  in_lane[lane] = known
  known.count = known.count + 1
  if sequence > known.highest then known.highest = sequence end
end

-- The latest admissions, from which the room's fairness is computed.
function keeper.remember(self, sequence)
  local recent = self.recent or {}
  self.recent = recent
  recent[#recent + 1] = text(sequence) .. " " .. whole(self.now)
end

-- Writes back the room, and the recorded admissions.
function keeper.close(self)
  local prefix = self.prefix
  for lane, known in pairs(self.in_lane or {}) do
    redis.call("HINCRBY", prefix .. ":lanes", "admitted:" .. lane, known.count)
    local highest = tonumber(redis.call("HGET", prefix .. ":lanes", "highest:" .. lane) or 0)
    if known.highest > highest then
      redis.call("HSET", prefix .. ":lanes", "highest:" .. lane, text(known.highest))
    end
  end
  if self.recent then
    redis.call("RPUSH", prefix .. ":recent", unpack(self.recent))
    redis.call("LTRIM", prefix .. ":recent", -TURNS_REMEMBERED_MAX, -1)
  end
  room.close(self)
end
