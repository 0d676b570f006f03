-- What a missed turn costs. The same rule as core/missed-turns.ts, which says why.
local missed_turns = {}

do
  local STEPS = 16
  local GAP_MAX = STEPS - 1
  local BACK_MAX = 1000000000

  -- How many a place goes behind. `let_in`: turns given in its lane during its own; `missed`: with this one.
  function missed_turns.places_back(let_in, missed)
    return math.min(BACK_MAX, math.max(1, let_in) * 2 ^ (missed - 1))
  end

  function missed_turns.is_forfeited(missed, most)
    return missed >= most
  end

  -- The sequence that a place goes behind: of the `back`-th one living after it, or of the last. `size` is the
  -- length of its line, `ahead` how many of it are before the place, and at(rank) the one with `rank` before them.
  function missed_turns.to_follow(size, ahead, at, own, back)
    if size == 0 then return own end
    local rank = math.min(ahead + back, size) - 1
    if rank < 0 then return own end
    return math.max(own, at(rank))
  end

  -- A number behind `sequence` that nobody has. used(gap) tells what is noted of a gap, 0 at first, and
  -- note(gap, used) notes it.
  function missed_turns.next_number(sequence, used, note)
    local start = math.floor(sequence)
    local gap = start
    local count = used(gap)
    while count >= GAP_MAX do
      gap = gap + math.max(1, count - GAP_MAX)
      count = used(gap)
    end
    if gap > start then note(start, GAP_MAX + gap - start) end
    note(gap, count + 1)
    return gap + (count + 1) / STEPS
  end
end
