-- When a waiting visitor should check in next, so that the whole room costs no more than its poll budget. The
-- same rule as core/pacing.ts, which says why.
--
-- `standing` is { waiting, wait_low, poll_budget, ticket_ttl }: how many wait in the room, the low end of
-- this visitor's wait in milliseconds (nil: nobody knows), check-ins a second that the room may cost, and a
-- ticket's life in milliseconds. `dice` in [0, 1) is the jitter.
local pacing = {}

do
  local NEAR_MS = 2000
  -- The longest someone within reach of the door is kept between check-ins.
  local NEAR_MAX_MS = 5000
  -- A wait at least this short is "within reach".
  local REACH_MS = 8000
  local FAR_MAX_MS = 60000
  local UNKNOWN_WAIT_MS = 40000
  -- Check-ins over a visitor's remaining wait: one in each quarter of it.
  local CHECKS_PER_WAIT = 4
  local JITTER = 0.2
  -- Deadlines are kept in tenths of a second.
  local DEADLINE_STEP_MS = 100

  -- As Math.round does it: adding a half first would take the number just below a half for one.
  local function round(value)
    local whole = math.floor(value)
    return value - whole < 0.5 and whole or whole + 1
  end

  -- Milliseconds until this visitor's next check-in.
  function pacing.next_check_in(standing, dice)
    local wait_ms = standing.wait_low or UNKNOWN_WAIT_MS
    local by_budget_ms = (standing.waiting / standing.poll_budget) * 1000
    local wished_ms = math.min(math.max(wait_ms / CHECKS_PER_WAIT, NEAR_MS), FAR_MAX_MS)
    -- A place must not run out between two check-ins, whatever the budget says.
    local most_ms = wait_ms <= REACH_MS and NEAR_MAX_MS or standing.ticket_ttl / 2
    local period_ms = math.min(math.max(wished_ms, by_budget_ms), most_ms / (1 + JITTER))
    return round(period_ms * (1 + JITTER * dice))
  end

  -- The same before an event opens: everyone comes back soon after that, and no sooner than the budget lets
  -- them, so that the last of them is seen when they would all have come once.
  function pacing.opening_check_in(standing, opens_in_ms, dice)
    local spread_ms = math.max(NEAR_MS, (standing.waiting / standing.poll_budget) * 1000)
    local after_opening_ms = math.max(0, opens_in_ms) + NEAR_MS + dice * spread_ms
    return round(math.min(pacing.next_check_in(standing, dice), after_opening_ms))
  end

  -- Rounds a deadline up to the tenth of a second that engines keep.
  function pacing.whole_tenth(at)
    return math.ceil(at / DEADLINE_STEP_MS) * DEADLINE_STEP_MS
  end

  -- Until when a visitor told to come back in `next_check_in` is waited for.
  function pacing.lapse_deadline(now, next_check_in, lapse_after)
    return pacing.whole_tenth(now + next_check_in + lapse_after)
  end
end
