/**
 * Lengths of time, sizes, percentages and instants as people write them: `45s`, `16KB`, `70%`, `2026-12-01T10:00:00Z`.
 * One number and one unit, nothing else, so that a value can be read back in one way only. What `format…` writes,
 * `parse…` reads as the same value.
 */
const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const UNIT_BYTES = { B: 1, KB: 1_024, MB: 1_048_576, GB: 1_073_741_824 } as const;

/** Milliseconds, or null when the text is not a number with a unit of time. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text.trim());
  return match ? Math.round(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]) : null;
}

/** Bytes, or null when the text is not a number with a unit of size. A KB is 1024 bytes. */
export function parseSize(text: string): number | null {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)\s?(B|KB|MB|GB)$/i.exec(text.trim());
  return match
    ? Math.round(Number(match[1]) * UNIT_BYTES[match[2]!.toUpperCase() as keyof typeof UNIT_BYTES])
    : null;
}

/** The shortest exact way to write a length of time. */
export function formatDuration(ms: number): string {
  return formatIn(UNIT_MS, ms);
}

/** The shortest exact way to write a size. */
export function formatSize(bytes: number): string {
  return formatIn(UNIT_BYTES, bytes);
}

/** A share of 1, or null when the text is not a number and a percent sign. */
export function parsePercent(text: string): number | null {
  const match = /^(\d{1,3}(?:\.\d{1,2})?)\s?%$/.exec(text.trim());
  return match ? Math.round(Number(match[1]) * 100) / 10_000 : null;
}

/** The share as a percentage, to a hundredth of one. */
export function formatPercent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}

export type InstantRead = { readonly at: number } | { readonly wrong: string };

const INSTANT = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(\.\d+)?\s?(Z|[+-]\d{2}:\d{2})?$/i;

/**
 * Milliseconds since 1970 for a date, a time of day and a time zone (RFC 3339), to the second. A time without a zone
 * is refused: the machine's own differs from one machine to the next.
 */
export function parseInstant(text: string): InstantRead {
  const match = INSTANT.exec(text.trim());
  if (!match) return { wrong: "is not a date with a time of day" };
  const [, day, minutes, seconds = ":00", fraction, zone] = match;
  if (zone === undefined) return { wrong: "has no time zone" };
  // Programs write whole seconds with zeros behind them.
  if (fraction !== undefined && /[1-9]/.test(fraction)) return { wrong: "has a part of a second" };
  const asUtc = `${day}T${minutes}${seconds}`;
  const at = Date.parse(`${asUtc}Z`);
  const offsetMs = parseOffset(zone);
  // Date.parse turns 30 February into 2 March, so a date is valid only if it comes back as it was written.
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(asUtc) || offsetMs === null)
    return { wrong: "is not in the calendar or on the clock" };
  return { at: at - offsetMs };
}

/** Null for what no clock on earth is off by. */
function parseOffset(zone: string): number | null {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > OFFSET_HOURS_MAX || minutes > 59) return null;
  return (zone.startsWith("-") ? -1 : 1) * (hours * UNIT_MS.h + minutes * UNIT_MS.m);
}

const OFFSET_HOURS_MAX = 14;

/** The instant in universal time, to the second. */
export function formatInstant(at: number): string {
  return new Date(at).toISOString().replace(".000", "");
}

function formatIn(units: Readonly<Record<string, number>>, amount: number): string {
  const [smallest, ...larger] = Object.entries(units);
  const [unit, factor] =
    larger.reverse().find(([, factor]) => amount > 0 && amount % factor === 0) ?? smallest!;
  return `${amount / factor}${unit}`;
}
