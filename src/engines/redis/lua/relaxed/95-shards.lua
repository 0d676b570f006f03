-- A relaxed line: its shards, and how its main part and they work together. Who may enter is decided in the main part alone:
--
--   sweep every shard ─▶ main: reserve n slots ─▶ shards: peek, take the best ─▶ main: confirm, and the turns are given
--
-- What is taken and never confirmed comes back when its claim window is over; what is reserved and never confirmed is free
-- at the next turn. A ticket that was used is known to the main part, so a place that comes back gives no second visit.

local shards = {}

-- Of a shard. The time or "", how many wait in all shards, the door's speed as the main part has it. Lets go of what has
-- run out. Gives how many wait here and 1 when there is more to let go.
function shards.sweep(self, args)
  turn.expire_line(self)
  if args[2] ~= "" then
    room.set(self, "total", args[2])
    room.set(self, "paceSums", args[3])
  end
  keeper.close(self)
  return { self.waiting, self.has_more and 1 or 0 }
end

-- Of a shard. The time or "", how many. Gives sequence and member of the first few, none that is held.
function shards.peek(self, args)
  local found = redis.call("ZRANGE", line_key(self, EVERYBODY), 0, tonumber(args[2]) - 1, "WITHSCORES")
  local first = {}
  for i = 1, #found, 2 do
    local sequence = tonumber(found[i + 1])
    if room.is_held(self, sequence) then break end
    first[i] = sequence_word(sequence)
    first[i + 1] = found[i]
  end
  return first
end

-- Of a shard. The time or "", then for each one to be taken what it must not be worse than: a sequence and a member, or ""
-- twice. Gives for each sequence, member, their past (1 if they ever lapsed, 2 more if they came with a loose turn before, 4 more
-- if they missed one), and until when the turn may be used, or 0 four times where nobody was taken.
function shards.take(self, args)
  local taken = {}
  for i = 2, #args, 2 do
    local _, member, sequence = line.at(self, EVERYBODY, 0)
    local worst = tonumber(args[i])
    local is_worse = member and worst and (sequence > worst or (sequence == worst and member > args[i + 1]))
    if not member or is_worse or room.is_held(self, sequence) then
      for _ = 1, 4 do taken[#taken + 1] = 0 end
    else
      local claim_until = line.claim_until(self, member)
      local place = places.get(self, id_and_joined(member))
      line.remove(self, place)
      keeper.count_in(self, EVERYBODY, sequence)
      place.given_at = self.now
      place.let_in = keeper.let_in(self, EVERYBODY)
      places.set_state(self, place, ADMITTED)
      redis.call("ZADD", self.prefix .. ":turns", claim_until, member)
      taken[#taken + 1] = sequence_word(sequence)
      taken[#taken + 1] = member
      taken[#taken + 1] = place.late + 2 * place.returned + (place.missed > 0 and 4 or 0)
      taken[#taken + 1] = claim_until
    end
  end
  keeper.close(self)
  return taken
end

-- Of the main part. The time or "", gateway, its token, standby's and the adaptive loop's orders or "", how many wait in all
-- shards. Gives what a turn gives, and instead of sequences how many to take and the door's speed.
function shards.reserve(self, args)
  local fence = turn.begin(self, args)
  if not fence then return turn.not_ours(self) end
  turn.forget(self)
  self.admitted = self.admitted - self.reserved
  self.waiting = tonumber(args[6])
  room.set(self, "shardWaiting", args[6])
  local admit, reason = keeper.open(self)
  local count = math.min(admit, ADMITTED_MAX)
  room.set(self, "reserved", whole(count))
  redis.call("HSET", self.prefix .. ":lease", "reason", reason)
  keeper.close(self)
  local has_more = self.has_more or count < admit
  return { fence, reason, has_more and 1 or 0, 0, self.waiting, count, self.state.paceSums or "" }
end

-- Of the main part. The time or "", gateway, its token, "1" if people waited and the door was not shut, then of each one
-- taken member, sequence, what `take` told of their past and until when the turn may be used. Gives the token, or 0 when
-- another gateway has the lease, and for each 1, or 0 when their ticket was used already.
function shards.confirm(keys, args)
  local self = room.open(keys[1], args[1])
  if not self or not turn.is_holder(self, args[2], tonumber(args[3])) then return { 0 } end
  local reply, sequences = { tonumber(args[3]) }, {}
  self.admitted = self.admitted - self.reserved
  room.set(self, "reserved", "0")
  for i = 5, #args, 4 do
    local member, sequence = args[i], tonumber(args[i + 1])
    local id, joined_at = id_and_joined(member)
    local is_new = places.get(self, id, joined_at) == nil
    local past = tonumber(args[i + 2])
    local has_returned, has_missed = past % 4 >= 2, past >= 4
    reply[#reply + 1] = is_new and 1 or 0
    if is_new then
      places.put(self, {
        id = id, joined_at = joined_at, state = ADMITTED, late = 0, lane = EVERYBODY, sequence = sequence, draw = 0,
        pool = 0, given_at = self.now, returned = has_returned and 1 or 0,
      })
      places.keep(self, joined_at, self.now + self.rules.ticketTtlMs)
      redis.call("ZADD", self.prefix .. ":turns", args[i + 3], member)
      keeper.make_firm(self, member, keeper.firm_until(self, has_returned, has_missed))
      keeper.note_admitted(self, EVERYBODY, sequence)
      if past % 2 == 0 then keeper.remember(self, sequence) end
      sequences[#sequences + 1] = sequence
    end
  end
  room.set(self, "shardWaiting", whole(math.max(0, self.waiting - #sequences)))
  keeper.took(self, #sequences)
  turn.observe(self, #sequences, args[4] == "1")
  turn.tell(self, args[2], sequences)
  keeper.close(self)
  return reply
end

register_in_room("sweep", shards.sweep, { "allow-oom" })
register_in_room("peek", shards.peek, { "no-writes" })
register_in_room("take", shards.take, { "allow-oom" })
register_in_room("reserve", shards.reserve, { "allow-oom" })
register("confirm", shards.confirm, { "allow-oom" })
