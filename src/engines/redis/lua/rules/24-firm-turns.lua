-- How long a turn is firm, which is learned. The same rule as core/firm-turns.ts, which says why.
--
-- `loose` is the smoothed share of turns that went loose, 0 at first.
local firm_turns = {}

do
  local FIRM_MS = 10000
  local FIRM_LEAST_MS = 1000
  local FIRM_AGAIN_MS = 5000
  -- What is learned is the mean of about this many turns.
  local SMOOTHED_OVER_TURNS = 6

  -- How long a turn that is given now is firm, under the rules `r`; 0: it is loose from the start. `has_returned`: its
  -- holder came before and found the site full; `has_missed`: they missed a turn before.
  function firm_turns.firm_ms(loose, r, has_returned, has_missed)
    local most_ms = math.min(FIRM_MS, r.claimWindowMs, r.sessionDurationMs)
    local learned_ms = math.max(FIRM_LEAST_MS, most_ms * (1 - loose))
    if has_returned then return math.min(most_ms, math.max(FIRM_AGAIN_MS, learned_ms)) end
    return has_missed and 0 or math.min(most_ms, learned_ms)
  end

  -- What is learned from a turn that was used, and from one that went loose.
  function firm_turns.used(loose)
    return loose - loose / SMOOTHED_OVER_TURNS
  end

  function firm_turns.loosened(loose)
    return loose + (1 - loose) / SMOOTHED_OVER_TURNS
  end
end
