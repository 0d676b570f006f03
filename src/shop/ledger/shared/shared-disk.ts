/**
 * The disk of one shop's ledger, where several gateways share a Redis. Its owner has all records in memory, so reading is at once;
 * a write is confirmed when Redis has it.
 *
 *   commit ─▶ memory ─▶ Redis ─┬─ kept: confirmed
 *                              ├─ no answer: sent again, until there is one
 *                              ├─ behind (a failover lost writes): all records are written anew from memory
 *                              └─ lost (another gateway is the owner): this disk is broken for good; nothing is read from it either
 */
import { LogPace } from "../../../core/log-pace.ts";
import type { World } from "../../../core/world.ts";
import type { Changes, Disk, ObjectName, StoredAlarm } from "../../../durable/disk.ts";
import { copyOf, type HeldValue } from "../../../durable/held-value.ts";
import type { KeyRange } from "../../../durable/key-range.ts";
import { StoreProblem } from "../../../durable/problem.ts";
import { KeyOrder } from "./key-order.ts";
import type { SharedRecords, TakenRecords, WriteOutcome } from "./shared-records.ts";

/** How soon a write that was not answered is sent again. */
const RETRY_MS = 100;
/** The owner says that it is alive this often within a lease. */
const RENEWALS_PER_LEASE = 4;

export interface SharedDiskParts {
  readonly records: Pick<SharedRecords, "read" | "commit" | "renew" | "refill" | "free">;
  readonly taken: TakenRecords;
  readonly object: ObjectName;
  /** When the records were asked for: nobody else may own them for a lease from then on. */
  readonly takenAt: number;
  readonly leaseMs: number;
  readonly world: Pick<World, "clock" | "timers" | "log">;
}

interface Unwritten {
  isWiped: boolean;
  readonly entries: Map<string, HeldValue>;
  alarmAt: number | null | undefined;
}

export class SharedDisk implements Disk {
  readonly file: string;
  /** Resolves when another gateway owns the records, or this one has given them up. */
  readonly gone: Promise<void>;
  readonly #parts: SharedDiskParts;
  readonly #entries = new Map<string, HeldValue>();
  readonly #order = new KeyOrder();
  readonly #stopRenewing: () => void;
  #tellGone!: () => void;
  readonly #unwritable = new LogPace();
  #alarmAt: number | null;
  #seq: number;
  #unwritten: Unwritten | null = null;
  /** Nobody else owns the records before this instant. */
  #ownedUntil: number;
  /** Calls of the store, one after the other. */
  #line: Promise<void> = Promise.resolve();
  #isWriting = false;
  #isRenewing = false;
  /** Before that, memory has only a part of the records. */
  #isRead = false;
  #isOver = false;

  /** Reads all records. They must have been taken. */
  static async open(parts: SharedDiskParts): Promise<SharedDisk> {
    const disk = new SharedDisk(parts);
    try {
      for await (const [key, held] of parts.records.read()) disk.#put(key, held);
      disk.#checkRead();
    } catch (error) {
      disk.#end();
      throw error;
    }
    return disk;
  }

  private constructor(parts: SharedDiskParts) {
    const { object, taken, takenAt, leaseMs, world } = parts;
    this.file = `the records of the shop "${object.name}" in Redis`;
    this.#parts = parts;
    this.#seq = taken.seq;
    this.#alarmAt = taken.alarmAt;
    this.#ownedUntil = takenAt + leaseMs;
    this.gone = new Promise((resolve) => {
      this.#tellGone = resolve;
    });
    this.#stopRenewing = world.timers.every(leaseMs / RENEWALS_PER_LEASE, () => this.#renew());
  }

  /** False: another gateway may own them by now, so what is in memory may be out of date. */
  get isOwned(): boolean {
    return !this.#isOver && this.#parts.world.clock.now() < this.#ownedUntil;
  }

  read(_object: ObjectName, key: string): HeldValue {
    this.#check();
    return this.#entries.get(key);
  }

  has(_object: ObjectName, key: string): boolean {
    this.#check();
    return this.#entries.has(key);
  }

