/**
 * What visitors do, many in one call. While calls are under way others gather, so a gateway under load makes few calls
 * with many visitors in each, and an idle one does not wait. Answers come back in the order of asking.
 *
 *   join, checkIn …  ──▶ gathered ──▶ one call, at most `BATCH_MAX` visitors ──▶ each one's answer
 */
import { RedisProblem } from "./link/problem.ts";
import type { RoomCalls } from "./room-calls.ts";

/** Visitors in one call; a longer one would block others in Redis. */
const BATCH_MAX = 250;
/** Calls under way: one on the network while Redis works on the other. */
const CALLS_MAX = 2;
/** The time comes before the answers; how many values each answer has. */
const HEAD_LENGTH = 1;
const ANSWER_LENGTH = 6;

/** What one visitor does. */
export interface Doing {
  /** Its code, the visitor's id, and more fields, as the functions take them. */
  readonly words: readonly string[];
  /** Takes memory that a full Redis does not have. */
  readonly isJoin: boolean;
  /** May give or free a slot: what is told of it must hold. */
  readonly movesSlot: boolean;
}

/** One visitor's answer, in a reply to many. */
export interface VisitReply {
  readonly now: number;
  readonly values: readonly unknown[];
  /** Where the answer begins among the values. */
  readonly at: number;
}

interface Asked {
  readonly doing: Doing;
  /** Takes the answer. Never throws. */
  readonly use: (reply: VisitReply) => void;
  readonly fail: (cause: unknown) => void;
}

export class VisitCalls {
  readonly #calls: RoomCalls;
  readonly #gateway: string;
  readonly #ready: () => Promise<void> | null;
  readonly #onFailedJoin: (id: string, cause: unknown) => void;
  #asked: Asked[] = [];
  /** The time argument of the visitors gathered so far. */
  #now = "";
  #underWay = 0;
  #isScheduled = false;

  /** `ready`: what must be done before anything is sent; null: nothing. `onFailedJoin` is told whose join failed. */
  constructor(
    calls: RoomCalls,
    gateway: string,
    ready: () => Promise<void> | null,
    onFailedJoin: (id: string, cause: unknown) => void = () => {},
  ) {
    this.#calls = calls;
    this.#gateway = gateway;
    this.#ready = ready;
    this.#onFailedJoin = onFailedJoin;
  }

  ask<T>(doing: Doing, read: (reply: VisitReply) => T): Promise<T> {
    const now = this.#calls.now();
    if (now !== this.#now || this.#asked.length >= BATCH_MAX) this.flush();
    this.#now = now;
    return new Promise((resolve, reject) => {
      const use = (reply: VisitReply) => {
        try {
          resolve(read(reply));
        } catch (cause) {
          reject(cause);
        }
      };
      this.#asked.push({ doing, use, fail: reject });
      this.#schedule();
    });
  }

  /** Sends what has gathered, however much is under way. */
  flush(): void {
    const asked = this.#asked;
    if (asked.length === 0) return;
    this.#asked = [];
    void this.#send(asked, this.#now);
  }

  /** At the end of this turn of the event loop, so that all requests read in it go together. */
  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= CALLS_MAX) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  async #send(asked: readonly Asked[], now: string): Promise<void> {
    this.#underWay++;
    try {
      const ready = this.#ready();
      if (ready) await ready;
      const args = [now, this.#gateway];
      for (const { doing } of asked) for (const word of doing.words) args.push(word);
      const name = asked.some(({ doing }) => doing.isJoin) ? "join" : "visit";
      const movesSlot = asked.some(({ doing }) => doing.movesSlot);
      const values = await this.#calls.call(name, args, movesSlot ? this.#calls.kept : undefined);
      let at = HEAD_LENGTH;
      for (const { use } of asked) {
        use({ now: values[0] as number, values, at });
        at += ANSWER_LENGTH;
      }
    } catch (cause) {
      this.#failed(asked, now, cause);
    } finally {
      this.#underWay--;
      if (this.#asked.length > 0) this.#schedule();
    }
  }

  /** When Redis is out of memory only newcomers are turned away: the others are sent again without them. */
  #failed(asked: readonly Asked[], now: string, cause: unknown): void {
    const others = asked.filter(({ doing }) => !doing.isJoin);
    const isOnlyMemory =
      cause instanceof RedisProblem && cause.kind === "outOfMemory" && cause.wasRefused && others.length > 0;
    const failed =
      isOnlyMemory && others.length < asked.length ? asked.filter(({ doing }) => doing.isJoin) : asked;
    for (const { doing, fail } of failed) {
      if (doing.isJoin) this.#onFailedJoin(doing.words[1]!, cause);
      fail(cause);
    }
    if (failed !== asked) void this.#send(others, now);
  }
}
