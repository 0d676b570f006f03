/**
 * The axes of a chart: where a value lies, and which values get a tick. Ticks are round numbers: 1, 2 or 5 times a power of ten;
 * decades on a logarithmic axis; seconds, quarters of an hour and hours on a time axis.
 */
export interface Axis {
  /** On a time axis `{unit}` stands for the unit of its ticks. */
  readonly label: string;
  /** `time`: linear, in milliseconds, with ticks in a suitable unit. */
  readonly scale?: "linear" | "log" | "time";
  /** Both ends; by default those of the values, with linear axes starting at 0 or below. */
  readonly min?: number;
  readonly max?: number;
  readonly format?: (value: number) => string;
}

export interface Tick {
  readonly value: number;
  readonly text: string;
}

export interface Scale {
  readonly label: string;
  readonly ticks: readonly Tick[];
  /** From 0 at the start of the axis to 1 at its end; values outside are put at the nearer end. */
  share(value: number): number;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

const TICKS_WISHED = 5;
const DECADES_ALONE = 3;
const TICKS_MAX = 40;
/** Smaller numbers count as 0. */
const LEAST = 1e-100;

/** The axis for these values. `isRounded`: it ends at a tick, which suits vertical axes. */
export function scaleFor(axis: Axis, values: Iterable<number>, isRounded: boolean): Scale {
  if (axis.scale === "log") return logScale(axis, values, isRounded);
  const span = spanOf(axis, values, 0);
  return axis.scale === "time" ? timeScale(axis, span) : linearScale(axis, span, isRounded);
}

function linearScale(axis: Axis, span: Span, isRounded: boolean): Scale {
  const step = niceStep((span.to - span.from) / TICKS_WISHED);
  const to = isRounded && axis.max === undefined ? Math.ceil(span.to / step - 1e-9) * step : span.to;
  const format = axis.format ?? plainNumber;
  return between({ from: span.from, to }, axis.label, ticksOf({ from: span.from, to }, step, format));
}

function timeScale(axis: Axis, span: Span): Scale {
  const step = niceDuration((span.to - span.from) / TICKS_WISHED);
  const { name, ms } = unitFor(span.to - span.from);
  const format = axis.format ?? ((value: number) => plainNumber(value / ms));
  return between(span, axis.label.replace("{unit}", name), ticksOf(span, step, format));
}

/** Values at or below 0 are put at the start of the axis. */
function logScale(axis: Axis, values: Iterable<number>, isRounded: boolean): Scale {
  const positive = [...values].filter((value) => value > LEAST);
  const span = spanOf(axis, positive, Number.POSITIVE_INFINITY);
  const from = isRounded && axis.min === undefined ? decade(span.from, Math.floor) : span.from;
  const to = isRounded && axis.max === undefined ? decade(span.to, Math.ceil) : span.to;
  const ends = { from: Math.log10(from), to: Math.log10(to) };
  const format = axis.format ?? plainNumber;
  const ticks = logTicks({ from, to }).map((value) => ({ value, text: format(value) }));
  const share = (value: number) => (value <= 0 ? 0 : shareOf(ends, Math.log10(value)));
  return { label: axis.label, ticks, share };
}

function decade(value: number, round: (power: number) => number): number {
  return Number(`1e${round(Number(Math.log10(value).toFixed(9)))}`);
}

/** Every decade; with few decades also 2 and 5 times each; with many only some of them. */
function logTicks({ from, to }: Span): number[] {
  const first = Math.floor(Math.log10(from) + 1e-9);
  const last = Math.ceil(Math.log10(to) - 1e-9);
  const factors = last - first <= DECADES_ALONE ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil((last - first) / (2 * TICKS_WISHED)));
  const ticks: number[] = [];
  for (let power = first; power <= last; power += every)
    for (const factor of factors) ticks.push(Number(`${factor}e${power}`));
  return ticks.filter((value) => value >= from * (1 - 1e-9) && value <= to * (1 + 1e-9)).slice(0, TICKS_MAX);
}

function between(span: Span, label: string, ticks: readonly Tick[]): Scale {
  return { label, ticks, share: (value) => shareOf(span, value) };
}

function shareOf({ from, to }: Span, value: number): number {
  return Math.min(1, Math.max(0, (value - from) / (to - from)));
}

function ticksOf({ from, to }: Span, step: number, format: (value: number) => string): Tick[] {
  const ticks: Tick[] = [];
  const first = Math.ceil(from / step - 1e-9);
  for (let i = first; i * step <= to + step * 1e-9 && ticks.length < TICKS_MAX; i++) {
    // Plus zero, since a count up from -1e-9 begins at minus zero.
    const value = i * step + 0;
    ticks.push({ value, text: format(value) });
  }
  return ticks;
}

/** The range of the values, widened if it is empty. `least`: the range starts here or below. */
function spanOf({ min, max }: Axis, values: Iterable<number>, least: number): Span {
  let from = least;
  let to = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    from = Math.min(from, value);
    to = Math.max(to, value);
  }
  from = min ?? (Number.isFinite(from) ? from : 1);
  to = max ?? (Number.isFinite(to) ? to : from);
  const isPoint = to - from <= Math.max(LEAST, Math.max(Math.abs(from), Math.abs(to)) * 1e-9);
  if (!isPoint) return { from, to };
  return { from, to: Math.abs(from) <= LEAST ? 1 : from + Math.abs(from) };
}

/** The smallest 1, 2 or 5 times a power of ten that is not below this. */
export function niceStep(least: number): number {
  if (!(least > 0)) return 1;
  const power = Math.floor(Math.log10(least) + 1e-9);
  const factor =
    [1, 2, 5, 10].find((candidate) => Number(`${candidate}e${power}`) >= least * (1 - 1e-9)) ?? 10;
  return Number(`${factor}e${power}`);
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const UNITS: readonly { name: string; ms: number; spans: number }[] = [
  { name: "days", ms: DAY_MS, spans: 3 * DAY_MS },
  { name: "hours", ms: HOUR_MS, spans: 4 * HOUR_MS },
  { name: "minutes", ms: MINUTE_MS, spans: 4 * MINUTE_MS },
  { name: "seconds", ms: SECOND_MS, spans: 0 },
];
const STEPS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
];

/** The smallest round duration that is not below this. */
export function niceDuration(leastMs: number): number {
  const step = STEPS.find((ms) => ms >= leastMs * (1 - 1e-9));
  return step ?? niceStep(leastMs / DAY_MS) * DAY_MS;
}

function unitFor(spanMs: number): { name: string; ms: number } {
  return UNITS.find(({ spans }) => spanMs >= spans)!;
}

/** As short as possible: "45,000", "0.25", "1.2M". */
export function plainNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toLocaleString("en", { maximumFractionDigits: 2 })}M`;
  if (size > 0 && size < 0.001) return Number(value.toPrecision(3)).toExponential().replace("e-", "e−");
  return value.toLocaleString("en", { maximumSignificantDigits: size < 1 ? 3 : 9 });
}
