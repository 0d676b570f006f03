/**
 * The limits of storage, and the checks of what callers pass. A mistake here is a bug of the caller, so it is thrown at once,
 * even from calls whose promise nobody awaits.
 */

export const KEY_BYTES_MAX = 2_048;
/** In its encoding on disk. */
export const VALUE_BYTES_MAX = 2 * 2 ** 20;
/** In one call of get, put or delete; as on Cloudflare. */
export const KEYS_PER_CALL_MAX = 128;
const NAME_BYTES_MAX = 1_024;

/** A code unit takes at most this many bytes of UTF-8, so short keys need not be counted. */
const UTF8_BYTES_PER_UNIT_MAX = 3;

export function checkKey(key: unknown): asserts key is string {
  if (typeof key !== "string") throw new TypeError(`A key is a string; this one is ${describe(key)}.`);
  if (key.length * UTF8_BYTES_PER_UNIT_MAX > KEY_BYTES_MAX && Buffer.byteLength(key) > KEY_BYTES_MAX)
    throw new RangeError(
      `A key may have ${KEY_BYTES_MAX} bytes; "${key.slice(0, 40)}…" has ${Buffer.byteLength(key)}.`,
    );
  if (key === "") throw new RangeError("A key may not be empty.");
  if (!key.isWellFormed())
    throw new TypeError(
      `A key must be well-formed Unicode; ${JSON.stringify(key)} has half a surrogate pair.`,
    );
}

export function checkKeys(keys: readonly unknown[]): asserts keys is readonly string[] {
  checkCount(keys.length);
  for (const key of keys) checkKey(key);
}

export function checkCount(count: number): void {
  if (count > KEYS_PER_CALL_MAX)
    throw new RangeError(`One call may name ${KEYS_PER_CALL_MAX} keys; this one names ${count}. Split it.`);
}

export function checkValueBytes(key: string, bytes: number): void {
  if (bytes > VALUE_BYTES_MAX)
    throw new RangeError(
      `A value may take ${VALUE_BYTES_MAX} bytes; that of "${key}" takes ${bytes}. Spread it over several keys.`,
    );
}

export function checkName(name: unknown): asserts name is string {
  if (typeof name !== "string" || name === "" || !name.isWellFormed())
    throw new TypeError(`An object's name is a string that is not empty; this one is ${describe(name)}.`);
  if (Buffer.byteLength(name) > NAME_BYTES_MAX)
    throw new RangeError(`An object's name may have ${NAME_BYTES_MAX} bytes.`);
}

export function checkLimit(limit: number | undefined): void {
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
    throw new RangeError(`The limit of a list is a whole number above 0; this one is ${String(limit)}.`);
}

function describe(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : value === null ? "null" : `a ${typeof value}`;
}
