-- One turn of a room's door: expired visits and turns end, turns that were firm for long enough go loose, visitors who stopped
-- checking in lapse, and the door says how many get a turn. And the lease: one gateway at a time turns the door, and one that
-- lost the lease does nothing.

local turn = {}

local LEASE_MS = 3000
-- A call must be short, since Redis does nothing else meanwhile; the rest follows in the next call.
local EXPIRED_MAX = 1000
local ADMITTED_MAX = 500
local BUCKETS_MAX = 10

-- Takes or renews the lease; returns the fencing token, or nil when another gateway has it.
function turn.lease(self, gateway, fence)
  local key = self.prefix .. ":lease"
  local held = redis.call("HMGET", key, "holder", "fence", "until")
  local holder, current, until_at = held[1], tonumber(held[2]) or 0, tonumber(held[3]) or 0
  if holder == gateway and current == fence then
    redis.call("HSET", key, "until", whole(self.now + LEASE_MS))
    return fence
  end
  if holder and until_at > self.now then return nil end
  redis.call("HSET", key, "holder", gateway, "fence", whole(current + 1), "until", whole(self.now + LEASE_MS))
  return current + 1
end

-- Gives the lease back, so that another gateway has it at once. Gateway, its token.
function turn.resign(keys, args)
  if not turn.is_holder({ prefix = keys[1] }, args[1], tonumber(args[2])) then return { 0 } end
  redis.call("HSET", keys[1] .. ":lease", "until", "0")
  redis.call("PUBLISH", keys[1] .. ":news", args[1] .. " resigned")
  return { 1 }
end

-- True while this gateway has the lease with this token.
function turn.is_holder(self, gateway, fence)
  local held = redis.call("HMGET", self.prefix .. ":lease", "holder", "fence")
  return held[1] == gateway and tonumber(held[2]) == fence
end

local function due(self, name)
  if self.now < (tonumber(self.state.pardonUntil) or 0) then return {} end
  local key = self.prefix .. name
  local found = redis.call("ZRANGEBYSCORE", key, "-inf", whole(math.floor(self.now)), "LIMIT", 0, EXPIRED_MAX)
  if #found == EXPIRED_MAX then self.has_more = true end
  return found
end

local function expire_visits(self)
  for _, id in ipairs(due(self, ":visits:due")) do
    local packed = redis.call("HGET", self.prefix .. ":visits", id)
    redis.call("ZREM", self.prefix .. ":visits:due", id)
    redis.call("HDEL", self.prefix .. ":visits", id)
    self.on_site = self.on_site - 1
    -- Without a visit it was the slot of an ended one.
    if packed then
      room.count(self, "expired")
      visitors.end_place(self, id, packed)
    end
  end
  for _, name in ipairs({ ":ended", ":resumes" }) do
    redis.call("ZREMRANGEBYSCORE", self.prefix .. name, "-inf", whole(math.floor(self.now)))
  end
end

local function loosen_turns(self)
  for _, member in ipairs(due(self, ":firm")) do
    if keeper.unmake_firm(self, member) then keeper.gave_back(self, "loose") end
  end
end

-- The new sequence of a place that moves back in its lane.
local function number_behind(self, place, back)
  local lane = room.lane_of(self, place.lane)
  local follow = missed_turns.to_follow(
    room.waiting_in(self, lane), line.before(self, lane, place.sequence),
    function(rank)
      local _, _, sequence = line.at(self, lane, rank)
      return sequence
    end,
    place.sequence, back)
  local key = self.prefix .. ":gap:"
  return missed_turns.next_number(
    follow,
    function(gap) return tonumber(redis.call("GET", key .. whole(gap)) or 0) end,
    function(gap, used) redis.call("SET", key .. whole(gap), whole(used), "PX", self.rules.ticketTtlMs) end)
end

-- The place moves back and is kept for its holder's return, or is forfeited.
local function miss_turn(self, place)
  place.missed = place.missed + 1
  place.missed_at = place.given_at
  place.returned = 0
  if missed_turns.is_forfeited(place.missed, self.rules.missedTurnsMax) then
    room.count(self, "forfeited")
    return places.set_state(self, place, FORFEITED)
  end
  local let_in = keeper.let_in(self, room.lane_of(self, place.lane)) - place.let_in
  place.sequence = number_behind(self, place, missed_turns.places_back(let_in, place.missed))
  place.let_in = 0
  if not self.state.hasSetBacks then room.set(self, "hasSetBacks", "1") end
  self.lapsed = self.lapsed + 1
  places.set_state(self, place, LAPSED)
