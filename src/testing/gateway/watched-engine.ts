/**
 * The embedded engine with a call counter and a fault switch: every call is counted by name, and while it is `broken` calls fail
 * in the chosen way. Afterwards it goes on with everything it had, as a store that was away for a while does.
 *
 * Admission and boards go on meanwhile: they are the engine's own work, not a gateway's.
 */
import type { Engine, EngineListener, Eventually, Load } from "../../core/engine.ts";
import type { RoomRules } from "../../core/rules.ts";

/** How calls fail: at once, later, or never with an answer. `late`: they succeed, but later. */
export type Breakage = "throws" | "rejects" | "silent" | "late";

type Call = "hasRoom" | "join" | "checkIn" | "enter" | "resume" | "touch" | "leave" | "revoke" | "configure";

export class WatchedEngine implements Engine {
  broken: Breakage | null = null;
  /** A room whose rules cannot be changed now. */
  failsToConfigure: string | null = null;
  readonly calls: Record<Call, number> = {
    hasRoom: 0,
    join: 0,
    checkIn: 0,
    enter: 0,
    resume: 0,
    touch: 0,
    leave: 0,
    revoke: 0,
    configure: 0,
  };
  /** The gateways' reports of their origins. */
  readonly reports: Load[] = [];
  readonly join: Engine["join"];
  readonly hasRoom: Engine["hasRoom"];
  readonly checkIn: Engine["checkIn"];
  readonly enter: Engine["enter"];
  readonly resume: Engine["resume"];
  readonly touch: Engine["touch"];
  readonly leave: Engine["leave"];
  readonly revoke: Engine["revoke"];
  readonly #inner: Engine;
  #held: Promise<void> = Promise.resolve();

  constructor(inner: Engine) {
    this.#inner = inner;
    this.join = (room, newcomer) => this.#ask("join", () => inner.join(room, newcomer));
    this.hasRoom = (room) => this.#ask("hasRoom", () => inner.hasRoom(room));
    this.checkIn = (ticket) => this.#ask("checkIn", () => inner.checkIn(ticket));
    this.enter = (ticket) => this.#ask("enter", () => inner.enter(ticket));
    this.resume = (pass, mayBegin) => this.#ask("resume", () => inner.resume(pass, mayBegin));
    this.touch = (room, presences) => this.#ask("touch", () => inner.touch(room, presences));
    this.leave = (place, isIdle) => this.#ask("leave", () => inner.leave(place, isIdle));
    this.revoke = (room, id) => this.#ask("revoke", () => inner.revoke(room, id));
  }

  vacated(room: string, id: string): void {
    this.#inner.vacated(room, id);
  }

  /** From now on answers are late, and none comes before the returned function is called. */
  hold(): () => void {
    this.broken = "late";
    let release = () => {};
    this.#held = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  }

  /** Calls on behalf of visitors so far. */
  get asked(): number {
    const { join, checkIn, enter, touch, leave } = this.calls;
    return join + checkIn + enter + touch + leave;
  }

  report(room: string, load: Load) {
    this.reports.push(load);
    return this.#inner.report(room, load);
  }

  draw(room: string, event: string) {
    return this.#inner.draw(room, event);
  }

  counts(room: string) {
    return this.#inner.counts(room);
  }

  board(room: string) {
    return this.#inner.board(room);
  }

  configure(room: string, rules: RoomRules) {
    this.calls.configure++;
    if (room === this.failsToConfigure) return Promise.reject(new Error("the store is away"));
    return this.#inner.configure(room, rules);
  }

  admit(room: string) {
    return this.#inner.admit(room);
  }

  subscribe(listener: EngineListener): () => void {
    return this.#inner.subscribe(listener);
  }

  close() {
    return this.#inner.close();
  }

  #ask<T>(call: Call, work: () => Eventually<T>): Eventually<T> {
    this.calls[call]++;
    switch (this.broken) {
      case null:
        return work();
      case "late":
        return this.#held.then(work);
      case "throws":
        throw new Error("the store is away");
      case "rejects":
        return Promise.reject(new Error("the store is away"));
      case "silent":
        return new Promise<T>(() => {});
    }
  }
}
