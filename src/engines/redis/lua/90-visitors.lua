-- A room's answers to visitors: to those who join, check in, enter with their turn, are seen on the site, or leave.
-- One call answers many visitors. Each answer is six values; the first is its kind. For visitors who wait or have a turn,
-- the last is their standing (0, GATHERED or IN_HAND). After a missed turn it is a text instead: the standing, how many turns
-- were missed, and when the latest of them was given.

local visitors = {}

local NOTHING, IS_WAITING, HAS_ENTERED, IS_ADMITTED, HAS_EXPIRED, IS_REFUSED = 0, 1, 2, 3, 4, 5
local GATHERED, IN_HAND = 1, 2
local VISIT = ">dHdd"

local function answer(answers, kind, a, b, c, d, e)
  local n = #answers
  answers[n + 1] = kind
  answers[n + 2] = a or 0
  answers[n + 3] = b or 0
  answers[n + 4] = c or 0
  answers[n + 5] = d or 0
  answers[n + 6] = e or 0
end

-- A place's standing, with its missed turns.
local function standing_word(place, standing)
  if (place.missed or 0) == 0 then return standing end
  return whole(standing) .. " " .. whole(place.missed) .. " " .. whole(place.missed_at)
end

local function refuse(answers, reason)
  answer(answers, IS_REFUSED, reason)
end

-- How many are expected to be admitted before a place with `ahead` before it in its lane.
local function expected_ahead(self, lane, ahead)
  local rules = self.rules
  if #rules.lanes.named == 0 then return ahead end
  return lanes.ahead(rules.lanes, self.waiting_in, lane, ahead)
end

-- How many are before a place, and how many wait, in the whole line.
function visitors.in_whole_line(self, ahead)
  return ahead, self.waiting
end

-- A waiting visitor checked in: sets the new deadline and the next check-in. `ahead`: in their lane, if known.
local function go_on_waiting(self, answers, place, dice, ahead)
  local rules = self.rules
  local lane = room.lane_of(self, place.lane)
  local actual
  if rules.queueingMethod == "random" then
    actual = math.floor(self.waiting / 2)
  else
    actual = expected_ahead(self, lane, ahead or line.ahead(self, lane, place))
  end
  local standing = self.standing
  actual, standing.waiting = visitors.in_whole_line(self, actual)
  if not rules.isWaitHidden then
    local sums = room.pace_sums(self)
    standing.wait_low = pace.wait_low(sums, rules, actual)
    standing.reach = pace.reach(sums, rules, actual)
  end
  local next_check_in
  if self.phase.isPrequeue then
    next_check_in = pacing.opening_check_in(standing, self.phase.opensAt - self.now, dice)
  else
    next_check_in = pacing.next_check_in(standing, dice)
  end
  if place.returned == 1 then next_check_in = pacing.with_turn(next_check_in) end
  local deadline = pacing.lapse_deadline(self.now, next_check_in, rules.lapseAfterMs)
  line.expect(self, place, deadline)
  places.keep(self, place.joined_at, self.now + rules.ticketTtlMs)
  room.tell(self, next_check_in)
  local standing = standing_word(place, draws.is_gathered(self, place) and GATHERED or 0)
  answer(answers, IS_WAITING, sequence_word(place.sequence), place.draw, actual, next_check_in, standing)
end

local function start_visit(self, answers, visit, visit_ms)
  local expires_at = self.now + (visit_ms or self.rules.sessionDurationMs)
  local packed = struct.pack(VISIT, visit.sequence, visit.lane, visit.joined_at, visit.admitted_at)
  redis.call("HSET", self.prefix .. ":visits", visit.id, packed)
  redis.call("ZADD", self.prefix .. ":visits:due", visits.held_until(expires_at), visit.id)
  self.on_site = self.on_site + 1
  room.count(self, "entered")
  answer(answers, HAS_ENTERED, visit.joined_at, visit.admitted_at, self.now, expires_at, visit.lane)
