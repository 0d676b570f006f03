/** The changes of a running transaction, laid over the object's values: kept apart until it is over, then written at once. */
import { copyOf, type HeldValue } from "./held-value.ts";
import { isWithin } from "./key-range.ts";
import { overlay, type Query, type Values, type WriteManner } from "./object-values.ts";

export class TransactionValues implements Values {
  readonly #below: Values;
  readonly #changes = new Map<string, readonly [held: HeldValue, manner: WriteManner]>();
  #wipe: WriteManner | null = null;
  #alarm: readonly [at: number | null, manner: WriteManner] | null = null;
  #isOver = false;

  constructor(below: Values) {
    this.#below = below;
  }

  read(key: string, isKept: boolean): HeldValue {
    this.#checkOpen();
    const change = this.#changes.get(key);
    if (change) return change[0];
    return this.#wipe ? undefined : this.#below.read(key, isKept);
  }

  has(key: string): boolean {
    this.#checkOpen();
    const change = this.#changes.get(key);
    if (change) return change[0] !== undefined;
    return !this.#wipe && this.#below.has(key);
  }

  list(query: Query): Map<string, HeldValue> {
    this.#checkOpen();
    const changes = [...this.#changes]
      .filter(([key]) => isWithin(query.range, key))
      .map(([key, [held]]) => [key, copyOf(held)] as const);
    const limit = query.limit === undefined ? undefined : query.limit + changes.length;
    const rows = this.#wipe ? new Map<string, HeldValue>() : this.#below.list({ ...query, limit });
    return overlay(rows, changes, query);
  }

  write(key: string, held: HeldValue, manner: WriteManner): void {
    this.#checkOpen();
    this.#changes.set(key, [held, manner]);
  }

  wipe(manner: WriteManner): void {
    this.#checkOpen();
    this.#changes.clear();
    this.#wipe = manner;
  }

  alarmAt(): number | null {
    this.#checkOpen();
    return this.#alarm ? this.#alarm[0] : this.#below.alarmAt();
  }

  setAlarm(at: number | null, manner: WriteManner): void {
    this.#checkOpen();
    this.#alarm = [at, manner];
  }

  /** Forgets everything, and refuses further use. */
  rollback(): void {
    this.#isOver = true;
    this.#changes.clear();
    this.#wipe = null;
    this.#alarm = null;
  }

  /** Writes everything to the values below, at once. */
  apply(): void {
    if (this.#wipe) this.#below.wipe(this.#wipe);
    for (const [key, [held, manner]] of this.#changes) this.#below.write(key, held, manner);
    if (this.#alarm) this.#below.setAlarm(...this.#alarm);
    this.rollback();
  }

  #checkOpen(): void {
    if (this.#isOver) throw new Error("This transaction is over; start another with storage.transaction().");
  }
}
