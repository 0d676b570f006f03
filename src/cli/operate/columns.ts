/**
 * Text in columns of a terminal. Most characters take one; those of East Asian scripts and pictures take two; marks that are
 * written over others take none.
 */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NARROWEST = /\p{Mn}|\p{Me}|\p{Cf}/u;
const BLOCKS = " ▁▂▃▄▅▆▇█";

/** How many columns a text takes. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

function widthOf(character: string): number {
  if (character <= "~") return 1;
  return WIDE.test(character) ? 2 : NARROWEST.test(character) ? 0 : 1;
}

/** Text of exactly this many columns: cut with an ellipsis, or padded with spaces. */
export function fitted(text: string, columns: number, side: "left" | "right" = "left"): string {
  const cut = clipped(text, columns);
  const space = " ".repeat(Math.max(0, columns - columnsOf(cut)));
  return side === "left" ? cut + space : space + cut;
}

/** Text of at most this many columns. */
export function clipped(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let cut = "";
  let used = 0;
  for (const character of text) {
    const width = widthOf(character);
    if (used + width > columns - 1) break;
    used += width;
    cut += character;
  }
  return columns > 0 ? `${cut}…` : "";
}

/** A bar of this many columns, filled in proportion. */
export function bar(value: number, max: number, columns: number): string {
  const share = max > 0 ? value / max : 0;
  const filled = Math.max(0, Math.min(columns, Math.round(share * columns)));
  return "█".repeat(filled) + "░".repeat(columns - filled);
}

/** The latest values as a row of small bars, the highest of them at full height. */
export function sparkline(values: readonly number[], columns: number): string {
  const shown = values.slice(-columns);
  const max = Math.max(1, ...shown);
  return shown.map((value) => BLOCKS[Math.ceil((Math.max(0, value) / max) * (BLOCKS.length - 1))]).join("");
}
