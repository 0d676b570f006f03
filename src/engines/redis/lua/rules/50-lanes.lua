-- Lanes: whose turn is next when a room has several lines side by side, and what that means for one place.
-- The same rules as core/lanes.ts, which says why.
--
-- `rules` is { order, othersShare, named }, the foremost lane first; everybody's lane, 0, comes after the
-- named ones. `accounts` has an account { owed, spared } under each lane's number: `owed`, where lanes are
-- weighted, is in turns that it is short of its part; `spared`, where the order is strict, is in hundredths
-- of the next turn that it leaves to those behind it.
local lanes = {}

do
  local EVERYBODY = 0
  -- The number of turns that shares are of.
  local WHOLE = 100
  local HALF = 50
  -- A lane without any share would never be served.
  local SHARE_MIN = 1
  -- Sums of parts that are no whole numbers must not decide whose turn it is. In turns.
  local TOLERANCE = 1e-9

  -- What was followed last, foremost lane first. Turns are given many at a time, under the same rules.
  local followed_accounts, followed_rules
  local lane_count = 0
  local numbers, shares, is_waiting_in = {}, {}, {}

  -- Lanes that stay keep their accounts. These are in turns, so they mean the same under other shares.
  local function follow(accounts, rules)
    local named = rules.named
    lane_count = #named + 1
    for i = 1, lane_count do
      local lane = named[i] and named[i].number or EVERYBODY
      numbers[i] = lane
      shares[i] = lanes.share_of(rules, lane)
      if accounts[lane] == nil then accounts[lane] = { owed = 0, spared = HALF } end
    end
    for lane in pairs(accounts) do
      if lanes.of(rules, lane) ~= lane then accounts[lane] = nil end
    end
    followed_accounts, followed_rules = accounts, rules
  end

  local function next_strict(accounts, others_share)
    local last = lane_count
    while last > 0 and not is_waiting_in[last] do last = last - 1 end
    if last == 0 then return nil end
    for i = 1, last - 1 do
      if is_waiting_in[i] then
        local account = accounts[numbers[i]]
        account.spared = account.spared + others_share
        if account.spared < WHOLE then return numbers[i] end
        account.spared = account.spared - WHOLE
      end
    end
    return numbers[last]
  end

  local function next_weighted(accounts)
    local waiting_share, paying_share, owed = 0, 0, 0
    for i = 1, lane_count do
      local account = accounts[numbers[i]]
      if is_waiting_in[i] then
        waiting_share = waiting_share + shares[i]
        owed = owed + account.owed
      elseif account.owed < 0 then
        paying_share = paying_share + shares[i]
      end
    end
    if waiting_share == 0 then return nil end
    -- When those who wait are together ahead of their parts, lanes that were owed a turn have emptied. Nobody
    -- is there to get it, so time goes on to where they are not ahead: then at least one of them is eligible.
    local skipped = math.max(0, -owed / waiting_share)
    local passed = skipped + 1 / (waiting_share + paying_share)
    local first, first_due = nil, math.huge
    for i = 1, lane_count do
      local account, share, is_waiting = accounts[numbers[i]], shares[i], is_waiting_in[i]
      local owed_now = account.owed + share * skipped
      local due = (1 - owed_now) / share
      if is_waiting and owed_now >= -TOLERANCE and due < first_due - TOLERANCE then
        first, first_due = numbers[i], due
      end
      local owed_after = account.owed + share * passed
      account.owed = is_waiting and owed_after or math.min(0, owed_after)
    end
    if first then accounts[first].owed = accounts[first].owed - 1 end
    return first
  end

  -- The lane that gets this turn; nil when nobody waits. Each call is a turn given. `is_waiting(lane)` tells
  -- where people wait who may be let in.
  function lanes.next(accounts, rules, is_waiting)
    if accounts ~= followed_accounts or rules ~= followed_rules then follow(accounts, rules) end
    for i = 1, lane_count do is_waiting_in[i] = is_waiting(numbers[i]) end
    if rules.order == "strict" then return next_strict(accounts, rules.othersShare) end
    return next_weighted(accounts)
  end

  -- The lane a ticket counts in: its own, or everybody's where the rules no longer know it.
  function lanes.of(rules, lane)
    local named = rules.named
    for i = 1, #named do
      if named[i].number == lane then return lane end
    end
    return EVERYBODY
  end

  -- Of a hundred turns, while people wait in every lane. Everybody's lane has what the named ones leave.
  function lanes.share_of(rules, lane)
    local named = rules.named
    local left = WHOLE
    for i = 1, #named do
      if named[i].number == lane then return math.max(SHARE_MIN, named[i].share) end
      left = left - named[i].share
    end
    return math.max(SHARE_MIN, left)
  end

  -- As Math.round does it: adding a half first would take the number just below a half for one.
  local function round(value)
    local whole = math.floor(value)
    return value - whole < 0.5 and whole or whole + 1
  end

  -- Where a lane stands among the named ones; after all of them for everybody's.
  local function index_of(named, lane)
    for i = 1, #named do
      if named[i].number == lane then return i end
    end
    return #named + 1
  end

  local function ahead_strict(rules, waiting_in, lane, ahead)
    local named, others_share = rules.named, rules.othersShare
    local index = index_of(named, lane)
    local behind = index <= #named and waiting_in(EVERYBODY) or 0
    for i = index + 1, #named do behind = behind + waiting_in(named[i].number) end
    -- The turn in which this lane has had `ahead` and is not sending the next one on.
    local turn = math.floor((WHOLE * ahead + HALF) / (WHOLE - others_share))
    local before = ahead + math.min(behind, turn - ahead)
    for i = index - 1, 1, -1 do
      -- The turn in which a lane before sends on for the time after `before`.
      local sent_on = math.ceil((WHOLE * (before + 1) - HALF) / others_share)
      before = before + math.min(waiting_in(named[i].number), sent_on - before - 1)
    end
    return before
  end

  -- By the middle of the time between the turn before and this one's deadline.
  local function ahead_weighted(rules, waiting_in, lane, ahead)
    local named = rules.named
    local time = (ahead + 0.5) / lanes.share_of(rules, lane)
    local others = 0
    if lane ~= EVERYBODY then
      others = math.min(waiting_in(EVERYBODY), time * lanes.share_of(rules, EVERYBODY))
    end
    for i = 1, #named do
      local number = named[i].number
      if number ~= lane then
        others = others + math.min(waiting_in(number), time * lanes.share_of(rules, number))
      end
    end
    return ahead + round(others)
  end

  -- How many living tickets of all lanes are admitted before the place in `lane` with `ahead` before it
  -- there, if nobody else comes. `waiting_in(lane)` tells how many wait in a lane. The counterpart of
  -- aheadInLanes.
  function lanes.ahead(rules, waiting_in, lane, ahead)
    local own = lanes.of(rules, lane)
    if rules.order == "strict" then return ahead_strict(rules, waiting_in, own, ahead) end
    return ahead_weighted(rules, waiting_in, own, ahead)
  end
end
