/**
 * A model of a site that degrades with load, in virtual time. Requests share its workers evenly: up to as many as there
 * are workers each runs at full speed, beyond that all slow down together. When too many are under way they also get in
 * each other's way (locks, caches, memory), so that the site does *less* in all; and past its limit it refuses with an
 * error at once. That is how sites fail: slower, then slower still, then errors.
 *
 * Sharing is kept by one number, the work done so far on each request that is under way: a request that needs `w` ends
 * when that number has grown by `w`, however the speed changed in between.
 */
import { Deadlines } from "../core/deadlines.ts";

export interface OriginShape {
  /** Mean time of a request on an idle site. The shortest take half of it. */
  readonly serviceMs: number;
  /** With more requests than this under way they slow each other down; with twice as many, throughput is halved. */
  readonly crowdedAt: number;
  /** More are refused. */
  readonly inFlightMax: number;
}

export interface FinishedCall<Caller> {
  readonly caller: Caller;
  readonly tookMs: number;
}

interface Request<Caller> {
  readonly caller: Caller;
  readonly startedAt: number;
}

export class ModelOrigin<Caller> {
  /** May change while it runs: machines fail and come back. */
  workers: number;
  readonly #shape: OriginShape;
  readonly #dice: () => number;
  readonly #underWay = new Deadlines<Request<Caller>>();
  #workDone = 0;
  #now: number;

  constructor(shape: OriginShape, options: { workers: number; dice: () => number; now: number }) {
    this.workers = options.workers;
    this.#shape = shape;
    this.#dice = options.dice;
    this.#now = options.now;
  }

  get inFlight(): number {
    return this.#underWay.size;
  }

  /** A request comes in. False: refused, with an error. */
  take(caller: Caller): boolean {
    if (this.inFlight >= this.#shape.inFlightMax) return false;
    const work = this.#shape.serviceMs * (0.5 - 0.5 * Math.log(1 - this.#dice()));
    this.#underWay.add(this.#workDone + work, { caller, startedAt: this.#now });
    return true;
  }

  /** Lets a short time pass, in which the speed is taken as it is; what was finished in it. */
  pass(ms: number): FinishedCall<Caller>[] {
    this.#now += ms;
    this.#workDone += ms * this.#speed();
    const finished: FinishedCall<Caller>[] = [];
    for (;;) {
      const request = this.#underWay.takeDue(this.#workDone);
      if (!request) return finished;
      finished.push({ caller: request.caller, tookMs: this.#now - request.startedAt });
    }
  }

  /** Of each request under way, where 1 is that of an idle site. */
  #speed(): number {
    const { crowdedAt } = this.#shape;
    const share = Math.min(1, this.workers / Math.max(1, this.inFlight));
    return share / Math.max(1, this.inFlight / crowdedAt);
  }
}
