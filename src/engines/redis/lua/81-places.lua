-- The state of each ticket, and the lines. A place is found by the id of its ticket and the time at which its holder joined.

local places = {}

local WAITING, LAPSED, ADMITTED, ON_SITE, GONE, FORFEITED = 1, 2, 3, 4, 5, 6
-- state, whether it ever lapsed, lane, sequence, the draw that gave it, the pool it is gathered in, when its turn was given
local PLACE = ">BBHdI4I4d"
local PLACE_BYTES = 28
-- Behind it, where any of it is not 0: whether its holder came with a loose turn to a full site since they last missed one,
-- missed turns, when the latest was given, turns given in its lane up to its own
local PLACE_PAST = ">BBdd"
local BUCKET_MS = 600000

local function bucket_of(joined_at)
  return math.floor(joined_at / BUCKET_MS)
end

function places.key(self, joined_at)
  local bucket = bucket_of(joined_at)
  local key = self.place_keys[bucket]
  if not key then
    key = self.prefix .. ":places:" .. bucket
    self.place_keys[bucket] = key
  end
  return key
end

-- The place of a ticket; nil when it is unknown.
function places.get(self, id, joined_at)
  local packed = redis.call("HGET", places.key(self, joined_at), id)
  if not packed then return nil end
  local state, late, lane, sequence, draw, pool, given_at = struct.unpack(PLACE, packed)
  local returned, missed, missed_at, let_in = 0, 0, 0, 0
  if #packed > PLACE_BYTES then returned, missed, missed_at, let_in = struct.unpack(PLACE_PAST, packed, PLACE_BYTES + 1) end
  return {
    id = id, joined_at = joined_at, state = state, late = late, lane = lane, sequence = sequence, draw = draw,
    pool = pool, given_at = given_at, returned = returned, missed = missed, missed_at = missed_at, let_in = let_in,
  }
end

function places.put(self, place)
  local packed = struct.pack(
    PLACE, place.state, place.late, place.lane, place.sequence, place.draw, place.pool, place.given_at)
  local returned, missed, let_in = place.returned or 0, place.missed or 0, place.let_in or 0
  if returned + missed + let_in > 0 then
    packed = packed .. struct.pack(PLACE_PAST, returned, missed, place.missed_at or 0, let_in)
  end
  redis.call("HSET", places.key(self, place.joined_at), place.id, packed)
end

-- Forgets a place.
function places.drop(self, id, joined_at)
  redis.call("HDEL", places.key(self, joined_at), id)
end

-- Records that a ticket for a place may be valid until then.
function places.keep(self, joined_at, until_at)
  local bucket = bucket_of(joined_at)
  local known = self.keep_until[bucket]
  if not known or until_at > known then self.keep_until[bucket] = until_at end
end

function places.set_state(self, place, state)
  place.state = state
  if state == LAPSED then place.late = 1 end
  places.put(self, place)
end

-- Formatting a number takes as long as a small command, and the same one is needed several times in a row.
local written_at, written

-- Members of `due` and `turns` include the time of joining, since a place is found by it.
local function member_of(id, joined_at)
  if joined_at ~= written_at then written_at, written = joined_at, whole(joined_at) end
  return id .. written
end

local function id_and_joined(member)
  return string.sub(member, 1, 32), tonumber(string.sub(member, 33))
end

local line = {}

local function line_key(self, lane)
  return self.prefix .. ":line:" .. lane
end

