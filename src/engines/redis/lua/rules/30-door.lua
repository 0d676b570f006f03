-- The door: how many may be admitted now, and why not more. The same rules as core/door.ts, and the limits of
-- core/adaptive.ts, which say why.
--
-- `r` are the rules in force, settings that are null being absent. `at` is { waiting, admitted, on_site,
-- is_prequeue, is_active, budget_free, no_shows, expected }, where without a budget `budget_free` is
-- math.huge.
local door = {}

do
  -- However wide the door stands, one turn of it lets in no more: a turn must be short.
  local TURN_MAX = 50000

  -- Filled anew by each call that needs it, so that none makes a table.
  local filling = {}

  local function why_shut(r, at)
    if r.closed then return "closed" end
    if at.is_prequeue then return "not started" end
    return (r.paused or r.queueAll) and "paused" or nil
  end

  local function is_wide_open(r, at)
    return r.drained or r.queueingMethod == "passthrough" or not at.is_active
  end

  local function own_free(r, at)
    return math.min((r.totalActiveUsers or math.huge) - at.on_site - at.admitted, at.budget_free)
  end

  local function free_slots(r, at)
    local on_site, out = at.on_site, at.admitted
    local free = own_free(r, at)
    if not r.fillNoShows or free == math.huge then return free end
    filling.capacity = free + on_site + out
    filling.on_site = on_site
    filling.out = out
    filling.expected = at.expected
    filling.share = at.no_shows
    return no_shows.turns_to_give(filling)
  end

  -- Turns a minute that bring `newUsersPerMinute` visitors in, `share` of them not being used.
  function door.rate_of_turns(r, share)
    local per_minute = r.newUsersPerMinute
    if per_minute == nil or not r.fillNoShows then return per_minute end
    return per_minute / (1 - share)
  end

  -- As if `waiting` were waiting, whatever `at` says of them.
  local function opening(r, at, waiting, f, now)
    local shut = why_shut(r, at)
    if shut then return 0, shut end
    local most = math.min(waiting, TURN_MAX)
    if is_wide_open(r, at) then return most, "line empty" end
    local free = free_slots(r, at)
    if waiting > 0 and free <= 0 then return 0, "site full" end
    local no_show = r.fillNoShows and at.no_shows or 0
    local allowed = flow.allowance(f, r.newUsersPerMinute, now, at.admitted, no_show)
    local admit = math.max(0, math.min(most, free, allowed))
    if admit == waiting then return admit, "line empty" end
    return admit, free <= allowed and "site full" or "rate"
  end

  -- How many of those waiting may be admitted at `now`, and the reason. What is admitted is recorded by
  -- `flow.give_turns`.
  function door.open(r, at, f, now)
    return opening(r, at, at.waiting, f, now)
  end

  -- True when a newcomer may go straight through: nobody is waiting, and the door would let one in.
  function door.is_open(r, at, f, now)
    return at.waiting == 0 and door.is_room_for_one(r, at, f, now)
  end

  -- True when the door would let one in if nobody waited.
  function door.is_room_for_one(r, at, f, now)
    return opening(r, at, 1, f, now) == 1
  end

  -- True when a visit that was over may begin again; those who wait do not matter.
  function door.is_slot_free(r, at)
    if why_shut(r, at) then return false end
    return is_wide_open(r, at) or own_free(r, at) > 0
  end

  -- Why a newcomer gets no place when the door is not open; nil when they get one.
  function door.why_no_place(r, is_prequeue)
    if r.closed then return "closed" end
    return r.queueingMethod == "reject" and not is_prequeue and "rejected" or nil
  end

  -- True when someone with a firm turn may come in. Always, but where turns are given out on top, or where the
  -- rate was lowered since.
  function door.may_use_turn(r, at, f, now)
    if is_wide_open(r, at) then return true end
    local free = (r.totalActiveUsers or math.huge) - at.on_site
    if r.fillNoShows and free <= 0 then return false end
    return flow.entries_left(f, r.newUsersPerMinute, now) > 0
  end

  local function part(set, share)
    if set == nil then return nil end
    -- A hair of tolerance: 7% of a hundred is seven, whatever floating point says.
    return math.min(set, math.ceil(set * share - 1e-9))
  end

  -- The limits that hold, of those set, where adaptive limits stand at `share`: totalActiveUsers,
  -- newUsersPerMinute.
  function door.limits(r, share)
    if share == 1 or not r.adaptive then return r.totalActiveUsers, r.newUsersPerMinute end
    return part(r.totalActiveUsers, share), part(r.newUsersPerMinute, share)
  end
end
