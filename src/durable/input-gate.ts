/**
 * The input gate of an object: events wait here, and one enters when no storage operation or blocked work holds the gate
 * and no code of the object is running.
 *
 * Storage answers from memory or at once from disk, so most operations never have to hold the gate: it is enough that an
 * event enters only when every promise that can go on has gone on (`Turns`). Whatever the last event awaited from
 * storage has then been continued, and what is left waits for the outside world.
 *
 * Work that holds the gate (`section`) may itself wait for the outside world. What comes back to that work does not wait
 * for the gate, or it would wait for itself.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** Beyond this many, calls of the object are refused. */
const EVENTS_WAITING_MAX = 100_000;
/** After this many turns in a row, the event loop handles sockets and disks. */
const TURNS_IN_A_ROW_MAX = 256;

export interface GateEvent {
  run(): void;
  fail(error: unknown): void;
}

interface Section {
  readonly gate: InputGate;
  isOver: boolean;
}

/** The section that the running code belongs to. */
const sectionOf = new AsyncLocalStorage<Section>();

/** Calls back when every promise that can continue has done so; many callers share one wait. */
export class PromiseTurns {
  #ready: (() => void)[] = [];
  #isScheduled = false;
  #inARow = 0;

  add(work: () => void): void {
    this.#ready.push(work);
    if (!this.#isScheduled) this.#schedule();
  }

  #schedule(): void {
    this.#isScheduled = true;
    if (this.#inARow === 0) setImmediate(this.#restCount);
    if (++this.#inARow >= TURNS_IN_A_ROW_MAX) setImmediate(this.#run);
    // A tick that is requested from a microtask comes after all microtasks, including those that these make.
    else queueMicrotask(this.#tick);
  }

  readonly #restCount = () => {
    this.#inARow = 0;
  };

  readonly #tick = () => process.nextTick(this.#run);

  readonly #run = () => {
    const ready = this.#ready;
    this.#ready = [];
    this.#isScheduled = false;
    for (const work of ready) work();
  };
}

export class InputGate {
  readonly #turns: PromiseTurns;
  #events: GateEvent[] = [];
  #next = 0;
  #locks = 0;
  #life = 0;
  #isTurnAsked = false;

  constructor(turns: PromiseTurns) {
    this.#turns = turns;
  }

  get isLocked(): boolean {
    return this.#locks > 0;
  }

  /** True when nothing waits and nothing holds the gate. */
  get isQuiet(): boolean {
    return this.#locks === 0 && this.#next === this.#events.length;
  }

  /** Lets the event in when its turn comes. */
  enter(event: GateEvent): void {
    if (this.#events.length - this.#next >= EVENTS_WAITING_MAX)
      return event.fail(
        new RangeError(`${EVENTS_WAITING_MAX} events wait for this object already; come back later.`),
      );
    this.#events.push(event);
    this.#askTurn();
  }

  /** Brings a result back to the code that runs now: as an event, or, inside a section, as part of it. */
  wayBack(): (event: GateEvent) => void {
    const section = sectionOf.getStore();
    if (!section || section.gate !== this) return (event) => this.enter(event);
    return (event) => (section.isOver ? this.enter(event) : this.#turns.add(() => event.run()));
  }

  /** Holds the gate during the work. */
  async section<T>(work: () => Promise<T>): Promise<T> {
    const open = this.lock();
    const section = { gate: this, isOver: false };
    try {
      return await sectionOf.run(section, work);
    } finally {
      section.isOver = true;
      open();
    }
  }

  /** The event that was let in last goes back to the front of the line. */
  putBack(event: GateEvent): void {
    this.#events[--this.#next] = event;
    this.#askTurn();
  }

  /** No event enters until the returned function is called. */
  lock(): () => void {
    this.#locks++;
    const life = this.#life;
    let isHeld = true;
    return () => {
      if (!isHeld || life !== this.#life) return;
      isHeld = false;
      this.#locks--;
      this.#askTurn();
    };
  }

  /** Locks of a life that is over hold no event back. Those that wait go on waiting, for the next life. */
  reset(): void {
    this.#life++;
    this.#locks = 0;
    this.#askTurn();
  }

  /** Refuses all that wait. */
  failAll(error: unknown): void {
    const events = this.#events.slice(this.#next);
    this.#events = [];
    this.#next = 0;
    for (const event of events) event.fail(error);
  }

  #askTurn(): void {
    if (this.#isTurnAsked || this.#locks > 0 || this.#next === this.#events.length) return;
    this.#isTurnAsked = true;
    this.#turns.add(this.#turn);
  }

  readonly #turn = () => {
    this.#isTurnAsked = false;
    if (this.#locks > 0 || this.#next === this.#events.length) return;
    const event = this.#take();
    event.run();
    this.#askTurn();
  };

  #take(): GateEvent {
    const event = this.#events[this.#next]!;
    this.#events[this.#next++] = EMPTY;
    // One empty entry stays in front, for `putBack`.
    if (this.#next === this.#events.length) {
      this.#events = [EMPTY];
      this.#next = 1;
    } else if (this.#next > 1_024 && this.#next * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#next - 1);
      this.#next = 1;
    }
    return event;
  }
}

const EMPTY: GateEvent = { run: () => {}, fail: () => {} };
