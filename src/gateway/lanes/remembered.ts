/**
 * Answers remembered for a while, and not too many of them. Two generations bound it: when the young one is
 * full it becomes the old one, and what is still asked for moves over.
 */
export class Remembered<T> {
  readonly #generationMax: number;
  #young = new Map<string, Entry<T>>();
  #old = new Map<string, Entry<T>>();

  constructor(generationMax: number) {
    this.#generationMax = generationMax;
  }

  get(key: string, now: number): T | undefined {
    const entry = this.#young.get(key) ?? this.#old.get(key);
    if (entry === undefined || entry.until <= now) return undefined;
    if (!this.#young.has(key)) this.#keep(key, entry);
    return entry.value;
  }

  set(key: string, value: T, until: number): void {
    this.#keep(key, { value, until });
  }

  #keep(key: string, entry: Entry<T>): void {
    if (this.#young.size >= this.#generationMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, entry);
  }
}

interface Entry<T> {
  readonly value: T;
  readonly until: number;
}