end

-- A turn was not used: its place is set back.
function turn.note_missed(self, id, joined_at)
  room.count(self, "missedTurns")
  keeper.missed(self)
  return places.get(self, id, joined_at)
end

-- Turns that were not used in time. Their places are set back in the order in which they stood.
local function expire_turns(self)
  local missed = {}
  for _, member in ipairs(due(self, ":turns")) do
    redis.call("ZREM", self.prefix .. ":turns", member)
    if keeper.unmake_firm(self, member) then keeper.gave_back(self, "loose") end
    missed[#missed + 1] = turn.note_missed(self, id_and_joined(member))
  end
  table.sort(missed, function(a, b) return a.sequence < b.sequence or (a.sequence == b.sequence and a.id < b.id) end)
  for _, place in ipairs(missed) do miss_turn(self, place) end
end

local function lapse(self)
  for _, member in ipairs(due(self, ":due")) do
    local place = places.get(self, id_and_joined(member))
    if place and place.state == WAITING then
      line.remove(self, place)
      places.set_state(self, place, LAPSED)
      self.lapsed = self.lapsed + 1
      room.count(self, "lapsed")
    else
      redis.call("ZREM", self.prefix .. ":due", member)
    end
  end
end

function turn.forget(self)
  local now = whole(math.floor(self.now))
  local buckets = self.prefix .. ":buckets"
  for _, bucket in ipairs(redis.call("ZRANGEBYSCORE", buckets, "-inf", now, "LIMIT", 0, BUCKETS_MAX)) do
    redis.call("UNLINK", self.prefix .. ":places:" .. bucket)
    redis.call("ZREM", buckets, bucket)
  end
  redis.call("ZREMRANGEBYSCORE", self.prefix .. ":invites", "-inf", now)
end

local function admit_one(self, lane, member, sequence)
  local claim_until = line.claim_until(self, member)
  local id, joined_at = id_and_joined(member)
  local place = places.get(self, id, joined_at)
  if lane == EVERYBODY and self.rank == 0 and place.late == 0 then keeper.remember(self, sequence) end
  line.remove(self, place)
  keeper.note_admitted(self, lane, sequence)
  place.given_at = self.now
  place.let_in = keeper.let_in(self, lane)
  places.set_state(self, place, ADMITTED)
  redis.call("ZADD", self.prefix .. ":turns", claim_until, member)
  keeper.make_firm(self, member, keeper.firm_until(self, place.returned == 1, place.missed > 0))
end

-- Gives turns; `dice` pick the visitors in random order. Returns the sequences, in order.
local function admit_next(self, count, dice)
  local rules = self.rules
  local named = rules.lanes.named
  local is_random = rules.queueingMethod == "random"
  local accounts
  if #named > 0 then
    accounts = {}
    for lane, account in pairs(cjson.decode(redis.call("HGET", self.prefix .. ":state", "accounts") or "{}")) do
      accounts[tonumber(lane)] = account
    end
  end
  local function is_waiting(lane)
    return room.waiting_in(self, lane) > 0 and keeper.is_lane_served(self, lane)
  end
  local sequences = {}
  while #sequences < count do
    local lane = EVERYBODY
    if accounts then lane = lanes.next(accounts, rules.lanes, is_waiting) end
    local waiting = lane and room.waiting_in(self, lane) or 0
    if waiting == 0 then break end
    self.rank = is_random and math.floor(dice[#sequences + 1] * waiting) or 0
    local _, member, sequence = line.at(self, lane, self.rank)
    if room.is_held(self, sequence) then break end
    admit_one(self, lane, member, sequence)
    sequences[#sequences + 1] = sequence
  end
  if accounts then
    local kept = {}
    for lane, account in pairs(accounts) do kept[tostring(lane)] = account end
    room.set(self, "accounts", cjson.encode(kept))
  end
  if #sequences > 0 then draws.scatter(self) end
  keeper.took(self, #sequences)
  return sequences
end

function turn.observe(self, admitted, is_line)
  local p = { admitted = {}, spent = {} }
  local kept = redis.call("HGET", self.prefix .. ":state", "pace")
  if kept then
    local numbers = decode_list(kept)
    p.last_at = numbers[1]
    for i = 2, #numbers, 2 do
      p.admitted[#p.admitted + 1] = numbers[i]
      p.spent[#p.spent + 1] = numbers[i + 1]
    end
  end
  pace.observe(p, admitted, is_line, self.now)
  local parts = { text(p.last_at) }
  for i = 1, #p.admitted do
    parts[#parts + 1] = text(p.admitted[i])
    parts[#parts + 1] = text(p.spent[i])
  end
  room.set(self, "pace", table.concat(parts, " "))
  local sums = pace.sums(p)
  self.sums = sums
  local packed = text(sums.admitted) .. " " .. text(sums.spent) .. " " .. whole(sums.bins)
  if sums.doubt then packed = packed .. " " .. text(sums.doubt) end
  room.set(self, "paceSums", packed)
end

-- Removes what has expired from the line itself.
function turn.expire_line(self)
  expire_turns(self)
  lapse(self)
  turn.forget(self)
end

-- Takes or renews the lease, applies the orders that come with it, and removes what has expired.
function turn.begin(self, args)
  local fence = turn.lease(self, args[2], tonumber(args[3]))
  if not fence then return nil end
  if args[4] ~= "" then
    room.set(self, "share", args[4])
    room.set(self, "active", args[5])
    self.share = tonumber(args[4])
    self.is_awake = args[5] == "1"
    room.follow(self)
  end
  expire_visits(self)
  loosen_turns(self)
  expire_turns(self)
  return fence
end

function turn.not_ours(self)
  local held = redis.call("HMGET", self.prefix .. ":lease", "until", "reason")
  return { 0, held[2] or "line empty", 0, 0, math.max(0, tonumber(held[1]) - self.now) }
end

-- Publishes the turns given.
function turn.tell(self, gateway, sequences)
  if #sequences == 0 then return end
  local news = {}
  for i, sequence in ipairs(sequences) do news[i] = text(sequence) end
  redis.call("PUBLISH", self.prefix .. ":news", gateway .. " turns " .. table.concat(news, " "))
end

-- The time or "", gateway, its token, standby's and the adaptive loop's orders or "", then dice. Gives the token, the reason,
-- 1 when there is more to do at once, the draw that is due or 0, how many wait, and the sequences. The token is 0 when
-- another gateway has the lease; then come the reason of its last turn and how long it has the lease for.
function turn.call(self, args)
  local fence = turn.begin(self, args)
  if not fence then return turn.not_ours(self) end
  local drawing = draws.due(self)
  if not drawing or not drawing.isDrawing then lapse(self) end
  draws.announce_all(self)
  draws.forget(self)
  turn.forget(self)
  if drawing then
    -- Gathered visitors from before a failover may still come back; the draw waits for them.
    local is_held = self.now < (tonumber(self.state.heldUntil) or 0)
    keeper.close(self)
    return { fence, "not started", 0, is_held and 0 or drawing.number, self.waiting }
  end
  local dice = {}
  for i = 6, #args do dice[i - 5] = tonumber(args[i]) end
  local admit, reason = keeper.open(self)
  local is_line = self.waiting > 0 and reason ~= "paused" and reason ~= "not started"
  local most = self.rules.queueingMethod == "random" and math.min(#dice, ADMITTED_MAX) or ADMITTED_MAX
  local sequences = admit_next(self, math.min(admit, most), dice)
  turn.observe(self, #sequences, is_line)
  turn.tell(self, args[2], sequences)
  redis.call("HSET", self.prefix .. ":lease", "reason", reason)
  keeper.close(self)
  local has_more = self.has_more or (#sequences > 0 and #sequences < admit)
  local reply = { fence, reason, has_more and 1 or 0, 0, self.waiting }
  for i, sequence in ipairs(sequences) do reply[i + 5] = sequence_word(sequence) end
  return reply
end
