/**
 * A run as one number: a 64-bit hash over all its events in order. Two runs with the same hash did the same things at the same
 * instants, so a seed that gives another hash on another machine is a finding in itself.
 *
 * Two lanes of MurmurHash3's mixing in 32-bit integer arithmetic, which is the same everywhere; instants are whole microseconds.
 * The contents of messages count, as they arrive and down to a certain depth; of answers, faults and the like only the parties,
 * since messages and turns follow from them. It is not a cryptographic hash. Lines of text are made only when someone reads them.
 */
const HAPPENINGS = [
  "start",
  "stop",
  "message",
  "lost message",
  "ask",
  "reply",
  "turn",
  "fault",
  "end of fault",
  "phase",
] as const;
export type Happening = (typeof HAPPENINGS)[number];

const CODES: Readonly<Record<string, number>> = Object.fromEntries(HAPPENINGS.map((name, i) => [name, i]));

/** How deep into a message, down to the packed entries: everything would cost a seventh of a run, this costs a twentieth. */
const DEPTH_MAX = 5;

/** To read the bits of a number. */
const DOUBLE = new Float64Array(1);
const HALVES = new Int32Array(DOUBLE.buffer);

/** The two parties of an event, by number: nodes, visitors or places. */
export interface Parties {
  readonly a: number;
  readonly b: number;
}

export class EventLog {
  #high = 0x2545f491;
  #low = 0x9e3779b9;
  readonly #print: ((line: string) => void) | null;

  /** `print` gets every event as a line. */
  constructor(print: ((line: string) => void) | null = null) {
    this.#print = print;
  }

  /** Adds an event. `detail` is for the line only, except for a message, whose contents count. */
  add(what: Happening, time: number, { a, b }: Parties, detail?: unknown): void {
    this.#mix(CODES[what]!);
    this.#mixWide(Math.round(time * 1_000));
    this.#mixWide(a);
    this.#mixWide(b);
    if (what === "message" && detail !== undefined) this.#mixContents(detail, DEPTH_MAX);
    if (this.#print) this.#print(lineOf(what, time, { a, b }, detail));
  }

  get hash(): string {
    return hex(finished(this.#high ^ this.#low)) + hex(finished(this.#low + Math.imul(this.#high, 5)));
  }

  /** Mixes in values in the order of their fields; field names are the same for every message of a kind. */
  #mixContents(value: unknown, depth: number): void {
    if (typeof value === "number") this.#mixNumber(value);
    else if (typeof value === "string") this.#mixText(value);
    else if (value instanceof Uint8Array) this.#mixBytes(value);
    else if (Array.isArray(value)) {
      this.#mix(value.length);
      if (depth > 0) for (const item of value) this.#mixContents(item, depth - 1);
    } else if (typeof value === "object" && value !== null) {
      if (depth > 0)
        for (const key in value)
          this.#mixContents((value as Readonly<Record<string, unknown>>)[key], depth - 1);
    } else this.#mix(value === true ? 1 : value === false ? 2 : 3);
  }

  #mixNumber(value: number): void {
    if (value === (value | 0)) return this.#mix(value);
    DOUBLE[0] = value;
    this.#mix(HALVES[0]!);
    this.#mix(HALVES[1]!);
  }

  #mixText(text: string): void {
    this.#mix(text.length);
    let word = 0;
    for (let i = 0; i < text.length; i++) word = Math.imul(word, 31) + text.charCodeAt(i);
    this.#mix(word);
  }

  #mixBytes(bytes: Uint8Array): void {
    this.#mix(bytes.length);
    let word = 0;
    for (let i = 0; i < bytes.length; i++) word = Math.imul(word, 31) + bytes[i]!;
    this.#mix(word);
  }

  #mixWide(value: number): void {
    this.#mix(value >>> 0);
    this.#mix(Math.floor(value / 2 ** 32) >>> 0);
  }

  #mix(word: number): void {
    this.#high = rotated(this.#high ^ Math.imul(word, 0xcc9e2d51), 13) + this.#low;
    this.#high = Math.imul(this.#high, 5) + 0x561ccd1b;
    this.#low = rotated(this.#low ^ Math.imul(word, 0x1b873593), 17) + this.#high;
    this.#low = Math.imul(this.#low, 5) + 0x0bcaa747;
  }
}

function lineOf(what: Happening, time: number, { a, b }: Parties, detail: unknown): string {
  const words =
    detail === undefined ? "" : ` ${typeof detail === "string" ? detail : JSON.stringify(detail)}`;
  return `${time.toFixed(3)} ${what} ${a} ${b}${words}`;
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function finished(word: number): number {
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}

function hex(word: number): string {
  return word.toString(16).padStart(8, "0");
}