end

local function is_held_back(self, sequence)
  return room.is_held(self, sequence) or draws.due(self) ~= nil
end

-- A visitor went straight through: an admission that counts for fairness.
function visitors.remember_through(self, sequence)
  keeper.remember(self, sequence)
end

local function go_straight_through(self, answers, arrival)
  keeper.took(self, 1)
  room.count(self, "straightThrough")
  keeper.note_admitted(self, arrival.lane, arrival.sequence)
  visitors.remember_through(self, arrival.sequence)
  keeper.entered(self, nil)
  start_visit(self, answers, {
    id = arrival.id, sequence = -1, lane = arrival.lane, joined_at = self.now, admitted_at = self.now,
  }, arrival.visit_ms)
end

-- The newcomer's sequence, once it is certain that they get a place or go through.
local function take_number(self, newcomer)
  local sequence = room.next_sequence(self)
  room.count(self, "joined")
  if newcomer.invite ~= "" then
    redis.call("ZADD", self.prefix .. ":invites", newcomer.invite_expires_at, newcomer.invite)
  end
  return sequence
end

-- A place at the end of the line.
function visitors.take_place(self, answers, newcomer)
  local place = {
    id = newcomer.id, joined_at = self.now, state = WAITING, late = 0, lane = newcomer.lane,
    sequence = take_number(self, newcomer), draw = 0, pool = 0, given_at = 0,
  }
  draws.gather(self, place)
  places.put(self, place)
  local ahead = room.waiting_in(self, room.lane_of(self, place.lane))
  line.add(self, place)
  go_on_waiting(self, answers, place, newcomer.dice, ahead)
end

-- id, lane, invite or "", its expiry, "1" if they can wait, dice, how long a visit lasts at first
function visitors.join(self, answers, id, lane, invite, invite_expires_at, can_wait, dice, visit_ms)
  if invite ~= "" and redis.call("ZSCORE", self.prefix .. ":invites", invite) then
    return refuse(answers, "inviteUsed")
  end
  local own = room.lane_of(self, lane)
  local welcome = keeper.greet(self, lane)
  if welcome ~= "through" and welcome ~= "place" then return refuse(answers, welcome) end
  local is_through = welcome == "through" and not is_held_back(self, room.coming_sequence(self))
  if not is_through and can_wait == "" then return refuse(answers, "mustWait") end
  local newcomer = { id = id, lane = own, invite = invite, invite_expires_at = invite_expires_at, dice = dice }
  if not is_through then return visitors.take_place(self, answers, newcomer) end
  local sequence = take_number(self, newcomer)
  go_straight_through(self, answers, { id = id, sequence = sequence, lane = own, visit_ms = visit_ms })
end

-- True when an ordinary newcomer would go straight through.
function visitors.has_room(self, answers)
  local is_through = keeper.greet(self, EVERYBODY) == "through" and not is_held_back(self, room.coming_sequence(self))
  answer(answers, is_through and HAS_ENTERED or NOTHING)
end

-- Takes back the place of a valid ticket that is unknown because data was lost. Its sequence must not be given out again; a
-- ticket from before a draw has lost its place in it.
function visitors.take_back(self, answers, ticket)
  local sequence, draw = ticket.sequence, ticket.draw
  local missed = draw == 0 and ticket.missed == 0 and draws.missed(self, ticket.joined_at)
  if missed then
    sequence, draw = room.next_sequence(self), missed.number
  else
    self.next = math.max(self.next, math.floor(sequence) + 1)
  end
  room.count(self, "returned")
  local place = {
    id = ticket.id, joined_at = ticket.joined_at, state = WAITING, late = 0, lane = ticket.lane, sequence = sequence,
    draw = draw, pool = 0, given_at = 0, missed = ticket.missed, missed_at = ticket.missed_at,
  }
  if place.missed == 0 then
    draws.gather(self, place)
  elseif not self.state.hasSetBacks then
    room.set(self, "hasSetBacks", "1")
  end
  places.put(self, place)
  line.add(self, place)
  go_on_waiting(self, answers, place, ticket.dice)
