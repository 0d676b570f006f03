/**
 * Lines of the access log as bytes, written into the buffer that is sent. A line never becomes a string first: at thousands of
 * lines a second, collecting that garbage would cost more than the writing.
 */

/** The most bytes of one line. Every field of a line has a limit of its own, far below. */
export const LINE_BYTES_MAX = 8 * 1_024;

/** Up to this length a loop is faster than a call into the runtime. */
const SHORT = 40;
const ZERO = 48;
/** Up to here division of whole numbers is cheap; larger ones are rare. */
const SMALL_NUMBERS_MAX = 2 ** 31 - 1;

const QUOTE = 34;
const BACKSLASH = 92;
/** 1 for printable ASCII except quote and backslash. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, code) =>
  code >= 32 && code < 127 && code !== QUOTE && code !== BACKSLASH ? 1 : 0,
);

export class LineBuffer {
  readonly #bytes: Buffer;
  #length = 0;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  get length(): number {
    return this.#length;
  }

  get hasRoom(): boolean {
    return this.#length + LINE_BYTES_MAX <= this.#bytes.length;
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** Text that is ASCII. */
  text(text: string): void {
    if (text.length > SHORT) {
      this.#length += this.#bytes.write(text, this.#length, "latin1");
      return;
    }
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
    this.#length = at;
  }

  number(number: number): void {
    if (number < 0 || number > SMALL_NUMBERS_MAX || !Number.isInteger(number)) {
      this.text(String(number));
      return;
    }
    let end = this.#length + 1;
    for (let rest = number; rest >= 10; rest = (rest / 10) | 0) end++;
    this.#length = end;
    const bytes = this.#bytes;
    let rest = number;
    do {
      bytes[--end] = ZERO + (rest % 10);
      rest = (rest / 10) | 0;
    } while (rest > 0);
  }

  /** Text from a visitor: escaped where it is not plain, and cut at the limit. */
  escaped(text: string, charactersMax: number, escapeOf: (code: number) => string): void {
    const bytes = this.#bytes;
    let at = this.#length;
    const end = at + charactersMax;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code < PLAIN.length && PLAIN[code] === 1) {
        if (at === end) break;
        bytes[at++] = code;
      } else {
        const escaped = escapeOf(code);
        if (at + escaped.length > end) break;
        this.#length = at;
        this.text(escaped);
        at = this.#length;
      }
    }
    this.#length = at;
  }
}
