/** Keys as bytes: their order (that of UTF-8, as on Cloudflare) and the ranges that `list` asks for. */
import type { ListOptions } from "./storage.ts";

/** From `from`, up to but not including `to`; bytes of UTF-8. */
export interface KeyRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

/** After every key: UTF-8 never contains this byte. */
const BEYOND_ALL = Uint8Array.of(0xff);

export const keyBytes = (key: string): Buffer => Buffer.from(key, "utf8");
export const keyText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");

export function keyRangeOf({ start, startAfter, end, prefix }: ListOptions): KeyRange {
  if (start !== undefined && startAfter !== undefined)
    throw new TypeError("A list starts at `start` or after `startAfter`; give one of them.");
  let from: Uint8Array = new Uint8Array();
  let to: Uint8Array = BEYOND_ALL;
  if (start !== undefined) from = keyBytes(start);
  if (startAfter !== undefined) from = Buffer.concat([keyBytes(startAfter), Uint8Array.of(0)]);
  if (end !== undefined) to = least(to, keyBytes(end));
  if (prefix !== undefined && prefix !== "") {
    from = most(from, keyBytes(prefix));
    to = least(to, afterPrefix(prefix));
  }
  return { from, to };
}

export function isWithin(range: KeyRange, key: string): boolean {
  const bytes = keyBytes(key);
  return Buffer.compare(bytes, range.from) >= 0 && Buffer.compare(bytes, range.to) < 0;
}

const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;
const SURROGATE_SHIFT = 0x2000;
const OTHERS_SHIFT = 0x800;

/**
 * The order of the UTF-8 bytes of two well-formed strings. It is that of code points, which comparing UTF-16 units does not give.
 */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Moves surrogates, which encode the highest code points, behind everything else. */
function rank(unit: number): number {
  if (unit < FIRST_SURROGATE) return unit;
  return unit < AFTER_SURROGATES ? unit + SURROGATE_SHIFT : unit - OTHERS_SHIFT;
}

/** The first bytes after every key with this prefix. The last byte of UTF-8 is never 0xff. */
function afterPrefix(prefix: string): Uint8Array {
  const bytes = keyBytes(prefix);
  bytes[bytes.length - 1]!++;
  return bytes;
}

const most = (a: Uint8Array, b: Uint8Array) => (Buffer.compare(a, b) >= 0 ? a : b);
const least = (a: Uint8Array, b: Uint8Array) => (Buffer.compare(a, b) <= 0 ? a : b);
