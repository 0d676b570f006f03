-- An even flow of admissions: at most `per_minute` in any minute, spread out and not in a burst at its start.
-- The same rule as core/flow.ts, which says why.
--
-- `f` is { empty_at, last_minute, queue }. `empty_at` is the instant at which the bucket was, or will be,
-- empty (-math.huge at first); `last_minute` is the sum of the queue. The queue holds the admissions of the
-- last minute, oldest first, those of one millisecond together: first() gives at and count, or nil;
-- drop_first(); last_at() gives an instant, or nil; add_to_last(count); push(at, count).
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

  -- How many more may be admitted at `now`; without a rate, any number.
  function flow.allowance(f, per_minute, now)
    if per_minute == nil then return math.huge end
    forget(f, now)
    local gap_ms = MINUTE_MS / per_minute
    local left_in_minute = math.max(0, math.floor(per_minute) - f.last_minute)
    -- Time during which the minute held people back is not saved up, or it would come out as a burst.
    local saved_max_ms = math.min(math.max(BURST_MS, gap_ms + TURN_MAX_MS), (left_in_minute + 1) * gap_ms)
    f.empty_at = math.max(f.empty_at, now - saved_max_ms)
    -- A hair of tolerance: sums of a gap that is not a whole number must not cost a visitor a turn.
    return math.max(0, math.min(math.floor((now - f.empty_at) / gap_ms + 1e-6), left_in_minute))
  end

  -- Records that `count` were admitted at `now`, after asking `allowance`.
  function flow.take(f, per_minute, count, now)
    if count == 0 then return end
    if per_minute ~= nil then f.empty_at = f.empty_at + (count * MINUTE_MS) / per_minute end
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
