/**
 * A shop's ledger: the book as a durable object, one for each stock domain. All of the book is in memory. What a command has
 * changed is put into storage before its method returns, in one go, so it is stored whole or not at all, and the output gate holds
 * the answer until it is on disk.
 *
 *   call ─▶ book: decide ─▶ put changed records, set the alarm ─▶ output gate ─▶ answer
 *                                 │                                   ├─▶ courier: facts that others must be told
 *                                 └─ nothing is read from disk        └─▶ env.tell: what visitors have to be shown anew
 *
 * Requests that may end in a tie wait for the others that have arrived with them (`tie-windows.ts`). Deadlines are the object's
 * alarm. A record that is damaged does not end the process: every call is refused with what is wrong, and `verify` still works.
 */

import { toHex } from "../../core/hex.ts";
import type { Clock, Log, Random, World } from "../../core/world.ts";
import type { DurableState, DurableStorage } from "../../durable/storage.ts";
import type { StoredRecord } from "../rules/book/restore.ts";
import { ShopRestore } from "../rules/book/restore.ts";
import { DamagedRecord } from "../rules/book/stored-records.ts";
import type { BasketAnswer, ShopFact, Shopper, Wish } from "../rules/commands.ts";
import { ShopBook, type ShopNews } from "../rules/shop-book.ts";
import { putRecords, readAll, readState, VERIFIED_PREFIXES } from "./ledger-records.ts";
import { LogFolding } from "./log-folding.ts";
import { type ContestRequest, TieWindows } from "./tie-windows.ts";
import { Verification, type Verified } from "./verify.ts";

/** News are told at most as often. */
const NEWS_EVERY_MS = 100;
/** Alarms are at least as far apart, so that many deadlines end together. */
const ALARMS_EVERY_MS = 25;
const SEED_BYTES = 16;
/** Some tens of milliseconds. */
const RECORDS_PER_BREATH = 1_000;

/** What a ledger is given. Functions are called through its gates: they leave when what was written before is on disk. */
export interface LedgerEnv {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  pause(ms: number): Promise<void>;
  /** Lets this process do other things; without it, reading everything is one piece of work. */
  breathe?(): Promise<void>;
  /** Visitors have to be shown something anew. */
  tell(shop: string, news: ShopNews): void | Promise<void>;
  /** Makes what carries facts to others; without it, nobody is told. */
  openCourier?(parts: CourierParts): Promise<LedgerCourier>;
}

/** What a ledger is given in this process. */
export function ledgerEnv(
  { clock, random, log, timers }: World,
  outside: Pick<LedgerEnv, "tell" | "openCourier" | "breathe">,
): LedgerEnv {
  const pause = (ms: number) =>
    ms === 0 ? Promise.resolve() : new Promise<void>((resolve) => timers.after(ms, resolve));
  return { clock, random, log, pause, ...outside };
}

export interface CourierParts {
  readonly shop: string;
  readonly storage: DurableStorage;
  /** `run` should be called at this instant, or earlier. */
  wakeAt(at: number): void;
}

/** Tells others what happened, at least once. */
export interface LedgerCourier {
  /** The records that are stored in the same write as the change that the facts tell of. */
  records(facts: readonly ShopFact[]): Record<string, unknown>;
  /** These records are on disk. */
  take(records: Record<string, unknown>): void;
  /** Sends what is due. */
  run(): void;
}

/** A ledger with a record that cannot be read: nothing can be asked of it before that is repaired. */
export class LedgerDamaged extends Error {
  override readonly name = "LedgerDamaged";
  readonly code = "ledgerDamaged";

  constructor(shop: string, cause: DamagedRecord) {
    const advice =
      "Nothing was changed. Restore the data directory from a copy, or start the shop under another name.";
    super(`The ledger of the shop "${shop}" cannot be read. ${cause.message} ${advice}`, { cause });
  }
}

type Arguments<Name extends keyof ShopBook> = ShopBook[Name] extends (...args: infer Args) => unknown
  ? Args
  : never;

export class Ledger {
  readonly #state: DurableState;
  readonly #env: LedgerEnv;
  readonly #ties: TieWindows;
  #book = new ShopBook();
  /** Why nothing can be asked of this ledger; null when all is well. */
  #damage: Error | null = null;
  #courier: LedgerCourier | null = null;
  #folding: LogFolding;
  #alarmAt = Number.POSITIVE_INFINITY;
  #courierAt = Number.POSITIVE_INFINITY;
  /** No alarm before this instant. */
  #alarmsFrom = 0;
  #isTelling = false;

