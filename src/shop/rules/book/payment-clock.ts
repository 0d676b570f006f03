/**
 * The time of those who wait for payment or pay: it stands still while the payment door is closed, so nobody loses goods by a pause
 * that is not theirs. Deadlines of these phases are instants of this time.
 */
import type { ChangedRecords } from "./changed-records.ts";
import { readStored } from "./stored-records.ts";

export const DOOR_KEY = "door";

export class PaymentClock {
  readonly #changes: ChangedRecords;
  /** Null: the door is open. */
  #closedAt: number | null = null;
  /** How long it was closed before that, in all. */
  #closedMs = 0;

  constructor(changes: ChangedRecords) {
    this.#changes = changes;
  }

  get isOpen(): boolean {
    return this.#closedAt === null;
  }

  setOpen(isOpen: boolean, now: number): void {
    if (isOpen === this.isOpen) return;
    if (this.#closedAt !== null) this.#closedMs += now - this.#closedAt;
    this.#closedAt = isOpen ? null : now;
    this.#changes.put(DOOR_KEY, () => JSON.stringify({ closedAt: this.#closedAt, closedMs: this.#closedMs }));
  }

  /** Payment time at an instant. */
  at(now: number): number {
    return (this.#closedAt ?? now) - this.#closedMs;
  }

  /** The instant at which payment time reaches `at`; null while it stands still. */
  instantOf(at: number): number | null {
    return this.#closedAt === null ? at + this.#closedMs : null;
  }

  restore(key: string, text: string): void {
    const shape = { fields: { closedAt: { orNull: "count" }, closedMs: "count" } } as const;
    const stored = readStored<{ closedAt: number | null; closedMs: number }>(key, text, shape);
    this.#closedAt = stored.closedAt;
    this.#closedMs = stored.closedMs;
  }
}
