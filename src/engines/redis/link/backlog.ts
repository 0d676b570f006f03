/**
 * Calls that wait until they can be sent, so that order is kept: first those that Redis refused without doing anything,
 * in the order in which they were sent, then those that were made meanwhile.
 */
import type { Call } from "./call.ts";
import { type Asked, NoAnswerError, problemOf, type RedisProblem, refusalFor } from "./problem.ts";

export class Backlog {
  readonly #refused: Call[] = [];
  readonly #held: Call[] = [];

  get size(): number {
    return this.#refused.length + this.#held.length;
  }

  /** Takes a call that was refused and is to be sent again. */
  takeBack(call: Call): void {
    this.#refused.push(call);
  }

  /** Takes a call that was not sent yet. */
  hold(call: Call): void {
    this.#held.push(call);
  }

  /** Sends all in order, but those whose time is up. */
  send(send: (call: Call) => void, now: number, asked: Asked): void {
    for (const call of this.#inOrder()) {
      if (call.dueAt > now) send(call);
      else call.reject(refusalFor(problemOf(new NoAnswerError(call.timeoutMs), asked)));
    }
  }

  /** Rejects all: none of them was carried out. */
  reject(problem: RedisProblem): void {
    for (const call of this.#inOrder()) call.reject(refusalFor(problem));
  }

  #inOrder(): Call[] {
    return [...this.#refused, ...this.#held];
  }
}
