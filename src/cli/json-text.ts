/**
 * JSON as every command prints it. It may be read in a terminal, and hold what others wrote: characters that move a cursor or
 * turn the direction of writing are escaped, as JSON allows.
 */
const NOT_PLAIN = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** For people and programs, on several lines. */
export function jsonText(value: unknown): string {
  return `${plainJson(JSON.stringify(value, null, 2))}\n`;
}

/** For programs that read line by line. */
export function jsonLine(value: unknown): string {
  return `${plainJson(JSON.stringify(value))}\n`;
}

/** The same JSON without such characters. */
export function plainJson(json: string): string {
  return json.replace(
    NOT_PLAIN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
