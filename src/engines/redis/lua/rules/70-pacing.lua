-- When a waiting visitor should check in next, so that the whole room costs no more than its poll budget. The
-- same rule as core/pacing.ts, which says why.
--
-- `standing` is { waiting, wait_low, reach, poll_budget, ticket_ttl, claim_window, is_wait_hidden }: how many wait
-- in the room, the low end of this visitor's wait in milliseconds (nil: nobody knows), the shortest wait to reckon
-- with, check-ins a second that the room may cost, a ticket's life and the claim window in milliseconds, and
-- whether nobody may know the wait; then `reach` is 0. `dice` in [0, 1) is the jitter.
local pacing = {}

do
  -- Someone who comes with a turn that cannot be used at once looks again this soon.
  local TURN_IN_HAND_MS = 2000
  local NEAR_MS = 2000
  -- The longest someone within reach of the door is kept between check-ins.
  local NEAR_MAX_MS = 5000
  -- A wait at least this short is "within reach".
  local REACH_MS = 8000
  local FAR_MAX_MS = 60000
  local UNKNOWN_WAIT_MS = 40000
  -- Check-ins over a visitor's remaining wait: one in each quarter of it.
  local CHECKS_PER_WAIT = 4
  -- A turn is heard of within this share of its claim window.
  local HEARD_SHARE = 0.5
  local JITTER = 0.2
  -- Deadlines are kept in tenths of a second.
  local DEADLINE_STEP_MS = 100

  -- As Math.round does it: adding a half first would take the number just below a half for one.
  local function round(value)
    local whole = math.floor(value)
    return value - whole < 0.5 and whole or whole + 1
  end

  -- The longest that someone may stay away without missing a turn, even one that comes four times as soon as
  -- told.
  local function heard_within(standing)
    return standing.claim_window * HEARD_SHARE + standing.reach / CHECKS_PER_WAIT
  end

  -- By the poll budget alone, the same for everyone in the line.
  local function hidden_check_in(standing, dice)
    local by_budget_ms = (standing.waiting / standing.poll_budget) * 1000
    local period_ms = math.min(math.max(by_budget_ms, NEAR_MAX_MS), standing.ticket_ttl / 2 / (1 + JITTER))
    return round(period_ms * (1 + JITTER * dice))
  end

  -- Milliseconds until this visitor's next check-in.
  function pacing.next_check_in(standing, dice)
    if standing.is_wait_hidden then return hidden_check_in(standing, dice) end
    local wait_ms = standing.wait_low or UNKNOWN_WAIT_MS
    local by_budget_ms = (standing.waiting / standing.poll_budget) * 1000
    local wished_ms = math.min(math.max(wait_ms / CHECKS_PER_WAIT, NEAR_MS), FAR_MAX_MS)
    -- Neither a place nor a turn may run out between two check-ins, whatever the budget says.
    local near_ms = wait_ms <= REACH_MS and NEAR_MAX_MS or standing.ticket_ttl / 2
    local most_ms = math.min(near_ms, heard_within(standing))
    local period_ms = math.min(math.max(wished_ms, by_budget_ms), most_ms / (1 + JITTER))
    return round(period_ms * (1 + JITTER * dice))
  end

  -- The same before an event opens: everyone comes back soon after that, and no sooner than the budget lets
  -- them, so that the last of them is seen when they would all have come once.
  function pacing.opening_check_in(standing, opens_in_ms, dice)
    local heard_ms = heard_within(standing)
    local first_ms = math.min(NEAR_MS, heard_ms / 2)
    local by_budget_ms = (standing.waiting / standing.poll_budget) * 1000
    local spread_ms = math.min(math.max(NEAR_MS, by_budget_ms), heard_ms - first_ms)
    local soon_ms = math.max(0, opens_in_ms) + first_ms + dice * spread_ms
    return round(math.min(pacing.next_check_in(standing, dice), soon_ms))
  end

  -- Rounds a deadline up to the tenth of a second that engines keep.
  function pacing.whole_tenth(at)
    return math.ceil(at / DEADLINE_STEP_MS) * DEADLINE_STEP_MS
  end

  -- Until when a turn given now may be used by someone who is waited for until `lapse_at`: a visitor who comes when
  -- told never misses a turn.
  function pacing.claim_deadline(now, lapse_at, lapse_after, claim_window)
    local expected_at = lapse_at - lapse_after
    return pacing.whole_tenth(math.max(now + claim_window, expected_at + claim_window * HEARD_SHARE))
  end

  -- Until when a visitor told to come back in `next_check_in` is waited for.
  function pacing.lapse_deadline(now, next_check_in, lapse_after)
    return pacing.whole_tenth(now + next_check_in + lapse_after)
  end

  -- When to come back with a turn that cannot be used at once, or with the next one to come: no later than others.
  function pacing.with_turn(next_check_in)
    return math.min(next_check_in, TURN_IN_HAND_MS)
  end
end
