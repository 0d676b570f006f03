/**
 * The log as people read it, for a terminal: the time, what is wrong where something is, the message, and its fields.
 *
 *   12:03:41  main: a line has formed: the site is full (totalActiveUsers 200)
 *   12:04:02  warn  origin address cannot be connected to  address=http://10.0.0.1:3000
 *
 * Texts from outside are made fit for a terminal. Until the banner is shown lines wait, and those that only inform are dropped,
 * since the banner says what they say.
 */
import { safeText } from "../../config/problem.ts";
import { isRecord } from "../../config/salvage.ts";

const WARN = 40;
const ERROR = 50;
const TEXT_CHARACTERS_MAX = 600;
const FIELD_CHARACTERS_MAX = 160;
const FIELDS_MAX = 12;
/** What stands elsewhere in the line, or only serves programs. */
const HIDDEN = new Set(["level", "time", "msg", "code"]);

interface LineOutput {
  write(line: string): void;
}

export class ReadableLog {
  readonly #out: LineOutput;
  readonly #isColour: boolean;
  #held: string[] | null = [];

  constructor(out: LineOutput, isColour: boolean) {
    this.#out = out;
    this.#isColour = isColour;
  }

  /** Takes one line of JSON. */
  write(line: string): void {
    const fields = parse(line);
    if (this.#held === null) this.#out.write(this.#text(fields, line));
    else if (!(Number(fields?.level) < WARN)) this.#held.push(this.#text(fields, line));
  }

  /** Shows what was held back, below `banner`. */
  release(banner = ""): void {
    const held = this.#held ?? [];
    this.#held = null;
    this.#out.write(banner + held.join(""));
  }

  #text(fields: Record<string, unknown> | null, line: string): string {
    if (fields === null) return `${safeText(line.trim(), TEXT_CHARACTERS_MAX)}\n`;
    const { level, time, msg, code } = fields;
    const paint = (text: string, colour: number) => (this.#isColour ? `\x1b[${colour}m${text}\x1b[0m` : text);
    const word =
      Number(level) >= ERROR ? paint("error ", 31) : Number(level) >= WARN ? paint("warn  ", 33) : "";
    const message = safeText(String(msg ?? ""), TEXT_CHARACTERS_MAX);
    // A story's sentence has its numbers in it.
    const shown = String(code).startsWith("LINE_")
      ? []
      : Object.entries(fields).filter(([key]) => !HIDDEN.has(key));
    const more = shown
      .slice(0, FIELDS_MAX)
      .map(([key, value]) => `  ${safeText(key, 40)}=${valueText(value)}`);
    return `${timeOfDay(new Date(Number(time)))}  ${word}${message}${more.length > 0 ? paint(more.join(""), 2) : ""}\n`;
  }
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function valueText(value: unknown): string {
  if (isRecord(value) && typeof value.message === "string")
    return safeText(value.message, FIELD_CHARACTERS_MAX);
  return safeText(typeof value === "string" ? value : JSON.stringify(value), FIELD_CHARACTERS_MAX);
}

/** The time of day here, in seconds. */
export function timeOfDay(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}
