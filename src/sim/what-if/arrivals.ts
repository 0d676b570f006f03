/**
 * When the visitors of a crowd come, as milliseconds from the first. A shape is the share of the crowd that is there by
 * a share of the time; its inverse tells when a given share has come. The crowd is cut into as many equal shares as
 * there are visitors, and one comes at a random moment of each: the shape is met exactly, and two seeds still differ.
 *
 *   constant   as many in every minute
 *   spike      everybody within a few seconds, most of them at once: a link was sent to all
 *   sigmoid    few, then many, then few: the flash crowd of Pluijmaekers, section 5.4.1 and figure 5.1,
 *              s(t) = 520 * tanh((t - 120) / 60) + 502 customers by second t, from 1 to 232
 *
 * Of Pluijmaekers' function only the shape is kept; how many come and how long that takes is asked.
 */
export type ArrivalShape = "constant" | "spike" | "sigmoid";

export const ARRIVAL_SHAPES: readonly ArrivalShape[] = ["constant", "spike", "sigmoid"];

/** How long a crowd takes to come where nobody says. */
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

/** When each visitor comes, the first first, to the millisecond. */
export function arrivalTimes({ shape, size, overMs }: Arrivals, dice: () => number): Float64Array {
  const times = new Float64Array(size);
  const timeOf = TIME_OF[shape];
  for (let i = 0; i < size; i++) times[i] = Math.floor(timeOf((i + dice()) / size) * overMs);
  return times;
}

/** By which share of the time a share of the crowd has come; both from 0 to 1. */
const TIME_OF: Readonly<Record<ArrivalShape, (share: number) => number>> = {
  constant: (share) => share,
  // A flow that is strongest at the start and falls evenly to nothing.
  spike: (share) => 1 - Math.sqrt(1 - share),
  sigmoid: (share) => sigmoidSecond(share) / SIGMOID_SECONDS,
};

const SIGMOID_MIDDLE = 120;
const SIGMOID_WIDTH = 60;
const SIGMOID_SECONDS = 232;
const SIGMOID_FROM = Math.tanh((0 - SIGMOID_MIDDLE) / SIGMOID_WIDTH);
const SIGMOID_TO = Math.tanh((SIGMOID_SECONDS - SIGMOID_MIDDLE) / SIGMOID_WIDTH);

/** The second t at which s(t) has gone this share of the way from its first to its last value. */
function sigmoidSecond(share: number): number {
  const height = SIGMOID_FROM + share * (SIGMOID_TO - SIGMOID_FROM);
  return Math.max(0, SIGMOID_MIDDLE + SIGMOID_WIDTH * Math.atanh(height));
}
