-- A shared budget: rooms in front of one origin share its capacity. What is guaranteed to a room is its own;
-- the rest is poured out like water, the lowest first. The same rule as core/budget.ts, which says why.
--
-- `rooms` is a list of { used, wanted, guaranteed, last_turn_at }. All rooms may act on their answers at
-- once.
local budget = {}

do
  -- The vessels that slots are poured into: how high each stands, and how many more it can take. Filled anew
  -- by each call, so that none makes a table; there are as many as rooms, whatever an earlier call has left
  -- beyond.
  local levels, spaces = {}, {}

  local function poured_into(i, surface)
    return math.max(0, math.min(spaces[i], surface - levels[i]))
  end

  local function poured_into_all(vessels, surface)
    local poured = 0
    for i = 1, vessels do poured = poured + poured_into(i, surface) end
    return poured
  end

  local function can_rise(i, surface)
    return levels[i] <= surface and surface < levels[i] + spaces[i]
  end

  -- How high `slots` fill the vessels, but for a few left over; nil when there are enough for every space.
  local function surface_of(slots, vessels)
    local low, high = 0, 0
    for i = 1, vessels do high = math.max(high, levels[i] + spaces[i]) end
    if poured_into_all(vessels, high) <= slots then return nil end
    while high - low > 1 do
      local middle = math.floor((low + high) / 2)
      if poured_into_all(vessels, middle) <= slots then low = middle else high = middle end
    end
    return low
  end

  -- What the vessel at `index` gets when `slots` are poured out, the lowest first.
  local function pour(slots, rooms, index)
    if slots < 1 then return 0 end
    local surface = surface_of(slots, #rooms)
    if surface == nil then return spaces[index] end
    local left = math.floor(slots) - poured_into_all(#rooms, surface)
    -- Where the last slots do not go round, the room goes first that has been without a turn for longest.
    local own_turn_at = rooms[index].last_turn_at
    for i = 1, #rooms do
      local turn_at = rooms[i].last_turn_at
      local is_before = turn_at < own_turn_at or turn_at == own_turn_at and i < index
      if is_before and can_rise(i, surface) then left = left - 1 end
    end
    return poured_into(index, surface) + (left > 0 and can_rise(index, surface) and 1 or 0)
  end

  -- How many of those it wants to admit the room at `index` may admit now. Takes rooms times log(slots).
  function budget.free(total, rooms, index)
    local used, taken = 0, 0
    for i = 1, #rooms do
      local room = rooms[i]
      used = used + room.used
      taken = taken + math.max(room.used, room.guaranteed)
      levels[i] = room.used
      spaces[i] = math.min(room.wanted, math.max(0, room.guaranteed - room.used))
    end
    local of_its_own = pour(total - used, rooms, index)
    for i = 1, #rooms do
      local room = rooms[i]
      local unused = math.max(0, room.guaranteed - room.used)
      levels[i] = math.max(0, room.used - room.guaranteed)
      spaces[i] = math.max(0, room.wanted - unused)
    end
    return of_its_own + pour(total - taken, rooms, index)
  end
end
