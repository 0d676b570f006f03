/**
 * All visitors: creates them, lets them arrive in time, and tells them of their turn. Those who listen to the node that reports a
 * turn learn of it at once, the others when they check in.
 */
import { diceOf, type Range } from "./dice.ts";
import type { EventLoop } from "./event-loop.ts";
import { Forger } from "./forger.ts";
import type { Traits } from "./traits.ts";
import { type Guest, SimVisitor, type VisitorWorld } from "./visitor.ts";

export interface SimCrowdOptions {
  readonly seed: number;
  readonly loop: EventLoop;
  /** How long the news of a turn takes to a visitor. */
  readonly delayMs: Range;
  readonly world: VisitorWorld;
}

export class SimCrowd {
  readonly all: Guest[] = [];
  readonly #options: SimCrowdOptions;
  readonly #bySequence = new Map<number, Guest>();

  constructor(options: SimCrowdOptions) {
    this.#options = options;
  }

  /** How many must still be admitted, including those who have not arrived yet. */
  get wanting(): number {
    return this.all.reduce((sum, { isWanting }) => sum + (isWanting ? 1 : 0), 0);
  }

  /** A visitor arrives at that instant. */
  expect(traits: Traits, at: number): Guest {
    const { seed, loop, world } = this.#options;
    const number = this.all.length;
    const parts = { traits, dice: diceOf(seed, "visitor", number), world };
    const guest = traits.kind === "forging" ? new Forger(number, parts) : new SimVisitor(number, parts);
    this.all.push(guest);
    loop.at(at, () => guest.arrive());
    return guest;
  }

  /** A visitor waits at their station with this place. */
  waitsAt(guest: Guest, sequence: number): void {
    if (guest.traits.isListening) this.#bySequence.set(sequence, guest);
  }

  /** A station reported turns. */
  hearTurns(station: number, sequences: readonly number[]): void {
    for (const sequence of sequences) {
      const guest = this.#bySequence.get(sequence);
      if (guest?.station !== station) continue;
      this.#bySequence.delete(sequence);
      this.#options.loop.after(this.#options.delayMs.to, () => guest.hearTurn());
    }
  }
}
