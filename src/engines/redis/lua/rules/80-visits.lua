-- Until when visits last, and when they may begin again. The same rules as core/pass.ts and core/resumes.ts, which
-- say why. `r` are a room's rules.
local visits = {}

do
  -- A slot is held this long past its pass, because presence is reported in batches.
  local PRESENCE_GRACE_MS = 2000
  -- A visitor with a spent pass who found no slot is not looked for one again within this time.
  local RETRY_MS = 1000

  -- Until when the slot of a visit is held whose pass runs out then, and when its pass runs out whose slot is held until then.
  function visits.held_until(expires_at)
    return expires_at + PRESENCE_GRACE_MS
  end

  function visits.pass_end(held_until)
    return held_until - PRESENCE_GRACE_MS
  end

  -- When the last pass of a visit that is ended now is good for nothing any more.
  function visits.last_pass_end(known_end, r, now)
    return math.max(known_end, now + r.sessionDurationMs) + (r.formGraceMs or 0) + PRESENCE_GRACE_MS
  end

  -- Until when a visit lasts that begins again after its pass ran out; not after now when it may not.
  function visits.resumed_until(r, admitted_at, now)
    local from = r.disableSessionRenewal and admitted_at + r.formGraceMs or now
    return from + r.sessionDurationMs
  end

  -- When the next try counts of someone whose visit began again at `now`, or found no slot.
  function visits.next_try_at(has_begun, r, now)
    return now + math.max(RETRY_MS, has_begun and (r.formGraceMs or 0) or 0)
  end
end
