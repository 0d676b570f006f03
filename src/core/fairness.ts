/**
 * How fair a room was, as one number: the normalised Kendall tau distance between two orders, here the order of
 * joining and the order of admission. 0: the same order. 1: exactly reversed. It is the share of comparable pairs
 * that stand the wrong way round.
 *
 * A pair that is tied in either order is not comparable: neither overtook the other. Knight (1966) counts the rest by merge
 * sort in O(n log n).
 */

/** One visitor's two instants or ranks. */
export interface Turn {
  readonly joined: number;
  readonly admitted: number;
}

/** Share of comparable pairs in which the later to join was the earlier to be admitted. 0 when no pair compares. */
export function unfairness(turns: readonly Turn[]): number {
  const sorted = [...turns].sort((a, b) => a.joined - b.joined || a.admitted - b.admitted);
  const pairs = pairCount(sorted.length);
  const tiedJoined = tiedPairs(sorted, (a, b) => a.joined === b.joined);
  const tiedBoth = tiedPairs(sorted, (a, b) => a.joined === b.joined && a.admitted === b.admitted);
  const admitted = Float64Array.from(sorted, (turn) => turn.admitted);
  const discordant = countInversions(admitted);
  const tiedAdmitted = tiedPairs(admitted, (a, b) => a === b);
  const comparable = pairs - tiedJoined - tiedAdmitted + tiedBoth;
  return comparable === 0 ? 0 : discordant / comparable;
}

/** Counts pairs that stand the wrong way round, and sorts the array. Equal values are no inversion. */
function countInversions(values: Float64Array): number {
  let from: Float64Array = values;
  let to: Float64Array = new Float64Array(values.length);
  let inversions = 0;
  for (let width = 1; width < values.length; width *= 2) {
    for (let start = 0; start < values.length; start += 2 * width) {
      inversions += merge(from, to, start, width);
    }
    [from, to] = [to, from];
  }
  if (from !== values) values.set(from);
  return inversions;
}

function merge(from: Float64Array, to: Float64Array, start: number, width: number): number {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(start + 2 * width, from.length);
  let left = start;
  let right = middle;
  let inversions = 0;
  for (let i = start; i < end; i++) {
    if (left < middle && (right >= end || from[left]! <= from[right]!)) {
      to[i] = from[left++]!;
    } else {
      to[i] = from[right++]!;
      inversions += middle - left;
    }
  }
  return inversions;
}

function pairCount(n: number): number {
  return (n * (n - 1)) / 2;
}

/** Pairs inside runs of neighbours that are tied. The list is sorted so that ties are neighbours. */
function tiedPairs<T>(list: ArrayLike<T>, isTied: (a: T, b: T) => boolean): number {
  let total = 0;
  let run = 1;
  for (let i = 1; i <= list.length; i++) {
    if (i < list.length && isTied(list[i - 1]!, list[i]!)) run++;
    else {
      total += pairCount(run);
      run = 1;
    }
  }
  return total;
}
