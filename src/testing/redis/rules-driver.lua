-- Asks the rules of the door, which are put before this text, what a test wants to know, and tells their answers.
--
-- FCALL rules_driver 0 cases: a JSON list of cases, each { rules, calls }, each call { call, … }. The answer is one
-- line for each call, its values parted by tabs and numbers written so that they can be read back exactly. Each
-- case starts afresh; the calls of one are made in order, on the same state. A call that has the name of a function of
-- the rules tells what that function says; the others look at the state or change it.

-- Those who entered in a minute, as a plain table. An engine keeps them in Redis.
local queue = {}
queue.__index = queue

function queue:first()
  local entry = self[1]
  if entry then return entry.at, entry.count end
end

function queue:drop_first()
  table.remove(self, 1)
end

function queue:last_at()
  return self[#self] and self[#self].at
end

function queue:add_to_last(count)
  self[#self].count = self[#self].count + count
end

function queue:push(at, count)
  self[#self + 1] = { at = at, count = count }
end

local function fresh_flow()
  return {
    empty_at = -math.huge, last_minute = 0, back = 0, back_at = -math.huge, queue = setmetatable({}, queue),
  }
end

local function fresh_state()
  return {
    flow = fresh_flow(),
    loose = 0,
    gaps = {},
    no_shows = no_shows.fresh(),
    accounts = { {}, {} },
    pace = { admitted = {}, spent = {} },
  }
end

-- JSON has no word for endless: a budget that is not there is none.
local function at_of(c)
  c.at.budget_free = c.at.budget_free or math.huge
  return c.at
end

local function standing_of(c)
  return {
    waiting = c.waiting, wait_low = c.waitLow, reach = c.reach, poll_budget = c.pollBudget,
    ticket_ttl = c.ticketTtl, claim_window = c.claimWindow, is_wait_hidden = c.isWaitHidden,
  }
end

local calls = {}

calls["flow.allowance"] = function(state, c)
  return flow.allowance(state.flow, c.perMinute, c.now, c.firm, c.noShows)
end

calls["flow.entries_left"] = function(state, c)
  return flow.entries_left(state.flow, c.perMinute, c.now)
end

calls["flow.give_turns"] = function(state, c)
  flow.give_turns(state.flow, c.perMinute, c.count, c.now)
end

calls["flow.give_turns_back"] = function(state, c)
  flow.give_turns_back(state.flow, c.count, c.now)
end

calls["flow.enter"] = function(state, c)
  flow.enter(state.flow, c.count, c.now)
end

calls["firm_turns.used"] = function(state)
  state.loose = firm_turns.used(state.loose)
  return state.loose
end

calls["firm_turns.loosened"] = function(state)
  state.loose = firm_turns.loosened(state.loose)
  return state.loose
end

calls["firm_turns.firm_ms"] = function(state, c, rules)
  return firm_turns.firm_ms(state.loose, rules[c.rules], c.hasReturned, c.hasMissed)
end

calls["missed_turns.places_back"] = function(_, c)
  return missed_turns.places_back(c.letIn, c.missed)
end

calls["missed_turns.is_forfeited"] = function(_, c)
  return missed_turns.is_forfeited(c.missed, c.most)
end

calls["missed_turns.to_follow"] = function(_, c)
  local function at(rank)
    return c.living[rank + 1]
  end
  return missed_turns.to_follow(#c.living, c.ahead, at, c.own, c.back)
end

calls["missed_turns.next_number"] = function(state, c)
  return missed_turns.next_number(
    c.sequence,
    function(gap) return state.gaps[gap] or 0 end,
    function(gap, used) state.gaps[gap] = used end)
end

calls["flow.queue"] = function(state)
  local told = { state.flow.last_minute }
  for _, entry in ipairs(state.flow.queue) do
    told[#told + 1] = entry.at
    told[#told + 1] = entry.count
  end
  return unpack(told)
end

calls["no_shows.used"] = function(state, c)
  for _ = 1, c.times do no_shows.used(state.no_shows, c.age) end
end

calls["no_shows.missed"] = function(state, c)
  for _ = 1, c.times do no_shows.missed(state.no_shows) end
end

calls["no_shows.share"] = function(state)
  return no_shows.share(state.no_shows)
end

calls["no_shows.expected"] = function(state, c)
  return no_shows.expected(state.no_shows, c.ages)
end

local function learned(n)
  local told = { unpack(n.used_at) }
  told[#told + 1] = n.missed
  return unpack(told)
end

calls["no_shows.fresh"] = function()
  return learned(no_shows.fresh())
end

-- As after a restart: what was learned before.
calls["no_shows.restore"] = function(state, c)
  state.no_shows = { used_at = c.usedAt, missed = c.missed }
end

calls["no_shows.memo"] = function(state)
  return learned(state.no_shows)
end

calls["no_shows.turns_to_give"] = function(_, c)
  return no_shows.turns_to_give(c.filling)
end

calls["door.open"] = function(state, c, rules)
  return door.open(rules[c.rules], at_of(c), state.flow, c.now)
end

calls["door.is_open"] = function(state, c, rules)
  return door.is_open(rules[c.rules], at_of(c), state.flow, c.now)
end

calls["door.why_no_place"] = function(_, c, rules)
  return door.why_no_place(rules[c.rules], c.isPrequeue)
end

calls["door.may_use_turn"] = function(state, c, rules)
  return door.may_use_turn(rules[c.rules], at_of(c), state.flow, c.now)
end

calls["door.is_room_for_one"] = function(state, c, rules)
  return door.is_room_for_one(rules[c.rules], at_of(c), state.flow, c.now)
end

calls["door.is_slot_free"] = function(_, c, rules)
  return door.is_slot_free(rules[c.rules], at_of(c))
end

calls["door.rate_of_turns"] = function(_, c, rules)
  return door.rate_of_turns(rules[c.rules], c.share)
end

calls["door.limits"] = function(_, c, rules)
  return door.limits(rules[c.rules], c.share)
end

calls["budget.free"] = function(_, c)
  local told = {}
  for index = 1, #c.rooms do told[index] = budget.free(c.total, c.rooms, index) end
  return unpack(told)
end

calls["lanes.of"] = function(_, c, rules)
  return lanes.of(rules[c.rules], c.lane)
end

calls["lanes.share_of"] = function(_, c, rules)
  return lanes.share_of(rules[c.rules], c.lane)
end

calls["lanes.next"] = function(state, c, rules)
  local is_waiting = {}
  for _, lane in ipairs(c.waiting) do is_waiting[lane] = true end
  local function is_waiting_in(lane)
    return is_waiting[lane]
  end
  local told = {}
  for turn = 1, c.turns do told[turn] = lanes.next(state.accounts[c.room], rules[c.rules], is_waiting_in) end
  return unpack(told, 1, c.turns)
end

-- As after a restart, or in another call: the same accounts, kept elsewhere in between.
calls["lanes.reload"] = function(state, c)
  local accounts = {}
  for lane, account in pairs(state.accounts[c.room]) do
    accounts[lane] = { owed = account.owed, spared = account.spared }
  end
  state.accounts[c.room] = accounts
end

calls["lanes.memo"] = function(state, c)
  local accounts, known = state.accounts[c.room], {}
  for lane in pairs(accounts) do known[#known + 1] = lane end
  table.sort(known)
  local told = {}
  for _, lane in ipairs(known) do
    told[#told + 1] = lane
    told[#told + 1] = accounts[lane].owed
    told[#told + 1] = accounts[lane].spared
  end
  return unpack(told)
end

calls["lanes.ahead"] = function(_, c, rules)
  local waiting = {}
  for _, pair in ipairs(c.waiting) do waiting[pair[1]] = pair[2] end
  return lanes.ahead(rules[c.rules], function(lane) return waiting[lane] or 0 end, c.lane, c.ahead)
end

calls["pace.observe"] = function(state, c)
  pace.observe(state.pace, c.admitted, c.isLine, c.now)
end

calls["pace.bins"] = function(state)
  local told = { unpack(state.pace.admitted) }
  for _, spent in ipairs(state.pace.spent) do told[#told + 1] = spent end
  return unpack(told)
end

calls["pace.sums"] = function(state)
  local sums = pace.sums(state.pace)
  return sums.admitted, sums.spent, sums.bins
end

calls["pace.per_ms"] = function(state, c, rules)
  return pace.per_ms(pace.sums(state.pace), rules[c.rules])
end

calls["pace.wait_low"] = function(state, c, rules)
  return pace.wait_low(pace.sums(state.pace), rules[c.rules], c.ahead)
end

calls["pace.reach"] = function(state, c, rules)
  return pace.reach(pace.sums(state.pace), rules[c.rules], c.ahead)
end

calls["pacing.next_check_in"] = function(_, c)
  return pacing.next_check_in(standing_of(c), c.dice)
end

calls["pacing.opening_check_in"] = function(_, c)
  return pacing.opening_check_in(standing_of(c), c.opensIn, c.dice)
end

calls["pacing.lapse_deadline"] = function(_, c)
  return pacing.lapse_deadline(c.now, c.nextCheckIn, c.lapseAfter)
end

calls["pacing.claim_deadline"] = function(_, c)
  return pacing.claim_deadline(c.now, c.lapseAt, c.lapseAfter, c.claimWindow)
end

calls["pacing.with_turn"] = function(_, c)
  return pacing.with_turn(c.nextCheckIn)
end

calls["visits.held_until"] = function(_, c)
  return visits.held_until(c.at)
end

calls["visits.pass_end"] = function(_, c)
  return visits.pass_end(c.at)
end

calls["visits.last_pass_end"] = function(_, c, rules)
  return visits.last_pass_end(c.at, rules[c.rules], c.now)
end

calls["visits.resumed_until"] = function(_, c, rules)
  return visits.resumed_until(rules[c.rules], c.at, c.now)
end

calls["visits.next_try_at"] = function(_, c, rules)
  return visits.next_try_at(c.hasBegun, rules[c.rules], c.now)
end

calls["pacing.whole_tenth"] = function(_, c)
  return pacing.whole_tenth(c.at)
end

local function word(value)
  return type(value) == "number" and string.format("%.17g", value) or tostring(value)
end

local function line(...)
  local words = {}
  for i = 1, select("#", ...) do words[i] = word((select(i, ...))) end
  return table.concat(words, "\t")
end

redis.register_function("rules_driver", function(_, args)
  local lines = {}
  for _, case in ipairs(cjson.decode(args[1])) do
    local state = fresh_state()
    for _, c in ipairs(case.calls) do lines[#lines + 1] = line(calls[c.call](state, c, case.rules)) end
  end
  return table.concat(lines, "\n")
end)