  constructor(state: DurableState, env: LedgerEnv) {
    this.#state = state;
    this.#env = env;
    this.#folding = new LogFolding(state.storage);
    this.#ties = new TieWindows({
      pause: (ms) => env.pause(ms),
      sortOut: (requests, open) => this.#book.contests(requests, open, env.clock.now()),
      decide: (requests) =>
        this.#run((book) => book.decide(requests, toHex(env.random.bytes(SEED_BYTES)), env.clock.now())),
    });
    state.blockConcurrencyWhile(() => this.#load());
  }

  hold(shopper: Shopper, wish: Wish, now: number, key?: string): BasketAnswer | Promise<BasketAnswer> {
    return this.#reserve({ shopper, wish, parent: null, ...(key !== undefined && { key }) }, now);
  }

  extend(
    shopper: Shopper,
    parent: string,
    wish: Wish,
    now: number,
    key?: string,
  ): BasketAnswer | Promise<BasketAnswer> {
    return this.#reserve({ shopper, wish, parent, ...(key !== undefined && { key }) }, now);
  }

  setCatalogue(...args: Arguments<"setCatalogue">) {
    return this.#run((book) => book.setCatalogue(...args));
  }

  catalogue(...args: Arguments<"catalogue">) {
    return this.#run((book) => book.catalogue(...args));
  }

  products(...args: Arguments<"products">) {
    return this.#run((book) => book.products(...args));
  }

  basket(...args: Arguments<"basket">) {
    return this.#run((book) => book.basket(...args));
  }

  finish(...args: Arguments<"finish">) {
    return this.#run((book) => book.finish(...args));
  }

  undo(...args: Arguments<"undo">) {
    return this.#run((book) => book.undo(...args));
  }

  enterPayment(...args: Arguments<"enterPayment">) {
    return this.#run((book) => book.enterPayment(...args));
  }

  pay(...args: Arguments<"pay">) {
    return this.#run((book) => book.pay(...args));
  }

  payment(...args: Arguments<"payment">) {
    return this.#run((book) => book.payment(...args));
  }

  ticketCount(...args: Arguments<"ticketCount">) {
    return this.#run((book) => book.ticketCount(...args));
  }

  leave(...args: Arguments<"leave">) {
    return this.#run((book) => book.leave(...args));
  }

  visitEnded(...args: Arguments<"visitEnded">) {
    return this.#run((book) => book.visitEnded(...args));
  }

  setPaymentDoor(...args: Arguments<"setPaymentDoor">) {
    return this.#run((book) => book.setPaymentDoor(...args));
  }

  adjust(...args: Arguments<"adjust">) {
    return this.#run((book) => book.adjust(...args));
  }

  reopen(...args: Arguments<"reopen">) {
    return this.#run((book) => book.reopen(...args));
  }

  close(...args: Arguments<"close">) {
    return this.#run((book) => book.close(...args));
  }

  open(...args: Arguments<"open">) {
    return this.#run((book) => book.open(...args));
  }

  orders(...args: Arguments<"orders">) {
    return this.#run((book) => book.orders(...args));
  }

  order(...args: Arguments<"order">) {
    return this.#run((book) => book.order(...args));
  }

  cancel(...args: Arguments<"cancel">) {
    return this.#run((book) => book.cancel(...args));
  }

  joinList(...args: Arguments<"joinList">) {
    return this.#run((book) => book.joinList(...args));
  }

  leaveList(...args: Arguments<"leaveList">) {
    return this.#run((book) => book.leaveList(...args));
  }

  lists(...args: Arguments<"lists">) {
    return this.#run((book) => book.lists(...args));
  }

  stock(...args: Arguments<"stock">) {
    return this.#run((book) => book.stock(...args));
  }

  figures(...args: Arguments<"figures">) {
    return this.#run((book) => book.figures(...args));
  }

  /** Recounts everything from what is stored, and compares. */
  async verify(): Promise<Verified> {
    const verification = new Verification();
    const records: AsyncIterable<StoredRecord>[] = [];
    for (const prefix of VERIFIED_PREFIXES) {
      const all = readAll(this.#state.storage, prefix);
      // All as they are now: with every breath others may write.
      records.push(this.#env.breathe ? await held(all) : all);
    }
    for (const some of records)
      for await (const [key, text] of this.#breathing(some)) verification.read(key, text);
    return verification.finish();
  }

  alarm(): void {
    const now = this.#env.clock.now();
    this.#alarmAt = Number.POSITIVE_INFINITY;
    if (this.#damage) return;
    this.#alarmsFrom = now + ALARMS_EVERY_MS;
    this.#run((book) => book.expire(now));
    if (this.#courierAt <= now) {
      this.#courierAt = Number.POSITIVE_INFINITY;
      this.#courier?.run();
    }
    this.#setAlarm();
  }

  #reserve(request: ContestRequest, now: number): BasketAnswer | Promise<BasketAnswer> {
    if (!this.#damage && this.#book.mayTie(request.wish, this.#ties.open)) return this.#ties.ask(request);
    const { shopper, parent, wish, key } = request;
    return this.#run((book) =>
      parent === null ? book.hold(shopper, wish, now, key) : book.extend(shopper, parent, wish, now, key),
    );
  }

  /** Does one command, and puts what it changed into storage. */
  #run<Answer>(work: (book: ShopBook) => Answer): Answer {
    if (this.#damage) throw this.#damage;
    try {
      const answer = work(this.#book);
      this.#store();
      return answer;
    } catch (error) {
      this.#startAnew(error);
      throw error;
    }
  }

  #store(): void {
    const changes = this.#book.takeChanges();
    if (changes.length === 0) return;
    putRecords(this.#state.storage, changes);
    this.#sendFacts(this.#book.takeFacts());
    this.#setAlarm();
    this.#tellSoon();
    if (this.#folding.isDue(this.#book.version)) this.#state.waitUntil(this.#folding.fold());
  }

  #sendFacts(facts: readonly ShopFact[]): void {
    const courier = this.#courier;
    if (courier === null || facts.length === 0) return;
    const { storage } = this.#state;
    const records = courier.records(facts);
    for (const [key, record] of Object.entries(records)) storage.put(key, record);
    this.#state.waitUntil(storage.sync().then(() => courier.take(records)));
  }

  #setAlarm(): void {
    const next = Math.min(this.#book.nextDeadline() ?? Number.POSITIVE_INFINITY, this.#courierAt);
    const at = Math.max(next, this.#alarmsFrom);
    if (at >= this.#alarmAt) return;
    this.#alarmAt = at;
    this.#state.storage.setAlarm(at);
  }

  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.#state.waitUntil(this.#tell());
  }

  async #tell(): Promise<void> {
    const { clock } = this.#env;
    try {
      for (let news = this.#takeNews(clock.now()); news; news = this.#takeNews(clock.now())) {
        await this.#env.tell(this.#state.id.name, news);
        await this.#env.pause(NEWS_EVERY_MS);
      }
    } finally {
      this.#isTelling = false;
    }
  }

  #takeNews(now: number): ShopNews | null {
    return this.#book.takeNews(now);
  }

  async #load(): Promise<void> {
    const { storage, id } = this.#state;
    try {
      const restore = new ShopRestore();
      for await (const [key, text] of this.#breathing(readState(storage))) restore.take(key, text);
      this.#book = new ShopBook(restore.finish());
      await this.#folding.load();
    } catch (error) {
      if (!(error instanceof DamagedRecord)) throw error;
      this.#damage = new LedgerDamaged(id.name, error);
      this.#env.log.error(
        { shop: id.name, key: error.key, problem: error.message },
        "A shop's ledger is damaged.",
      );
      return;
    }
    this.#courier = (await this.#env.openCourier?.(this.#courierParts())) ?? null;
    this.#alarmAt = (await storage.getAlarm()) ?? Number.POSITIVE_INFINITY;
    this.#setAlarm();
  }

  async *#breathing(records: AsyncIterable<StoredRecord>): AsyncGenerator<StoredRecord> {
    let count = 0;
    for await (const record of records) {
      yield record;
      if (++count % RECORDS_PER_BREATH === 0) await this.#env.breathe?.();
    }
  }

  #courierParts(): CourierParts {
    const { storage, id } = this.#state;
    const wakeAt = (at: number) => {
      this.#courierAt = Math.min(this.#courierAt, at);
      this.#setAlarm();
    };
    return { shop: id.name, storage, wakeAt };
  }

  /** After a mistake in the rules memory may be ahead of what is stored: the next call begins with that. */
  #startAnew(error: unknown): void {
    this.#env.log.error(
      { shop: this.#state.id.name, err: error },
      "A shop's ledger failed and is started anew.",
    );
    void this.#state.blockConcurrencyWhile(() => Promise.reject(error));
  }
}

/** In memory before it goes on. */
async function held<T>(all: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const list: T[] = [];
  for await (const one of all) list.push(one);
  return (async function* () {
    yield* list;
  })();
}
