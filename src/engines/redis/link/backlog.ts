/**
 * Calls that wait until they can be sent, in order: first those that Redis refused without doing anything, in the order in which
 * they were sent, then later calls.
 */
import type { RedisCall } from "./call.ts";
import { type AskedServer, NoAnswerError, type RedisProblem, redisProblemOf, refusalFor } from "./problem.ts";

export class Backlog {
  readonly #refused: RedisCall[] = [];
  readonly #held: RedisCall[] = [];

  get size(): number {
    return this.#refused.length + this.#held.length;
  }

  /** Takes a refused call, to be sent again. */
  takeBack(call: RedisCall): void {
    this.#refused.push(call);
  }

  /** Takes a call that was not sent yet. */
  hold(call: RedisCall): void {
    this.#held.push(call);
  }

  /** Sends all in order, except those that have timed out. */
  send(send: (call: RedisCall) => void, now: number, asked: AskedServer): void {
    for (const call of this.#inOrder()) {
      if (call.dueAt > now) send(call);
      else call.reject(refusalFor(redisProblemOf(new NoAnswerError(call.timeoutMs), asked)));
    }
  }

  /** Rejects all: none of them was carried out. */
  reject(problem: RedisProblem): void {
    for (const call of this.#inOrder()) call.reject(refusalFor(problem));
  }

  #inOrder(): RedisCall[] {
    return [...this.#refused, ...this.#held];
  }
}