  list(
    _object: ObjectName,
    { range, isReverse, limit }: { range: KeyRange; isReverse: boolean; limit: number },
  ): [string, HeldValue][] {
    this.#check();
    const found: [string, HeldValue][] = [];
    for (const key of this.#order.within(range, isReverse)) {
      if (found.length === limit) break;
      found.push([key, copyOf(this.#entries.get(key))]);
    }
    return found;
  }

  alarm(): number | null {
    this.#check();
    return this.#alarmAt;
  }

  alarms(): StoredAlarm[] {
    return this.#alarmAt === null ? [] : [{ object: this.#parts.object, alarmAt: this.#alarmAt }];
  }

  commit(all: readonly Changes[]): void {
    this.#check();
    const unwritten: Unwritten = { isWiped: false, entries: new Map(), alarmAt: undefined };
    for (const { isWiped, values, alarmAt } of all) {
      if (isWiped) {
        unwritten.isWiped = true;
        this.#entries.clear();
        this.#order.clear();
      }
      for (const [key, held] of values) {
        if (held === undefined) this.#remove(key);
        else this.#put(key, held);
        unwritten.entries.set(key, held);
      }
      if (alarmAt === undefined) continue;
      this.#alarmAt = alarmAt;
      unwritten.alarmAt = alarmAt;
    }
    this.#unwritten = unwritten;
  }

  sync(done: (failure: Error | null) => void): void {
    const unwritten = this.#unwritten!;
    this.#unwritten = null;
    this.#isWriting = true;
    const written = this.#inLine(() => this.#write(unwritten)).finally(() => {
      this.#isWriting = false;
    });
    written.then(
      () => done(null),
      (error: Error) => done(error),
    );
  }

  upkeep(): null {
    return null;
  }

  /** Sends nothing any more. What was not confirmed may be lost. */
  giveUp(): void {
    this.#end();
  }

  /** Gives the records up, if they are still ours and all there: whoever comes next has nothing else. Takes a lease at most. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#stopRenewing();
    const { world, leaseMs } = this.#parts;
    const stop = world.timers.after(leaseMs, () => this.giveUp());
    await this.#inLine(() => this.#look()).catch(() => {});
    stop();
    if (this.#isOver) return;
    this.#end();
    // Without an answer they are free when the lease is over.
    await this.#parts.records.free().catch(() => {});
  }

  #put(key: string, held: HeldValue): void {
    if (!this.#entries.has(key)) this.#order.add(key);
    this.#entries.set(key, held);
  }

  #remove(key: string): void {
    if (this.#entries.delete(key)) this.#order.remove(key);
  }

  async #write({ isWiped, entries, alarmAt }: Unwritten): Promise<void> {
    const { records } = this.#parts;
    const before = this.#seq;
    const write = isWiped
      ? () => Promise.resolve<WriteOutcome>("behind")
      : () => records.commit(before, entries, alarmAt);
    const written = await this.#untilAnswered(write);
    if (written === "behind") await this.#writeAll(before + 1);
    this.#seq = before + 1;
  }

  /** Says that this gateway is alive, unless a write does, or Redis has not answered the last time yet. */
  #renew(): void {
    if (this.#isWriting || this.#isRenewing || this.#isOver) return;
    this.#isRenewing = true;
    const renewed = this.#inLine(() => this.#look()).finally(() => {
      this.#isRenewing = false;
    });
    // Then the disk is over, and `gone` tells.
    renewed.catch(() => {});
  }

  /** Looks whether everything is in Redis still, and writes it anew where it is not. */
  async #look(): Promise<void> {
    const sentAt = this.#parts.world.clock.now();
    const said = await this.#parts.records.renew(this.#seq).catch(() => null);
    if (said !== null) this.#note(said, sentAt);
    if (said !== "behind") return;
    // What was read so far must not take the place of the rest: the records have to be taken again.
    if (!this.#isRead) this.#end();
    else await this.#writeAll(this.#seq);
  }

  async #writeAll(seq: number): Promise<void> {
    const { records, world, object } = this.#parts;
    const problem =
      "Redis lost writes that it had confirmed; the gateway that keeps the shop writes them anew";
    world.log.warn({ shop: object.name, records: this.#entries.size }, problem);
    await this.#untilAnswered(async () => {
      // As memory is now, with every commit whole: others may come while these are written.
      const said = await records.refill(seq, [...this.#entries], this.#alarmAt);
      // A part of what was just written is lost again.
      return said === "behind" ? null : said;
    });
  }

  /** Asks until there is an answer. Throws when another gateway is the owner, or this one has given up. */
  async #untilAnswered(ask: () => Promise<WriteOutcome | null>): Promise<WriteOutcome> {
    for (;;) {
      this.#check();
      const sentAt = this.#parts.world.clock.now();
      const said = await ask().catch((cause: unknown) => this.#onUnwritten(cause));
      if (said !== null) return this.#note(said, sentAt);
      await new Promise<void>((resolve) => this.#parts.world.timers.after(RETRY_MS, resolve));
    }
  }

  #onUnwritten(err: unknown): null {
    const { world, object } = this.#parts;
    // What is wrong with Redis as a whole is told already.
    const isTold = "kind" in (err as object) && (err as { kind: unknown }).kind !== "other";
    if (!isTold && this.#unwritable.add(world.clock.now()) > 0)
      world.log.error({ err, shop: object.name }, "a shop's records cannot be written");
    return null;
  }

  #note(said: WriteOutcome, sentAt: number): WriteOutcome {
    if (said === "lost") this.#end();
    this.#check();
    this.#ownedUntil = Math.max(this.#ownedUntil, sentAt + this.#parts.leaseMs);
    return said;
  }

  #inLine(work: () => Promise<void>): Promise<void> {
    const done = this.#line.then(work);
    this.#line = done.catch(() => {});
    return done;
  }

  #check(): void {
    if (this.#isOver)
      throw new StoreProblem("broken", this.file, "Another gateway keeps this shop now. Try again.");
  }

  /** While they were read Redis may have failed over to another server, which goes through them in another order. */
  #checkRead(): void {
    this.#check();
    const { count } = this.#parts.taken;
    if (this.#entries.size !== count)
      throw new Error(`${this.#entries.size} of ${count} records were read of ${this.file}`);
    this.#isRead = true;
  }

  #end(): void {
    this.#isOver = true;
    this.#stopRenewing();
    this.#tellGone();
  }
}
