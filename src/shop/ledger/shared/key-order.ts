/** Keys in the order of their bytes, for lists: sorted when somebody lists them, and only what has changed since. */
import { compareUtf8, type KeyRange, keyBytes } from "../../../durable/key-range.ts";

export class KeyOrder {
  /** Those of one first part ("basket/…") are together, so that a new basket leaves the order of the log alone. */
  readonly #groups = new Map<string, Group>();

  add(key: string): void {
    const name = groupOf(key);
    const group = this.#groups.get(name);
    if (group) group.add(key);
    else this.#groups.set(name, new Group([key]));
  }

  remove(key: string): void {
    this.#groups.get(groupOf(key))?.remove(key);
  }

  clear(): void {
    this.#groups.clear();
  }

  /** The keys within a range, in order. */
  *within(range: KeyRange, isReverse: boolean): Generator<string> {
    // The name of a group is where all of its keys begin, so groups come in the order of their names.
    const names = [...this.#groups.keys()].sort(compareUtf8);
    for (const name of isReverse ? names.reverse() : names) {
      const keys = this.#groups.get(name)!.sorted();
      const [from, to] = [firstNotBelow(keys, range.from), firstNotBelow(keys, range.to)];
      if (isReverse) for (let i = to - 1; i >= from; i--) yield keys[i]!;
      else for (let i = from; i < to; i++) yield keys[i]!;
    }
  }
}

class Group {
  #keys: string[];
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();

  constructor(keys: string[]) {
    this.#keys = keys;
  }

  add(key: string): void {
    if (!this.#removed.delete(key)) this.#added.add(key);
  }

  remove(key: string): void {
    if (!this.#added.delete(key)) this.#removed.add(key);
  }

  sorted(): readonly string[] {
    if (this.#removed.size > 0) {
      this.#keys = this.#keys.filter((key) => !this.#removed.has(key));
      this.#removed.clear();
    }
    if (this.#added.size > 0) {
      this.#keys = this.#keys.concat([...this.#added]).sort(compareUtf8);
      this.#added.clear();
    }
    return this.#keys;
  }
}

/** Where the first key is that does not come before these bytes. */
function firstNotBelow(keys: readonly string[], bytes: Uint8Array): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Buffer.compare(keyBytes(keys[middle]!), bytes) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function groupOf(key: string): string {
  const slash = key.indexOf("/");
  return slash < 0 ? key : key.slice(0, slash + 1);
}
