-- No-shows: turns that nobody uses. Their share is learned, and what is to be expected of a turn by its age.
-- The same rule as core/no-shows.ts, which says why.
--
-- `n` is { used_at, missed }: shares of all turns, used in each of eight steps of the claim window, and not
-- at all. Together they are always 1.
local no_shows = {}

do
  -- Never more of the turns than this are taken for no-shows, nor are more than this of the capacity given on
  -- top.
  local NO_SHOWS_MAX = 0.5
  -- What is learned is the mean of about this many turns.
  local SMOOTHED_OVER_TURNS = 200
  -- Steps of the claim window by which ages are told apart.
  local AGE_STEPS = 8

  -- Filled anew by each call that needs it, so that none makes a table.
  local chances = {}

  local function step_of(age)
    return age > 0 and math.min(AGE_STEPS - 1, math.floor(age * AGE_STEPS)) + 1 or 1
  end

  local function fade(n)
    local kept = 1 - 1 / SMOOTHED_OVER_TURNS
    local used_at = n.used_at
    for step = 1, AGE_STEPS do used_at[step] = used_at[step] * kept end
    n.missed = n.missed * kept
  end

  -- For each step of the window: of the turns that got there, the share that will yet be used.
  local function find_chances(n)
    local used_at, missed = n.used_at, n.missed
    local later = 0
    for step = AGE_STEPS, 1, -1 do
      later = later + used_at[step]
      chances[step] = later + missed > 0 and later / (later + missed) or 1
    end
    chances[1] = math.max(chances[1], 1 - NO_SHOWS_MAX)
  end

  -- Nothing learned yet: every turn is expected to be used until its window ends.
  function no_shows.fresh()
    local used_at = {}
    for step = 1, AGE_STEPS do used_at[step] = step == AGE_STEPS and 1 or 0 end
    return { used_at = used_at, missed = 0 }
  end

  -- Of all turns, the share that nobody uses.
  function no_shows.share(n)
    return math.min(n.missed, NO_SHOWS_MAX)
  end

  -- A turn was used at this age: the part of its claim window that was over, 0 to 1.
  function no_shows.used(n, age)
    fade(n)
    local step = step_of(age)
    n.used_at[step] = n.used_at[step] + 1 / SMOOTHED_OVER_TURNS
  end

  -- A turn's claim window ended without its holder.
  function no_shows.missed(n)
    fade(n)
    n.missed = n.missed + 1 / SMOOTHED_OVER_TURNS
  end

  -- How many visitors are to be expected from the turns out, told by their ages.
  function no_shows.expected(n, ages)
    find_chances(n)
    local total = 0
    for i = 1, #ages do total = total + chances[step_of(ages[i])] end
    return total
  end

  -- How many more turns may be given, so that all who are expected fill the site. Without no-shows: the free
  -- slots. `filling` is { capacity, on_site, out, expected, share }.
  function no_shows.turns_to_give(filling)
    local capacity = filling.capacity
    local free = capacity - filling.on_site
    local to_fill = math.floor((free - filling.expected) / (1 - math.min(filling.share, NO_SHOWS_MAX)) + 1e-6)
    local on_top_max = math.floor(capacity * NO_SHOWS_MAX)
    return math.max(0, math.min(to_fill, free + on_top_max - filling.out))
  end
end