end

-- A ticket knows of missed turns that nobody knows of here: they were lost. The place goes where the ticket says.
local function learn_set_back(self, place, ticket)
  if place.state == WAITING then line.remove(self, place) end
  place.sequence, place.missed, place.missed_at = ticket.sequence, ticket.missed, ticket.missed_at
  if place.state == WAITING then line.add(self, place) end
  places.put(self, place)
  if not self.state.hasSetBacks then room.set(self, "hasSetBacks", "1") end
end

local function claim_by(self, place)
  return tonumber(redis.call("ZSCORE", self.prefix .. ":turns", member_of(place.id, place.joined_at))) or self.now
end

-- The ticket was used already: its holder missed the answer, or shows it twice. One visit either way.
local function still_on_site(self, answers, id)
  local packed = redis.call("HGET", self.prefix .. ":visits", id)
  if not packed then return refuse(answers, "ticketSpent") end
  local _, lane, joined_at, admitted_at = struct.unpack(VISIT, packed)
  local expires_at = visits.pass_end(tonumber(redis.call("ZSCORE", self.prefix .. ":visits:due", id)))
  local created_at = expires_at - self.rules.sessionDurationMs
  answer(answers, HAS_ENTERED, joined_at, admitted_at, created_at, expires_at, lane)
end

-- Answers a visitor who stands in a line from the ticket alone: where there is no draw it says everything, and the place
-- takes longer to read. Nearly all check-ins are such. False when the place has to be looked at.
local function stands_in_line(self, answers, ticket)
  if #room.draws(self) > 0 then return false end
  local rank = line.rank(self, ticket)
  if not rank then return false end
  local member = member_of(ticket.id, ticket.joined_at)
  if self.state.hasSetBacks or ticket.missed > 0 then
    local sequence = tonumber(redis.call("ZSCORE", line_key(self, ticket.lane), member))
    if sequence ~= ticket.sequence then return false end
  end
  if self.state.hasReturned == "1" then
    ticket.returned = redis.call("SISMEMBER", self.prefix .. ":returned", member)
  end
  ticket.pool = 0
  go_on_waiting(self, answers, ticket, ticket.dice, line.ahead(self, room.lane_of(self, ticket.lane), ticket, rank))
  return true
end

-- A ticket is shown: to enter with its turn, or to check in.
function visitors.show(self, answers, ticket, is_entering)
  if ticket.expires_at <= self.now then return answer(answers, HAS_EXPIRED) end
  if stands_in_line(self, answers, ticket) then return end
  local place = places.get(self, ticket.id, ticket.joined_at)
  if not place then
    visitors.take_back(self, answers, ticket)
  elseif ticket.missed > place.missed and (place.state <= ADMITTED) then
    learn_set_back(self, place, ticket)
    return visitors.show(self, answers, ticket, is_entering)
  elseif place.state == WAITING then
    go_on_waiting(self, answers, place, ticket.dice)
  elseif place.state == LAPSED then
    self.lapsed = self.lapsed - 1
    room.count(self, "returned")
    places.set_state(self, place, WAITING)
    line.add(self, place)
    go_on_waiting(self, answers, place, ticket.dice)
  elseif place.state == ADMITTED and is_entering then
    visitors.use_turn(self, answers, place, ticket.dice)
  elseif place.state == ADMITTED then
    local standing = standing_word(place, 0)
    answer(answers, IS_ADMITTED, sequence_word(place.sequence), place.draw, claim_by(self, place), 0, standing)
  elseif place.state == ON_SITE then
    still_on_site(self, answers, ticket.id)
  elseif place.state == FORFEITED then
    refuse(answers, "turnsMissed")
  else
    refuse(answers, "ticketSpent")
  end
