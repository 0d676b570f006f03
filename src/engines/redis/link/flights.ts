/**
 * Commands that were sent over one connection and are not answered yet. Redis answers in order, so this is a queue whose front
 * is nearly always the next to be answered. A sweep a few times a second finds those that timed out, so a call needs no timer of
 * its own. A command that timed out stays until its answer comes or the connection ends: Redis will still carry it out, and it
 * counts against the limit.
 */

export interface Flight {
  /** When it times out. */
  dueAt: number;
  isAnswered: boolean;
  isGivenUp: boolean;
}

/** Answered entries are removed once there are this many, so that the array does not grow for ever. */
const COMPACT_AT = 1_024;

export class Flights<T extends Flight> {
  #flights: T[] = [];
  #front = 0;

  /** All unanswered commands, timed-out ones included, and a few answered ones that overtook the front. */
  get size(): number {
    return this.#flights.length - this.#front;
  }

  add(flight: T): void {
    this.#flights.push(flight);
  }

  /** Records an answer. */
  land(flight: T): void {
    flight.isAnswered = true;
    while (this.#front < this.#flights.length && this.#flights[this.#front]!.isAnswered) this.#front++;
    if (this.#front === this.#flights.length) this.#flights = [];
    else if (this.#front >= COMPACT_AT && this.#front * 2 >= this.#flights.length)
      this.#flights = this.#flights.slice(this.#front);
    else return;
    this.#front = 0;
  }

  /** Gives up all that have timed out, and returns them in the order of sending. */
  giveUp(now: number): T[] {
    const overdue: T[] = [];
    for (let i = this.#front; i < this.#flights.length; i++) {
      const flight = this.#flights[i]!;
      if (flight.isAnswered || flight.isGivenUp || flight.dueAt > now) continue;
      flight.isGivenUp = true;
      overdue.push(flight);
    }
    return overdue;
  }
}
