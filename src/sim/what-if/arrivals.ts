/**
 * When the visitors of a crowd arrive, as milliseconds from the first. A shape is the share of the crowd that has arrived by a
 * share of the time; its inverse tells when a given share has arrived. The crowd is cut into as many equal shares as there are
 * visitors, and one arrives at a random moment of each: the shape is met exactly, and two seeds still differ.
 *
 *   constant   the same number in every minute
 *   spike      everybody within a few seconds, most of them at once: a link was sent to all
 *   sigmoid    few, then many, then few: the flash crowd of Pluijmaekers, section 5.4.1 and figure 5.1,
 *              s(t) = 520 tanh((t - 120) / 60) + 502 customers by second t, from 1 to 232
 *
 * Only the shape of Pluijmaekers' function is used; the number of visitors and the duration are options.
 */
export type ArrivalShape = "constant" | "spike" | "sigmoid";

export const ARRIVAL_SHAPES: readonly ArrivalShape[] = ["constant", "spike", "sigmoid"];

/** How long a crowd takes to arrive by default. */
export const OVER_MS: Readonly<Record<ArrivalShape, number>> = {
  constant: 600_000,
  spike: 5_000,
  sigmoid: 600_000,
};

export interface Arrivals {
  readonly shape: ArrivalShape;
  /** How many visitors. */
  readonly size: number;
  readonly overMs: number;
}

/** When each visitor arrives, earliest first, in whole milliseconds. */
export function arrivalTimes({ shape, size, overMs }: Arrivals, dice: () => number): Float64Array {
  const times = new Float64Array(size);
  const timeOf = TIME_OF[shape];
  for (let i = 0; i < size; i++) times[i] = Math.floor(timeOf((i + dice()) / size) * overMs);
  return times;
}

/** The share of the time by which a share of the crowd has arrived; both from 0 to 1. */
const TIME_OF: Readonly<Record<ArrivalShape, (share: number) => number>> = {
  constant: (share) => share,
  // Strongest at the start, falling evenly to nothing.
  spike: (share) => 1 - Math.sqrt(1 - share),
  sigmoid: (share) => sigmoidSecond(share) / SIGMOID_SECONDS,
};

const SIGMOID_MIDDLE = 120;
const SIGMOID_WIDTH = 60;
const SIGMOID_SECONDS = 232;
const SIGMOID_FROM = Math.tanh((0 - SIGMOID_MIDDLE) / SIGMOID_WIDTH);
const SIGMOID_TO = Math.tanh((SIGMOID_SECONDS - SIGMOID_MIDDLE) / SIGMOID_WIDTH);

/** The second t at which s(t) has covered this share of its range. */
function sigmoidSecond(share: number): number {
  const height = SIGMOID_FROM + share * (SIGMOID_TO - SIGMOID_FROM);
  return Math.max(0, SIGMOID_MIDDLE + SIGMOID_WIDTH * Math.atanh(height));
}
