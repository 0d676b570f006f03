-- Who gathers for a draw, and past draws. The draw itself is computed outside, from seed and ids; here places get their new
-- sequences, some at a time, while the door is shut.

local draws = {}

local SECOND_MS = 1000
-- A gathered visitor: sequence, time of joining, id.
local GATHERED = "%016.0f%013.0f%s"

local function find(self, event)
  for _, draw in ipairs(room.draws(self)) do
    if draw.event == event.name and (draw.startAt == event.startAt or not draw.drawnAt) then return draw end
  end
end

local function number_of(self, event)
  local number = math.floor(event.startAt / SECOND_MS)
  local is_taken = true
  while is_taken do
    is_taken = false
    for _, draw in ipairs(self.drawn) do if draw.number == number then is_taken = true end end
    if is_taken then number = number + 1 end
  end
  return number
end

local function next_pool(self)
  local pool = (tonumber(self.state.pool) or 0) + 1
  room.set(self, "pool", whole(pool))
  return pool
end

-- An event's draw. A draw whose start is moved before it is made stays the same; its seed is the one whose hash was published
-- first.
function draws.of(self, event)
  local draw = find(self, event)
  if draw then
    if not draw.drawnAt and (draw.startAt ~= event.startAt or draw.keepUntil ~= event.endAt
      or event.prequeueAt < draw.prequeueAt) then
      draw.prequeueAt = math.min(draw.prequeueAt, event.prequeueAt)
      draw.startAt = event.startAt
      draw.keepUntil = event.endAt
      room.keep_draws(self)
    end
    return draw
  end
  draw = {
    event = event.name, number = number_of(self, event), seed = event.seed, seedHash = event.seedHash,
    prequeueAt = event.prequeueAt, startAt = event.startAt, keepUntil = event.endAt, pool = next_pool(self), size = 0,
  }
  self.drawn[#self.drawn + 1] = draw
  room.keep_draws(self)
  return draw
end

-- The present event with a draw; nil when there is none.
local function shuffled_event(self)
  local index = self.phase.event
  local event = index and self.orders.events[index]
  if event and event.isShuffled then return event end
end

function draws.announce_all(self)
  for _, event in ipairs(self.orders.events) do
    if event.isShuffled and event.endAt > self.now then draws.of(self, event) end
  end
end

-- Adds a visitor who joins during the gathering to the pool.
function draws.gather(self, place)
  local event = shuffled_event(self)
  if not event or place.joined_at < event.prequeueAt or place.joined_at >= event.startAt then return end
  local draw = draws.of(self, event)
  if draw.drawnAt or draw.isDrawing then return end
  place.pool = draw.pool
  local key = self.prefix .. ":pool:" .. whole(draw.pool)
  redis.call("APPEND", key, string.format(GATHERED, place.sequence, place.joined_at, place.id))
end

-- True for a place that is gathered and not drawn yet.
function draws.is_gathered(self, place)
  if place.pool == 0 then return false end
  local event = shuffled_event(self)
  local draw = event and find(self, event)
  return draw ~= nil and not draw.drawnAt and draw.pool == place.pool
end

-- The draw that is due; nil when none is.
function draws.due(self)
  local event = shuffled_event(self)
  if not event or self.phase.isPrequeue then return nil end
  local draw = draws.of(self, event)
  if not draw.drawnAt then return draw end
end

-- A visitor is admitted during the gathering, because rules changed: those gathered so far keep their order of joining.
function draws.scatter(self)
  for _, draw in ipairs(room.draws(self)) do
    if not draw.drawnAt then
      redis.call("UNLINK", self.prefix .. ":pool:" .. whole(draw.pool))
      draw.pool = next_pool(self)
      room.keep_draws(self)
    end
  end
end

-- The draw that should have included a ticket; nil for none.
function draws.missed(self, joined_at)
  for _, draw in ipairs(room.draws(self)) do
    if draw.drawnAt and joined_at >= draw.prequeueAt and joined_at < draw.startAt then return draw end
  end
end

-- Drops draws that all valid tickets are younger than.
function draws.forget(self)
  local kept = {}
  for _, draw in ipairs(room.draws(self)) do
    if draw.keepUntil > self.now then
      kept[#kept + 1] = draw
    else
      redis.call("UNLINK", self.prefix .. ":pool:" .. whole(draw.pool))
    end
  end
  if #kept == #self.drawn then return end
  self.drawn = kept
  room.keep_draws(self)
end

function draws.by_number(self, number)
  for _, draw in ipairs(room.draws(self)) do if draw.number == number then return draw end end
end

-- Closes the pool.
function draws.start(self, draw)
  draw.isDrawing = true
  room.keep_draws(self)
end

-- Gives places their drawn sequences. Repeating it changes nothing.
function draws.apply(self, draw, moves)
  for i = 1, #moves, 3 do
    local id, joined_at, sequence = moves[i], tonumber(moves[i + 1]), tonumber(moves[i + 2])
    local place = places.get(self, id, joined_at)
    if place then
      place.sequence = sequence
      place.draw = draw.number
      places.put(self, place)
      if place.state == WAITING then
        redis.call("ZADD", line_key(self, place.lane), "XX", sequence, member_of(id, joined_at))
      end
    end
  end
end

function draws.finish(self, draw, size)
  draw.isDrawing = nil
  draw.drawnAt = self.now
  draw.size = size
  draw.keepUntil = math.max(draw.keepUntil, self.now + self.rules.ticketTtlMs)
  room.keep_draws(self)
end