end

local function wait_with_turn(answers, place)
  local standing = standing_word(place, IN_HAND)
  answer(answers, IS_WAITING, sequence_word(place.sequence), place.draw, 0, pacing.with_turn(math.huge), standing)
end

-- Back into the line with a turn that is loose. `is_front`: the next turn is theirs, so this is for once.
function visitors.return_to_line(self, answers, place, dice, is_front)
  redis.call("ZREM", self.prefix .. ":turns", member_of(place.id, place.joined_at))
  if is_front then place.returned = 1 end
  places.set_state(self, place, WAITING)
  line.add(self, place)
  go_on_waiting(self, answers, place, dice)
end

-- Someone came with a turn and there is no room. A firm turn is kept and lengthened.
local function find_no_room(self, answers, place, member, dice)
  if redis.call("ZSCORE", self.prefix .. ":firm", member) then
    redis.call("ZADD", self.prefix .. ":turns", pacing.whole_tenth(self.now + self.rules.claimWindowMs), member)
    keeper.make_firm(self, member, keeper.firm_until(self, true, false))
    return wait_with_turn(answers, place)
  end
  local is_front = self.rules.queueingMethod ~= "random"
  if is_front and place.returned == 1 then return wait_with_turn(answers, place) end
  visitors.return_to_line(self, answers, place, dice, is_front)
end

function visitors.use_turn(self, answers, place, dice)
  local member = member_of(place.id, place.joined_at)
  local is_firm = redis.call("ZSCORE", self.prefix .. ":firm", member) and true or false
  if not keeper.may_enter(self, is_firm) then return find_no_room(self, answers, place, member, dice) end
  room.count(self, "waitedMs", self.now - place.joined_at)
  -- A loose turn gave its share of the rate back, and takes one anew.
  if not is_firm then keeper.took(self, 1) end
  keeper.entered(self, claim_by(self, place))
  redis.call("ZREM", self.prefix .. ":turns", member)
  keeper.unmake_firm(self, member)
  places.set_state(self, place, ON_SITE)
  places.keep(self, place.joined_at, self.now + self.rules.ticketTtlMs)
  start_visit(self, answers, {
    id = place.id, sequence = place.sequence, lane = place.lane, joined_at = place.joined_at,
    admitted_at = place.given_at,
  })
end

-- A visit is over, and with it the place that it came from.
function visitors.end_place(self, id, packed)
  local sequence, _, joined_at = struct.unpack(VISIT, packed)
  if sequence < 0 then return end
  local place = places.get(self, id, joined_at)
  if place then places.set_state(self, place, GONE) end
end

