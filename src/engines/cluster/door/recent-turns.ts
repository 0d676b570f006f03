/**
 * Turns of a room by the round in which they were given, to count how many were admitted since a given turn. The turns of one
 * round were given at the same instant of the root's clock, in the order of their numbers; with random order, and on a lone node,
 * in the order reported.
 */
/** Older turns are forgotten: no turn is valid for so long. */
const KEPT_MS = 1_800_000;
const KEPT_MAX = 1_000_000;

interface GivenAt {
  readonly at: number;
  readonly sequences: number[];
}

export class RecentTurns {
  /** By lane, the latest round last. */
  readonly #rounds = new Map<number, GivenAt[]>();
  #size = 0;

  note(lane: number, at: number, sequence: number): void {
    let rounds = this.#rounds.get(lane);
    if (!rounds) {
      rounds = [];
      this.#rounds.set(lane, rounds);
    }
    this.#size++;
    // Other nodes' turns of a round arrive a little late.
    let index = rounds.length;
    while (index > 0 && rounds[index - 1]!.at > at) index--;
    const round = rounds[index - 1];
    if (round?.at === at) round.sequences.push(sequence);
    else rounds.splice(index, 0, { at, sequences: [sequence] });
  }

  /** How many turns were given in a lane after this one. */
  after(lane: number, turn: { readonly at: number; readonly sequence: number }, isAsTold: boolean): number {
    const rounds = this.#rounds.get(lane) ?? [];
    let count = 0;
    for (let index = rounds.length - 1; index >= 0 && rounds[index]!.at >= turn.at; index--) {
      const { at, sequences } = rounds[index]!;
      if (at > turn.at) count += sequences.length;
      else if (isAsTold) count += sequences.length - 1 - sequences.lastIndexOf(turn.sequence);
      else for (const sequence of sequences) if (sequence > turn.sequence) count++;
    }
    return count;
  }

  forget(now: number): void {
    for (const rounds of this.#rounds.values()) {
      let gone = 0;
      while (gone < rounds.length && (rounds[gone]!.at < now - KEPT_MS || this.#size > KEPT_MAX))
        this.#size -= rounds[gone++]!.sequences.length;
      if (gone > 0) rounds.splice(0, gone);
    }
  }
}
