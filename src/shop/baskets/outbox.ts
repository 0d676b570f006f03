/**
 * Calls to others that must be made at least once: each is a record in the owner's storage, from before the first attempt until one
 * has succeeded. So a crash at any instant costs at most a repetition, and what is called tells repetitions by the record's id.
 *
 *   record() ──stored by the owner, with what caused it──▶ due ──attempt──▶ done: deleted
 *                                                           ▲        │
 *                                                           │        ├─ again: later, twice as long each time, with jitter
 *                                                  again()  │        ▼
 *                                                          dead ◀── refused, or the last attempt
 *
 * A dead letter stays until the owner has it sent again; beyond `deadMax` the oldest goes. The order in which records are made is
 * not kept. The outbox has no timer: it says when it wants to run (`wakeAt`), and the owner's alarm calls `run`.
 */
import { Deadlines } from "../../core/deadlines.ts";
import { LogPace } from "../../core/log-pace.ts";
import type { World } from "../../core/world.ts";
import type { KeyValues } from "../../durable/storage.ts";

const READ_AT_ONCE = 500;
/** A later time that the other side asks for is kept up to this. */
export const ASKED_DELAY_MAX_MS = 86_400_000;

export interface RetryPlan {
  readonly firstMs: number;
  readonly mostMs: number;
  /** After so many attempts a record is a dead letter. */
  readonly attemptsMax: number;
}

/** What is stored: plain data. */
export interface OutboxRecord<Work> {
  readonly id: string;
  readonly work: Work;
  readonly madeAt: number;
  readonly attempts: number;
  /** When it is sent next; null for a dead letter. */
  readonly nextAt: number | null;
  /** Why the last attempt failed. */
  readonly problem: string | null;
}

/** How an attempt ended. */
export type Attempted<Work> =
  | { readonly kind: "done" }
  /** `work`: with which it is tried again, where that has changed. */
  | { readonly kind: "again"; readonly problem: string; readonly afterMs?: number; readonly work?: Work }
  /** Trying again would not help. */
  | { readonly kind: "refused"; readonly problem: string };

export interface OutboxParts<Work> {
  readonly storage: KeyValues;
  /** Of its keys, such as `outbox/`. */
  readonly prefix: string;
  readonly world: Pick<World, "clock" | "random" | "log">;
  readonly plan: RetryPlan;
  /** Attempts at a time. */
  readonly underWayMax: number;
  /** Beyond so many that wait, new ones are dead letters at once. */
  readonly waitingMax: number;
  /** Dead letters that are kept. */
  readonly deadMax: number;
  /** Makes one attempt. One that rejects is tried again. */
  attempt(record: OutboxRecord<Work>): Promise<Attempted<Work>>;
  /** The owner should call `run` at this instant, or earlier. */
  wakeAt(at: number): void;
  /** A record became a dead letter, and that is stored. */
  onDead?(record: OutboxRecord<Work>): void;
}

export class Outbox<Work> {
  readonly #parts: OutboxParts<Work>;
  readonly #due = new Deadlines<string>();
  /** When each record that is not dead is sent next; `Infinity` while an attempt is under way. */
  readonly #nextAt = new Map<string, number>();
  readonly #dead = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #givenUp = new LogPace();
  readonly #dropped = new LogPace();
  #isClosed = false;

  /** Takes up what is stored. */
  static async open<Work>(parts: OutboxParts<Work>): Promise<Outbox<Work>> {
    const outbox = new Outbox(parts);
    await outbox.#read();
    return outbox;
  }

  private constructor(parts: OutboxParts<Work>) {
    this.#parts = parts;
  }