-- Ends a visit. False when nobody by that id is on the site. Its slot is held for a while: connections may still be open.
local function end_visit(self, id)
  local packed = redis.call("HGET", self.prefix .. ":visits", id)
  if not packed then return false end
  local due_at = tonumber(redis.call("ZSCORE", self.prefix .. ":visits:due", id))
  local until_at = visits.last_pass_end(visits.pass_end(due_at), self.rules, self.now)
  redis.call("HDEL", self.prefix .. ":visits", id)
  local linger = self.rules.lingerMs or 0
  if linger > 0 then
    redis.call("ZADD", self.prefix .. ":visits:due", self.now + linger, id)
  else
    redis.call("ZREM", self.prefix .. ":visits:due", id)
    self.on_site = self.on_site - 1
  end
  redis.call("ZADD", self.prefix .. ":ended", until_at, id)
  visitors.end_place(self, id, packed)
  self.ended[#self.ended + 1] = { id, until_at }
  return until_at
end

function visitors.leave_visit(self, answers, id)
  local until_at = end_visit(self, id)
  if until_at then room.count(self, "left") end
  answer(answers, NOTHING, until_at or 0)
end

function visitors.revoke(self, answers, id)
  local until_at = end_visit(self, id)
  if until_at then room.count(self, "revoked") end
  answer(answers, NOTHING, until_at or 0)
end

-- Takes someone out of the line, the lapsed or the admitted, wherever they are. True when they had a firm turn.
function visitors.give_up(self, place)
  if place.state == WAITING then line.remove(self, place) end
  if place.state == LAPSED then self.lapsed = self.lapsed - 1 end
  if place.state ~= ADMITTED then return false end
  local member = member_of(place.id, place.joined_at)
  redis.call("ZREM", self.prefix .. ":turns", member)
  return keeper.unmake_firm(self, member)
end

-- Someone gave up their place.
function visitors.note_left(self)
  room.count(self, "left")
end

function visitors.leave_place(self, answers, ticket)
  if ticket.expires_at <= self.now then return answer(answers, NOTHING) end
  local place = places.get(self, ticket.id, ticket.joined_at)
  if place and place.state == ON_SITE then return visitors.leave_visit(self, answers, ticket.id) end
  if place and place.state >= GONE then return answer(answers, NOTHING) end
  place = place or {
    id = ticket.id, joined_at = ticket.joined_at, late = 0, lane = ticket.lane, sequence = ticket.sequence,
    draw = ticket.draw, pool = 0, given_at = 0,
  }
  if visitors.give_up(self, place) then keeper.gave_back(self, "left") end
  visitors.note_left(self)
  places.set_state(self, place, GONE)
  places.keep(self, place.joined_at, ticket.expires_at)
  answer(answers, NOTHING)
end

-- Takes in the visit of a valid pass that is unknown because data was lost. Its place is marked as used, so that the old
-- ticket gives no second visit.
local function take_in(self, id, lane, joined_at, admitted_at, expires_at)
  local place = places.get(self, id, joined_at) or {
    id = id, joined_at = joined_at, state = GONE, late = 0, lane = lane, sequence = 0, draw = 0, pool = 0,
    given_at = admitted_at,
  }
  visitors.give_up(self, place)
  places.set_state(self, place, ON_SITE)
  places.keep(self, joined_at, self.now + self.rules.ticketTtlMs)
  local packed = struct.pack(VISIT, place.sequence, lane, joined_at, admitted_at)
  redis.call("HSET", self.prefix .. ":visits", id, packed)
  redis.call("ZADD", self.prefix .. ":visits:due", visits.held_until(expires_at), id)
  self.on_site = self.on_site + 1
end

-- A visitor was seen. Unknown ones with a good pass are taken in; ended ones stay ended.
function visitors.touch(self, answers, id, lane, joined_at, admitted_at, expires_at)
  local due = self.prefix .. ":visits:due"
  local known = redis.call("ZSCORE", due, id)
  local is_later = visits.held_until(expires_at) > tonumber(known or visits.held_until(self.now))
  if not is_later or redis.call("ZSCORE", self.prefix .. ":ended", id) then
    -- Nothing new, or the slot of an ended visit that is held.
  elseif known then
    redis.call("ZADD", due, visits.held_until(expires_at), id)
  else
    take_in(self, id, lane, joined_at, admitted_at, expires_at)
  end
  answer(answers, NOTHING)
end

-- Takes a free slot for a visit that was over, if there is one, and counts it in the rate; core/resumes.ts says how often.
local function begin_again(self, id)
  local key = self.prefix .. ":resumes"
  local next_at = redis.call("ZSCORE", key, id)
  if next_at and tonumber(next_at) > self.now then return false end
  local has_begun = keeper.may_resume(self)
  if has_begun then
    keeper.took(self, 1)
    keeper.entered(self, nil)
  end
  redis.call("ZADD", key, visits.next_try_at(has_begun, self.rules, self.now), id)
  return has_begun
end

-- Someone with a pass that has run out: their visit is still on, begins again ("1" and a free slot), or is over.
function visitors.resume(self, answers, id, lane, joined_at, admitted_at, may_begin)
  local due = self.prefix .. ":visits:due"
  if redis.call("ZSCORE", self.prefix .. ":ended", id) then return answer(answers, NOTHING) end
  local known = tonumber(redis.call("ZSCORE", due, id))
  if known and visits.pass_end(known) > self.now then return still_on_site(self, answers, id) end
  if may_begin == "" then return answer(answers, NOTHING) end
  local expires_at = visits.resumed_until(self.rules, admitted_at, self.now)
  if expires_at <= self.now then return answer(answers, NOTHING) end
  if known then
    -- For a moment after a pass has run out its slot is still held.
    redis.call("ZADD", due, visits.held_until(expires_at), id)
  elseif begin_again(self, id) then
    take_in(self, id, lane, joined_at, admitted_at, expires_at)
  else
    return answer(answers, NOTHING)
  end
  answer(answers, HAS_ENTERED, joined_at, admitted_at, self.now, expires_at, lane)
end

local function ticket_at(args, i)
  return {
    id = args[i], sequence = tonumber(args[i + 1]), lane = tonumber(args[i + 2]), joined_at = tonumber(args[i + 3]),
    draw = tonumber(args[i + 4]), expires_at = tonumber(args[i + 5]), dice = tonumber(args[i + 6]),
    missed = tonumber(args[i + 7]), missed_at = tonumber(args[i + 8]),
  }
end

-- What a visitor can do, by its code: how many values follow the code, and what is done with them.
local DOINGS = {
  j = { 7, function(self, answers, args, i)
    visitors.join(self, answers, args[i], tonumber(args[i + 1]), args[i + 2], args[i + 3], args[i + 4],
      tonumber(args[i + 5]), tonumber(args[i + 6]))
  end },
  c = { 9, function(self, answers, args, i) visitors.show(self, answers, ticket_at(args, i), false) end },
  e = { 9, function(self, answers, args, i) visitors.show(self, answers, ticket_at(args, i), true) end },
  l = { 9, function(self, answers, args, i) visitors.leave_place(self, answers, ticket_at(args, i)) end },
  v = { 1, function(self, answers, args, i) visitors.leave_visit(self, answers, args[i]) end },
  r = { 1, function(self, answers, args, i) visitors.revoke(self, answers, args[i]) end },
  t = { 5, function(self, answers, args, i)
    visitors.touch(self, answers, args[i], tonumber(args[i + 1]), tonumber(args[i + 2]), tonumber(args[i + 3]),
      tonumber(args[i + 4]))
  end },
  h = { 1, function(self, answers) visitors.has_room(self, answers) end },
  s = { 5, function(self, answers, args, i)
    visitors.resume(self, answers, args[i], tonumber(args[i + 1]), tonumber(args[i + 2]), tonumber(args[i + 3]),
      args[i + 4])
  end },
}

-- One call for many visitors: the time or "", who calls, then for each what they do and with what. Gives the time, then the
-- answers.
local function visit_call(self, args)
  self.standing = {
    poll_budget = self.rules.pollBudgetPerSecond, ticket_ttl = self.rules.ticketTtlMs,
    claim_window = self.rules.claimWindowMs, reach = 0, is_wait_hidden = self.rules.isWaitHidden,
  }
  self.waiting_in = function(lane) return room.waiting_in(self, lane) end
  local answers = { self.now }
  local i = 3
  while args[i] do
    local doing = DOINGS[args[i]]
    doing[2](self, answers, args, i + 1)
    i = i + 1 + doing[1]
  end
  if #self.ended > 0 then
    local news = {}
    for n, one in ipairs(self.ended) do news[n] = one[1] .. " " .. whole(one[2]) end
    redis.call("PUBLISH", self.prefix .. ":news", args[2] .. " ended " .. table.concat(news, " "))
  end
  keeper.close(self)
  return answers
end
