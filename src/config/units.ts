/**
 * Lengths of time and sizes as people write them: `45s`, `10m`, `16KB`. One number and one unit, nothing else, so that
 * a value can be read back in one way only. What `format…` writes, `parse…` reads as the same value.
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

function formatIn(units: Readonly<Record<string, number>>, amount: number): string {
  const [smallest, ...larger] = Object.entries(units);
  const [unit, factor] =
    larger.reverse().find(([, factor]) => amount > 0 && amount % factor === 0) ?? smallest!;
  return `${amount / factor}${unit}`;
}
