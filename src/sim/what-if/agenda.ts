/**
 * What every visitor does next, soonest first. A visitor has one next step at a time; a new one replaces it, and the old entry
 * is skipped when it comes up. Steps of the same instant come in an order that depends only on earlier calls, so runs repeat.
 */
import { Deadlines } from "../../core/deadlines.ts";

const NEVER = Number.POSITIVE_INFINITY;

export class Agenda {
  readonly #steps = new Deadlines<number>();
  readonly #dueAt: Float64Array;

  constructor(visitors: number) {
    this.#dueAt = new Float64Array(visitors).fill(NEVER);
  }

  /** Sets a visitor's next step, in place of an earlier one. */
  put(visitor: number, at: number): void {
    this.#dueAt[visitor] = at;
    this.#steps.add(at, visitor);
  }

  /** The visitor has nothing more to do. */
  drop(visitor: number): void {
    this.#dueAt[visitor] = NEVER;
  }

  /** When the next step is due; infinite when there is none. */
  nextAt(): number {
    const steps = this.#steps;
    while (steps.size > 0 && this.#dueAt[steps.next!] !== steps.soonestAt) steps.takeDue(NEVER);
    return steps.soonestAt ?? NEVER;
  }

  /** Takes out the visitor whose step is due at `nextAt`. */
  take(): number {
    const visitor = this.#steps.takeDue(NEVER)!;
    this.#dueAt[visitor] = NEVER;
    return visitor;
  }
}
