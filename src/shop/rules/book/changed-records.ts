/**
 * The records that a command has changed, by key. They are written as text only when they are taken, so a record that changes
 * several times in one command is written once. Whoever stores them stores all of one `take` together.
 */

/** A record's text; null: it is deleted. */
export type RecordChange = readonly [key: string, text: string | null];

export class ChangedRecords {
  #changed = new Map<string, (() => string) | null>();

  get isEmpty(): boolean {
    return this.#changed.size === 0;
  }

  /** `text` is called when the changes are taken. */
  put(key: string, text: () => string): void {
    this.#changed.set(key, text);
  }

  remove(key: string): void {
    this.#changed.set(key, null);
  }

  /** All changes since the last call. */
  take(): RecordChange[] {
    if (this.#changed.size === 0) return [];
    const changed = Array.from(this.#changed, ([key, text]) => [key, text === null ? null : text()] as const);
    this.#changed = new Map();
    return changed;
  }
}