  get counts(): { readonly waiting: number; readonly dead: number } {
    return { waiting: this.#nextAt.size, dead: this.#dead.size };
  }

  /** What the owner stores in the same write as its cause, and then hands to `take`. */
  record(id: string, work: Work): Record<string, OutboxRecord<Work>> {
    const now = this.#parts.world.clock.now();
    return { [this.#key(id)]: { id, work, madeAt: now, attempts: 0, nextAt: now, problem: null } };
  }

  /** Sends what was stored. An id that is known already is not sent again. */
  take(records: Record<string, OutboxRecord<Work>>): void {
    for (const record of Object.values(records)) {
      const { id, nextAt } = record;
      if (nextAt === null || this.#nextAt.has(id) || this.#dead.has(id)) continue;
      if (this.#nextAt.size < this.#parts.waitingMax) this.#plan(id, nextAt);
      else this.#hold(this.#bury({ ...record, nextAt: null, problem: "too many are waiting" }));
    }
    this.run();
  }

  /** Starts what is due. */
  run(): void {
    const now = this.#parts.world.clock.now();
    while (!this.#isClosed && this.#underWay.size < this.#parts.underWayMax) {
      const id = this.#due.takeDue(now);
      if (id === undefined) break;
      const nextAt = this.#nextAt.get(id);
      // It was planned anew since.
      if (nextAt === undefined || nextAt > now) continue;
      this.#nextAt.set(id, Number.POSITIVE_INFINITY);
      this.#hold(this.#try(id));
    }
    const { soonestAt } = this.#due;
    if (soonestAt !== null && soonestAt > now && !this.#isClosed) this.#parts.wakeAt(soonestAt);
  }

  /** Dead letters, the oldest first. */
  async dead(limit: number): Promise<OutboxRecord<Work>[]> {
    const { storage } = this.#parts;
    const found: OutboxRecord<Work>[] = [];
    for (const id of this.#dead) {
      if (found.length >= limit) break;
      const record = await storage.get<OutboxRecord<Work>>(this.#key(id));
      if (record) found.push(record);
    }
    return found;
  }

  /** Sends a dead letter again, from its first attempt on. False: there is none with this id. */
  async again(id: string): Promise<boolean> {
    const { storage, world } = this.#parts;
    if (!this.#dead.has(id)) return false;
    const record = await storage.get<OutboxRecord<Work>>(this.#key(id));
    if (!record || !this.#dead.delete(id)) return false;
    const now = world.clock.now();
    await storage.put(this.#key(id), { ...record, attempts: 0, nextAt: now });
    this.#plan(id, now);
    this.run();
    return true;
  }

  /** Starts nothing more, and resolves when what is under way has ended. What is not done stays stored. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
  }

  async #read(): Promise<void> {
    const { storage, prefix } = this.#parts;
    const dead: OutboxRecord<Work>[] = [];
    for (let startAfter: string | undefined; ; ) {
      const page = await storage.list<OutboxRecord<Work>>({
        prefix,
        limit: READ_AT_ONCE,
        ...(startAfter !== undefined && { startAfter }),
      });
      for (const record of page.values()) {
        if (record.nextAt === null) dead.push(record);
        else this.#plan(record.id, record.nextAt);
      }
      startAfter = [...page.keys()].at(-1);
      if (page.size < READ_AT_ONCE) break;
    }
    for (const { id } of dead.sort((a, b) => a.madeAt - b.madeAt)) this.#dead.add(id);
    this.run();
  }

  #plan(id: string, at: number): void {
    this.#nextAt.set(id, at);
    this.#due.add(at, id);
  }

  async #try(id: string): Promise<void> {
    const { storage, attempt } = this.#parts;
    const stored = await storage.get<OutboxRecord<Work>>(this.#key(id));
    if (!stored) {
      this.#nextAt.delete(id);
      return;
    }
    const record = { ...stored, attempts: stored.attempts + 1 };
    let attempted: Attempted<Work>;
    try {
      attempted = await attempt(record);
    } catch (cause) {
      attempted = { kind: "again", problem: cause instanceof Error ? cause.message : String(cause) };
    }
    await this.#keep(record, attempted);
  }

  /** Until it has ended, it counts as under way. */
  #hold(work: Promise<void>): void {
    const held = work
      .catch((cause) => {
        // The storage is gone, and with it the owner; a new one finds the record as it was before.
        this.#parts.world.log.error({ problem: String(cause) }, "A record of the outbox could not be kept.");
      })
      .finally(() => {
        this.#underWay.delete(held);
        this.run();
      });
    this.#underWay.add(held);
  }

  async #keep(record: OutboxRecord<Work>, attempted: Attempted<Work>): Promise<void> {
    const { storage, plan } = this.#parts;
    const { id } = record;
    if (attempted.kind === "done") {
      await storage.delete(this.#key(id));
      this.#nextAt.delete(id);
      return;
    }
    const { problem } = attempted;
    if (attempted.kind === "refused" || record.attempts >= plan.attemptsMax)
      return this.#bury({ ...record, nextAt: null, problem });
    const nextAt = this.#parts.world.clock.now() + this.#delayMs(record.attempts, attempted.afterMs ?? 0);
    const work = attempted.work ?? record.work;
    await storage.put(this.#key(id), { ...record, work, nextAt, problem });
    this.#plan(id, nextAt);
  }

  async #bury(record: OutboxRecord<Work>): Promise<void> {
    const { storage, deadMax, onDead } = this.#parts;
    const { id, attempts, problem } = record;
    this.#nextAt.delete(id);
    this.#dead.add(id);
    await storage.put(this.#key(id), record);
    this.#tell(this.#givenUp, { code: "CALL_GIVEN_UP", id, attempts, problem }, "A call was given up.");
    const [oldest = ""] = this.#dead;
    if (this.#dead.size > deadMax && this.#dead.delete(oldest)) {
      await storage.delete(this.#key(oldest));
      this.#tell(this.#dropped, { code: "CALL_DROPPED", id: oldest }, "A call that was given up is gone.");
    }
    onDead?.(record);
  }

  #tell(pace: LogPace, fields: object, message: string): void {
    const { world, prefix: outbox } = this.#parts;
    const count = pace.add(world.clock.now());
    if (count > 0) world.log.error({ ...fields, outbox, ...(count > 1 && { count }) }, message);
  }

  /** Exponential, between half of it and the whole, but not before the other side wants it. */
  #delayMs(attempts: number, askedMs: number): number {
    const { plan, world } = this.#parts;
    const wholeMs = Math.min(plan.mostMs, plan.firstMs * 2 ** (attempts - 1));
    const delayMs = wholeMs * (0.5 + world.random.fraction() / 2);
    return Math.ceil(Math.max(delayMs, Math.min(askedMs, ASKED_DELAY_MAX_MS)));
  }

  #key(id: string): string {
    return `${this.#parts.prefix}${id}`;
  }
}
