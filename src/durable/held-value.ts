/**
 * A value as memory holds it. Primitives cannot change and are held as they are. Everything else is held as the bytes of its
 * structured clone, so that every caller reads a copy of its own.
 *
 * Those bytes are made when the value is put, since the caller may change it afterwards; those of a primitive only when it is
 * written to disk, once per commit instead of once per put.
 */
import { deserialize, serialize } from "node:v8";
import { checkValueBytes, VALUE_BYTES_MAX } from "./limits.ts";

export type Primitive = string | number | boolean | bigint | null;
/** `undefined` stands for "no such key". */
export type HeldValue = Primitive | Uint8Array | undefined;

/** Strings up to this length are within the limit in any encoding, at two bytes a unit and a small header. */
const SURE_STRING_LENGTH = VALUE_BYTES_MAX / 2 - 16;
const SMALL_BYTES = 16;

/** Takes a value. Throws when it cannot be copied or is too large. */
export function hold(key: string, value: unknown): HeldValue {
  if (value === undefined)
    throw new TypeError(`The value of "${key}" is undefined; delete the key, or put null.`);
  if (isPrimitive(value)) {
    const mayBeLarge =
      (typeof value === "string" && value.length > SURE_STRING_LENGTH) || typeof value === "bigint";
    if (mayBeLarge) checkValueBytes(key, serialize(value).byteLength);
    return value;
  }
  const bytes = serialize(value);
  checkValueBytes(key, bytes.byteLength);
  return bytes;
}

/** The value for a caller, as a copy. */
export function release(held: HeldValue): unknown {
  return releaseOwn(copyOf(held));
}

/** The value when nobody else has the bytes. */
export function releaseOwn(held: HeldValue): unknown {
  return held instanceof Uint8Array ? deserialize(held) : held;
}

/** v8 returns typed arrays as views of the bytes it reads, so bytes that are kept must be copied first. */
export function copyOf(held: HeldValue): HeldValue {
  return held instanceof Uint8Array ? new Uint8Array(held) : held;
}

/** What memory holds of a value read from disk. */
export function heldFromDisk(bytes: Uint8Array): HeldValue {
  if (bytes.byteLength > SMALL_BYTES) return bytes;
  const value: unknown = deserialize(bytes);
  return isPrimitive(value) ? value : bytes;
}

export function toDisk(held: Exclude<HeldValue, undefined>): Uint8Array {
  return held instanceof Uint8Array ? held : serialize(held);
}

/** Roughly how much memory it takes. */
export function heldBytes(held: HeldValue): number {
  if (held instanceof Uint8Array) return held.byteLength;
  return typeof held === "string" ? held.length * 2 : SMALL_BYTES;
}

function isPrimitive(value: unknown): value is Primitive {
  return (
    value === null ||
    (typeof value !== "object" &&
      typeof value !== "function" &&
      typeof value !== "symbol" &&
      value !== undefined)
  );
}
