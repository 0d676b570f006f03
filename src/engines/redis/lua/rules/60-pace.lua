-- The door's speed and the shortest wait to reckon with, from what was measured lately and what the rules promise.
-- The same rule as core/eta.ts, which says why.
--
-- `p` is { admitted, spent, last_at }: admissions, and the milliseconds they took, in bins of some seconds,
-- oldest first. `s` is the same added up by `pace.sums`, once a turn: { admitted, spent, bins, doubt }.
local pace = {}

do
  local BIN_MS = 5000
  local BINS_MAX = 24
  local BINS_MIN = 3
  -- At first the rules' promise counts as much as this long of measuring, after `PROMISE_BINS` only a tenth
  -- of it.
  local PROMISE_WEIGHT_MS = 15000
  local PROMISE_BINS = 12
  local PROMISE_LEAST = 0.1
  -- A set rate is kept as long as the site has room; how long people stay is not known.
  local RATE_DOUBT = 0.2
  local SLOTS_DOUBT = 0.5
  local LEAST_DOUBT = 0.08
  local DOUBT_MAX = 1.2
  -- The 10th and 90th percentile of a normal distribution lie this many deviations out.
  local TENTH_DEVIATIONS = 1.2816
  -- Steps of the line to each doubling of it, as a power of two; the first doublings go by single places.
  local STEP_BITS = 6

  -- One turn of the door. Time without a line, or while held, says nothing about its speed and is left out.
  function pace.observe(p, admitted, is_line, now)
    local spent_ms = p.last_at and now - p.last_at or 0
    p.last_at = now
    if not is_line and admitted == 0 then return end
    local last = #p.spent
    if last == 0 or p.spent[last] >= BIN_MS then
      p.admitted[last + 1] = admitted
      p.spent[last + 1] = spent_ms
    else
      p.admitted[last] = p.admitted[last] + admitted
      p.spent[last] = p.spent[last] + spent_ms
    end
    if #p.admitted > BINS_MAX then
      table.remove(p.admitted, 1)
      table.remove(p.spent, 1)
    end
  end

  -- Relative standard error of the measured speed, from how much the bins differ; nil while there are too
  -- few.
  local function spread_of_bins(admitted, total)
    local bins = #admitted
    if bins < BINS_MIN then return nil end
    local mean = total / bins
    if mean == 0 then return DOUBT_MAX end
    local squares = 0
    for i = 1, bins do squares = squares + (admitted[i] - mean) * (admitted[i] - mean) end
    return math.sqrt(squares / (bins - 1) / bins) / mean
  end

  -- What was measured, added up.
  function pace.sums(p)
    local admitted, spent = 0, 0
    for i = 1, #p.admitted do
      admitted = admitted + p.admitted[i]
      spent = spent + p.spent[i]
    end
    local doubt = spread_of_bins(p.admitted, admitted)
    return { admitted = admitted, spent = spent, bins = #p.admitted, doubt = doubt }
  end

  -- While nobody is let in, nobody can say how long that will be.
  local function is_held(r)
    return r.paused or r.queueAll or r.closed
  end

  -- What the rules alone let through, a millisecond, and the doubt about it: the set rate, or every slot once
  -- a session, whichever is less. nil without either.
  local function promise(r)
    local by_rate = r.newUsersPerMinute and r.newUsersPerMinute / 60000 or math.huge
    local by_slots = r.totalActiveUsers and r.totalActiveUsers / r.sessionDurationMs or math.huge
    local per_ms = math.min(by_rate, by_slots)
    if per_ms == math.huge then return nil end
    return per_ms, by_rate <= by_slots and RATE_DOUBT or SLOTS_DOUBT
  end

  -- Visitors a millisecond, blending what was measured with what the rules promise.
  function pace.per_ms(s, r)
    local promised = promise(r)
    local trust = math.max(PROMISE_LEAST, 1 - s.bins / PROMISE_BINS)
    local weight = promised and PROMISE_WEIGHT_MS * trust or 0
    if s.spent + weight == 0 then return 0 end
    return (s.admitted + (promised or 0) * weight) / (s.spent + weight)
  end

  -- Relative doubt about the speed: the promise's at first, then what was measured, with less and less of the
  -- promise.
  local function doubt_of(s, r)
    local _, promised = promise(r)
    promised = promised or SLOTS_DOUBT
    if s.doubt == nil then return promised end
    return math.max(LEAST_DOUBT, s.doubt + promised / s.bins)
  end

  -- The low end of the wait of someone with `ahead` before them, once the door is open. Worked out in steps of
  -- about a hundredth of the line, as core does.
  local function low_once_open(s, r, ahead)
    local per_ms = pace.per_ms(s, r)
    if per_ms <= 0 then return nil end
    local _, bits = math.frexp(ahead + 1)
    local shift = math.max(0, bits - STEP_BITS - 1)
    local width = math.ldexp(1, shift)
    local turns = math.floor((ahead + 1) / width) * width + math.floor(width / 2)
    local doubt = doubt_of(s, r)
    local factor = math.exp(TENTH_DEVIATIONS * math.min(math.sqrt(doubt * doubt + 1 / turns), DOUBT_MAX))
    return turns / per_ms / factor
  end

  -- The low end of the wait of someone with `ahead` before them, in milliseconds; nil while nothing can be said.
  function pace.wait_low(s, r, ahead)
    if is_held(r) then return nil end
    return low_once_open(s, r, ahead)
  end

  -- The shortest wait to reckon with, in milliseconds, also while the door is held: it may open at any moment.
  -- The set rate is never exceeded. Of a full site everyone may leave at once, so only those beyond that many
  -- have to wait for visits to end. Without either limit it follows the poll budget.
  function pace.reach(s, r, ahead)
    local per_minute, slots = r.newUsersPerMinute, r.totalActiveUsers
    if not per_minute and not slots then return (ahead / r.pollBudgetPerSecond) * 1000 end
    local by_rate = per_minute and (ahead / per_minute) * 60000 or 0
    if not slots or ahead <= slots then return by_rate end
    local by_slots = low_once_open(s, r, ahead - slots - 1)
    return math.max(by_rate, by_slots or 0)
  end
end
