/**
 * The known name nearest to a mistyped one. A name that differs only in case, underscores or hyphens is the same name
 * (`total_active_users` is how others write `totalActiveUsers`); otherwise the fewest slips of the finger win: a letter
 * added, left out, changed, or swapped with its neighbour (the Damerau-Levenshtein distance, with no letter touched
 * twice).
 */
const NAME_CHARACTERS_MAX = 64;
const SLIPS_MAX = 3;
const WORD_CHARACTERS_MIN = 2;

/** The nearest of `known`, or null when none is near. */
export function nearest(name: string, known: readonly string[]): string | null {
  if (name.length > NAME_CHARACTERS_MAX) return null;
  const wanted = plain(name);
  const same = known.find((candidate) => plain(candidate) === wanted);
  if (same) return same;
  const slipsMax = Math.min(SLIPS_MAX, Math.floor(wanted.length / 3));
  let best: { candidate: string; slips: number } | null = null;
  for (const candidate of known) {
    const other = plain(candidate);
    if (Math.abs(other.length - wanted.length) > slipsMax) continue;
    const slips = countSlips(wanted, other);
    if (slips <= slipsMax && slips < (best?.slips ?? Number.POSITIVE_INFINITY)) best = { candidate, slips };
  }
  return best?.candidate ?? null;
}

/** Those of `known` that begin with `name` as whole words: `ca` is how people cut `caFile` short. */
export function longerNames(name: string, known: readonly string[]): string[] {
  const wanted = plain(name);
  if (wanted.length < WORD_CHARACTERS_MIN || name.length > NAME_CHARACTERS_MAX) return [];
  return known.filter(
    (candidate) => plain(candidate).startsWith(wanted) && /^[A-Z]/.test(candidate.slice(wanted.length)),
  );
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_\-\s]/g, "");
}

/** The fewest single-letter slips that turn `a` into `b`. */
export function countSlips(a: string, b: string): number {
  let twoBack: number[] = [];
  let oneBack = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = oneBack[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let slips = Math.min(oneBack[j]! + 1, row[j - 1]! + 1, changed);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) slips = Math.min(slips, twoBack[j - 2]! + 1);
      row.push(slips);
    }
    twoBack = oneBack;
    oneBack = row;
  }
  return oneBack[b.length]!;
}
