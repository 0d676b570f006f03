-- A relaxed line: shards, each with keys of its own in a hash slot of its own (state, orders, line, due, turns, places), and the
-- main part, which has no line and instead knows how many wait in all shards. The orders of the main part have `isMain`; those
-- of a shard have the number of shards in `shards`.
--
-- This file comes after those of the exact line and replaces what differs; the next file describes how the parts work together.

local HAS_RETURNED = 6

STATE[#STATE + 1], STATE[#STATE + 2], STATE[#STATE + 3] = "shardWaiting", "reserved", "total"

local open_room = room.open

function room.open(prefix, given, is_handed)
  local self = open_room(prefix, given, is_handed)
  if self and self.orders.isMain then
    self.waiting = tonumber(self.state.shardWaiting) or 0
    self.reserved = tonumber(self.state.reserved) or 0
    self.admitted = self.admitted + self.reserved
  end
  return self
end

-- The parts of a line have no common numbering, only the time.
function room.coming_sequence(self)
  return math.max(self.next, (math.floor(self.now) - SEQUENCE_EPOCH) * SEQUENCES_PER_MS)
end

local greet = keeper.greet

-- Only the main part lets visitors go straight through.
function keeper.greet(self, lane)
  if self.orders.isMain then return greet(self, lane) end
  return door.why_no_place(self.rules, self.phase.isPrequeue) or "place"
end

-- The other shards have about as many each.
function visitors.in_whole_line(self, ahead)
  return ahead * (self.orders.shards or 1), math.max(self.waiting, tonumber(self.state.total) or 0)
end

-- Sequences of the main part do not compare with those of shards.
function visitors.remember_through() end

local take_place = visitors.take_place

function visitors.take_place(self, answers, newcomer)
  if not self.orders.isMain then return take_place(self, answers, newcomer) end
  -- The place is in a shard; until it is counted, newcomers must not pass it.
  self.waiting = self.waiting + 1
  room.set(self, "shardWaiting", whole(self.waiting))
  answer(answers, NOTHING)
end

local take_back = visitors.take_back

function visitors.take_back(self, answers, ticket)
  if not self.orders.isMain then return take_back(self, answers, ticket) end
  -- Only their shard knows the place.
  answer(answers, NOTHING)
end

local return_to_line = visitors.return_to_line

function visitors.return_to_line(self, answers, place, dice, is_front)
  if not self.orders.isMain then return return_to_line(self, answers, place, dice, is_front) end
  -- The place is in a shard; the gateway informs it.
  redis.call("ZREM", self.prefix .. ":turns", member_of(place.id, place.joined_at))
  places.drop(self, place.id, place.joined_at)
  answer(answers, HAS_RETURNED)
end

local leave_place = visitors.leave_place

function visitors.leave_place(self, answers, ticket)
  local is_known = not self.orders.isMain or places.get(self, ticket.id, ticket.joined_at) ~= nil
  if not is_known then return answer(answers, NOTHING) end
  leave_place(self, answers, ticket)
end

-- Both parts are told, and one of them counts.
function visitors.note_left(self)
  if self.orders.shards then room.count(self, "left") end
end

-- Of a shard: the main part says that the holder of a turn is on the site, so their place is over.
function visitors.commit(self, answers, ticket)
  local place = places.get(self, ticket.id, ticket.joined_at) or {
    id = ticket.id, joined_at = ticket.joined_at, state = GONE, late = 0, lane = ticket.lane,
    sequence = ticket.sequence, draw = 0, pool = 0, given_at = self.now,
  }
  visitors.give_up(self, place)
  places.set_state(self, place, ON_SITE)
  places.keep(self, place.joined_at, self.now + self.rules.ticketTtlMs)
  answer(answers, NOTHING)
end

-- Of a shard: the main part does not know of the turn, so it is void and its holder waits on where they stood.
-- `has_returned`: the turn was loose when they came, and there was no room.
function visitors.abort(self, answers, ticket, has_returned)
  local place = places.get(self, ticket.id, ticket.joined_at)
  if place and place.state == ADMITTED then
    visitors.give_up(self, place)
    if has_returned then place.returned = 1 end
    places.set_state(self, place, WAITING)
    line.add(self, place)
    return go_on_waiting(self, answers, place, ticket.dice)
  end
  answer(answers, NOTHING)
end

DOINGS.k = { 9, function(self, answers, args, i) visitors.commit(self, answers, ticket_at(args, i)) end }
DOINGS.a = { 9, function(self, answers, args, i) visitors.abort(self, answers, ticket_at(args, i), false) end }
DOINGS.b = { 9, function(self, answers, args, i) visitors.abort(self, answers, ticket_at(args, i), true) end }

local note_missed = turn.note_missed

-- The main part counts it; the place is in a shard.
function turn.note_missed(self, id, joined_at)
  if self.orders.shards then return places.get(self, id, joined_at) end
  note_missed(self, id, joined_at)
  places.drop(self, id, joined_at)
end
