/** Visitor ids: 128 random bits as 32 hexadecimal digits. */
export const ID_BYTES = 16;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Writes random bytes as an id. */
export function idFromBytes(bytes: Uint8Array): string {
  let id = "";
  for (let i = 0; i < ID_BYTES; i++) id += HEX[bytes[i]!];
  return id;
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}
