/**
 * How hard the proof of work is, in leading zero bits of a hash: the easiest while few join, then one bit more (twice the
 * work) for each doubling of the join rate, up to the hardest. When the crowd doubles, each visitor works twice as much, and
 * one computer that plays the whole crowd four times as much.
 */
export interface WorkRules {
  /** Bits while few join. */
  readonly easiest: number;
  readonly hardest: number;
  /** The join rate from which it gets harder. */
  readonly joinsPerSecond: number;
}

/** The bits that a newcomer must solve at this join rate. */
export function difficulty(rules: WorkRules, joinsPerSecond: number): number {
  const doublings = Math.floor(Math.log2(joinsPerSecond / rules.joinsPerSecond));
  return Math.min(rules.hardest, rules.easiest + Math.max(0, doublings));
}
