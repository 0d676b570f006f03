/** Bytes as lower-case hexadecimal digits, and back; here because the rules import nothing. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const CODES = Uint8Array.from([..."0123456789abcdef"], (digit) => digit.charCodeAt(0));
const NO_DIGIT = 0xff;
/** What each character code is worth as a digit. Capitals are none: one value has one spelling. */
const DIGITS = new Uint8Array(128).fill(NO_DIGIT);
for (const [value, code] of CODES.entries()) DIGITS[code] = value;

/** `length` bytes from `offset` on as text. */
export function toHex(bytes: Uint8Array, offset = 0, length = bytes.length - offset): string {
  let text = "";
  for (let i = offset; i < offset + length; i++) text += HEX[bytes[i]!];
  return text;
}

/** Writes `length` bytes from `from` on into `text` at `at`, as character codes: for texts too long for fast concatenation. */
export function writeHex(
  bytes: Uint8Array,
  from: number,
  length: number,
  text: Uint8Array,
  at: number,
): void {
  for (let i = 0; i < length; i++) {
    const byte = bytes[from + i]!;
    text[at + 2 * i] = CODES[byte >> 4]!;
    text[at + 2 * i + 1] = CODES[byte & 0xf]!;
  }
}

/** The bytes that a text stands for; null when it is not pairs of hexadecimal digits. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0) return null;
  const bytes = new Uint8Array(text.length / 2);
  return readHex(text, 0, bytes, 0, bytes.length) ? bytes : null;
}

/** Reads `length` bytes from the text at `from` into `bytes` at `at`. False: there were fewer digits. */
export function readHex(text: string, from: number, bytes: Uint8Array, at: number, length: number): boolean {
  if (from + 2 * length > text.length) return false;
  for (let i = 0; i < length; i++) {
    const high = DIGITS[text.charCodeAt(from + 2 * i)] ?? NO_DIGIT;
    const low = DIGITS[text.charCodeAt(from + 2 * i + 1)] ?? NO_DIGIT;
    if (high === NO_DIGIT || low === NO_DIGIT) return false;
    bytes[at + i] = (high << 4) | low;
  }
  return true;
}
