-- An even flow of visitors: at most `per_minute` enter in any minute, and turns are spread out. The same rule as
-- core/flow.ts, which says why.
--
-- `f` is { empty_at, last_minute, back, back_at, queue }. `empty_at` is the instant at which the bucket was, or
-- will be, empty (-math.huge at first); `last_minute` is the sum of the queue; `back` are turns given back, the
-- latest at `back_at` (0 and -math.huge at first). The queue holds those who entered in the last minute, oldest
-- first, those of one millisecond together: first() gives at and count, or nil; drop_first(); last_at() gives an
-- instant, or nil; add_to_last(count); push(at, count).
--
-- Here and in the other files nothing of `math` is kept in a local outside functions: Redis 7.0 has no such
-- libraries while it loads this text, only when a function is called.
local flow = {}

do
  local MINUTE_MS = 60000
  local BURST_MS = 2000
  -- The door turns at least this often: time between a gap's end and the next turn is not lost.
  local TURN_MAX_MS = 1000

  local function forget(f, now)
    local queue = f.queue
    local at, count = queue:first()
    while at and at <= now - MINUTE_MS do
      f.last_minute = f.last_minute - count
      queue:drop_first()
      at, count = queue:first()
    end
  end

  local function turns_back(f, now)
    return f.back_at + BURST_MS < now and 0 or f.back
  end

  -- How many more may enter in the minute up to `now`; without a rate, any number.
  function flow.entries_left(f, per_minute, now)
    if per_minute == nil then return math.huge end
    forget(f, now)
    return math.max(0, math.floor(per_minute) - f.last_minute)
  end

  -- How many more turns may be given at `now`, with `firm` of them out and a share `no_show` that nobody uses;
  -- without a rate, any number.
  function flow.allowance(f, per_minute, now, firm, no_show)
    if per_minute == nil then return math.huge end
    local gap_ms = (MINUTE_MS / per_minute) * (1 - no_show)
    -- A hair of tolerance: sums of a gap that is not a whole number must not cost a visitor a turn.
    local to_fill = math.floor(flow.entries_left(f, per_minute, now) / (1 - no_show) + 1e-6)
    local left_in_minute = math.max(0, to_fill - firm)
    -- Time during which the minute held people back is not saved up, or it would come out as a burst.
    local saved_max_ms = math.min(math.max(BURST_MS, gap_ms + TURN_MAX_MS), (left_in_minute + 1) * gap_ms)
    f.empty_at = math.max(f.empty_at, now - saved_max_ms)
    local spaced = math.floor((now - f.empty_at) / gap_ms + 1e-6)
    return math.max(0, math.min(spaced + turns_back(f, now), left_in_minute))
  end

  -- Records that `count` got a turn, after asking `allowance`.
  function flow.give_turns(f, per_minute, count, now)
    if per_minute == nil then return end
    local again = math.min(turns_back(f, now), count)
    f.back = f.back - again
    f.empty_at = f.empty_at + ((count - again) * MINUTE_MS) / per_minute
  end

  -- `count` turns were not used: as many may be given again.
  function flow.give_turns_back(f, count, now)
    f.back = turns_back(f, now) + count
    f.back_at = now
  end

  -- Records that `count` entered at `now`.
  function flow.enter(f, count, now)
    if count == 0 then return end
    forget(f, now)
    f.last_minute = f.last_minute + count
    local queue = f.queue
    if queue:last_at() == now then
      queue:add_to_last(count)
    else
      queue:push(now, count)
    end
  end
end