function line.add(self, place)
  local lane = place.lane
  if not self.counts[lane] then
    self.counts[lane] = 0
    self.lanes_used[#self.lanes_used + 1] = lane
    room.set(self, "lanesUsed", table.concat(self.lanes_used, " "))
  end
  local member = member_of(place.id, place.joined_at)
  if place.returned == 1 then
    redis.call("SADD", self.prefix .. ":returned", member)
    if self.state.hasReturned ~= "1" then room.set(self, "hasReturned", "1") end
  end
  if redis.call("ZADD", line_key(self, lane), text(place.sequence), member) == 1 then
    self.counts[lane] = self.counts[lane] + 1
    self.waiting = self.waiting + 1
  end
end

function line.remove(self, place)
  local member = member_of(place.id, place.joined_at)
  self.due_at[member] = nil
  if redis.call("ZREM", line_key(self, place.lane), member) == 1 then
    self.counts[place.lane] = self.counts[place.lane] - 1
    self.waiting = self.waiting - 1
  end
  redis.call("ZREM", self.prefix .. ":due", member)
  if place.returned == 1 then
    redis.call("SREM", self.prefix .. ":returned", member)
    if redis.call("EXISTS", self.prefix .. ":returned") == 0 then room.set(self, "hasReturned", "0") end
  end
end

-- When these visitors lapse. Written at the end of the call, all in one command.
function line.expect(self, place, deadline)
  self.due_at[member_of(place.id, place.joined_at)] = deadline
end

-- Until when a waiting visitor may use a turn that is given now.
function line.claim_until(self, member)
  local lapse_at = tonumber(redis.call("ZSCORE", self.prefix .. ":due", member) or self.now)
  return pacing.claim_deadline(self.now, lapse_at, self.rules.lapseAfterMs, self.rules.claimWindowMs)
end

-- How many are before a place in its line; nil when it is not in the line.
function line.rank(self, place)
  if not self.counts[place.lane] then return nil end
  return redis.call("ZRANK", line_key(self, place.lane), member_of(place.id, place.joined_at)) or nil
end

-- How many are before this place in its lane under the present rules. `rank`: in its line, if known.
function line.ahead(self, lane, place, rank)
  local ahead = rank or line.rank(self, place) or 0
  if #self.lanes_used == 1 then return ahead end
  for _, used in ipairs(self.lanes_used) do
    if used ~= place.lane and self.counts[used] > 0 and room.lane_of(self, used) == lane then
      ahead = ahead + redis.call("ZCOUNT", line_key(self, used), "-inf", "(" .. text(place.sequence))
    end
  end
  return ahead
end

-- The non-empty stored lanes that are one lane under the present rules.
local function used_as(self, lane)
  local used = {}
  for _, other in ipairs(self.lanes_used) do
    if self.counts[other] > 0 and room.lane_of(self, other) == lane then used[#used + 1] = other end
  end
  return used
end

local function entry(self, lane, rank)
  local found = redis.call("ZRANGE", line_key(self, lane), rank, rank, "WITHSCORES")
  return found[1], tonumber(found[2])
end

local function first_of(self, used)
  local best_lane, best_member, best_sequence
  for _, lane in ipairs(used) do
    local member, sequence = entry(self, lane, 0)
    if member and (not best_sequence or sequence < best_sequence
      or (sequence == best_sequence and member < best_member)) then
      best_lane, best_member, best_sequence = lane, member, sequence
    end
  end
  return best_lane, best_member, best_sequence
end

-- The place with exactly `rank` before it: stored lane, member and sequence.
function line.at(self, lane, rank)
  local used = used_as(self, lane)
  if #used == 1 then
    local member, sequence = entry(self, used[1], rank)
    return used[1], member, sequence
  end
  if rank == 0 then return first_of(self, used) end
  -- Binary search: its sequence is the highest with no more than `rank` before it.
  local low, high = 0, self.next
  local function before(sequence)
    local total = 0
    for _, other in ipairs(used) do
      total = total + redis.call("ZCOUNT", line_key(self, other), "-inf", "(" .. whole(sequence))
    end
    return total
  end
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if before(middle) <= rank then low = middle else high = middle end
  end
  -- And places between it and the next whole number, which missed a turn.
  local found = {}
  for _, other in ipairs(used) do
    local near = redis.call("ZRANGEBYSCORE", line_key(self, other), whole(low), "(" .. whole(low + 1), "WITHSCORES")
    for i = 1, #near, 2 do found[#found + 1] = { other, near[i], tonumber(near[i + 1]) } end
  end
  table.sort(found, function(a, b) return a[3] < b[3] or (a[3] == b[3] and a[2] < b[2]) end)
  local one = found[rank - before(low) + 1]
  return one[1], one[2], one[3]
end

-- How many are before a sequence in a lane under the present rules.
function line.before(self, lane, sequence)
  local total = 0
  for _, used in ipairs(used_as(self, lane)) do
    total = total + redis.call("ZCOUNT", line_key(self, used), "-inf", "(" .. text(sequence))
  end
  return total
end
