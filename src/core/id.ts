/** Visitor ids: 128 random bits as 32 hexadecimal digits. */
import { toHex } from "./hex.ts";

export const ID_BYTES = 16;

/** Writes random bytes as an id. */
export function idFromBytes(bytes: Uint8Array): string {
  return toHex(bytes, 0, ID_BYTES);
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}
