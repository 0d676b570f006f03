import assert from "node:assert/strict";
import { test } from "node:test";
import { CacheEntry, entryBytes, ValueCache } from "./value-cache.ts";

function filled(count: number, bytesMax: number) {
  const home = new Map<string, CacheEntry>();
  const cache = new ValueCache(bytesMax);
  const entries = Array.from({ length: count }, (_, n) => new CacheEntry(home, String(n), n));
  for (const entry of entries) {
    home.set(entry.key, entry);
    cache.add(entry);
  }
  return { home, cache, entries };
}
const one = entryBytes(new CacheEntry(new Map(), "1", 1));

test("a full cache drops the oldest entry", () => {
  const { home, cache } = filled(5, one * 3);
  assert.deepEqual([...home.keys()], ["2", "3", "4"]);
  assert.equal(cache.bytes, one * 3);
});

test("an entry that was read since goes round once more", () => {
  const { home, cache, entries } = filled(3, one * 3);
  entries[0]!.isUsed = true;
  const next = new CacheEntry(home, "9", 9);
  home.set("9", next);
  cache.add(next);
  assert.deepEqual([...home.keys()], ["0", "2", "9"]);
});

test("an entry that was removed is never dropped and no longer counts", () => {
  const { home, cache, entries } = filled(3, one * 3);
  cache.remove(entries[0]!);
  assert.equal(cache.bytes, one * 2);
  for (const key of ["7", "8", "9"]) {
    const entry = new CacheEntry(home, key, 1);
    home.set(key, entry);
    cache.add(entry);
  }
  assert.ok(home.has("0"));
  assert.equal(home.size, 4);
});
