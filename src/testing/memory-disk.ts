/** Objects in memory only, behind the same gates: for tests, and to measure what the disk costs. */
import type { Changes, Disk, ObjectName, StoredAlarm } from "../durable/disk.ts";
import { copyOf, type HeldValue } from "../durable/held-value.ts";
import { compareUtf8, isWithin, type KeyRange } from "../durable/key-range.ts";

interface Kept {
  readonly object: ObjectName;
  readonly values: Map<string, HeldValue>;
  alarmAt: number | null;
}

export class MemoryDisk implements Disk {
  readonly file = "memory";
  readonly #objects = new Map<string, Kept>();

  read(object: ObjectName, key: string): HeldValue {
    return this.#find(object)?.values.get(key);
  }

  has(object: ObjectName, key: string): boolean {
    return this.#find(object)?.values.has(key) ?? false;
  }

  list(
    object: ObjectName,
    { range, isReverse, limit }: { range: KeyRange; isReverse: boolean; limit: number },
  ): [string, HeldValue][] {
    const within = [...(this.#find(object)?.values ?? [])].filter(([key]) => isWithin(range, key));
    within.sort(([a], [b]) => (isReverse ? compareUtf8(b, a) : compareUtf8(a, b)));
    const chosen = limit < 0 ? within : within.slice(0, limit);
    return chosen.map(([key, held]) => [key, copyOf(held)]);
  }

  alarm(object: ObjectName): number | null {
    return this.#find(object)?.alarmAt ?? null;
  }

  alarms(): StoredAlarm[] {
    return [...this.#objects.values()].flatMap(({ object, alarmAt }) =>
      alarmAt === null ? [] : [{ object, alarmAt }],
    );
  }

  commit(all: readonly Changes[]): void {
    for (const { object, isWiped, values, alarmAt } of all) {
      const kept = this.#find(object) ?? this.#make(object);
      if (isWiped) kept.values.clear();
      for (const [key, held] of values) {
        if (held === undefined) kept.values.delete(key);
        else kept.values.set(key, held);
      }
      if (alarmAt !== undefined) kept.alarmAt = alarmAt;
    }
  }

  sync(done: (failure: Error | null) => void): void {
    done(null);
  }

  upkeep(): null {
    return null;
  }

  async close(): Promise<void> {}

  #find({ className, name }: ObjectName): Kept | undefined {
    return this.#objects.get(`${className}\0${name}`);
  }

  #make(object: ObjectName): Kept {
    const kept: Kept = { object, values: new Map(), alarmAt: null };
    this.#objects.set(`${object.className}\0${object.name}`, kept);
    return kept;
  }
}
