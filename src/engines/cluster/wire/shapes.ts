/**
 * Shapes: what a value from the network must look like. A shape is a function that says whether a value has it; larger ones are
 * put together from smaller ones.
 */
export type Shape = (value: unknown) => boolean;

const ITEMS_MAX = 200_000;
const TEXT_MAX = 4_096;
const ID_DIGITS = 32;
const COUNT_MAX = 1e9;

export const text: Shape = (value) => typeof value === "string" && value.length <= TEXT_MAX;
export const id: Shape = (value) =>
  typeof value === "string" && value.length === ID_DIGITS && /^[0-9a-f]+$/.test(value);
export const number: Shape = (value) => Number.isFinite(value);
export const whole: Shape = (value) => Number.isSafeInteger(value);
export const count: Shape = (value) =>
  whole(value) && (value as number) >= 0 && (value as number) <= COUNT_MAX;
export const bytes: Shape = (value) => value instanceof Uint8Array;
export const flag: Shape = (value) => typeof value === "boolean";
export const anything: Shape = () => true;

/** A whole number from 0 to `max`. */
export function upTo(max: number): Shape {
  return (value) => whole(value) && (value as number) >= 0 && (value as number) <= max;
}

export function list(of: Shape, itemsMax = ITEMS_MAX): Shape {
  return (value) => Array.isArray(value) && value.length <= itemsMax && value.every(of);
}

/** A list with exactly one item of each shape. */
export function pair(...of: readonly Shape[]): Shape {
  return (value) => Array.isArray(value) && value.length === of.length && of.every((is, i) => is(value[i]));
}

/** An object with at least these fields. */
export function record(fields: Readonly<Record<string, Shape>>): Shape {
  const all = Object.entries(fields);
  return (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    all.every(([name, is]) => is((value as Record<string, unknown>)[name]));
}

export function orNull(is: Shape): Shape {
  return (value) => value === null || is(value);
}

/** An object whose field `by` names its shape. */
export function oneOf(shapes: Readonly<Record<string, Shape>>, by: string): Shape {
  return (value) => {
    const name = (value as Readonly<Record<string, unknown>> | null | undefined)?.[by];
    return typeof name === "string" && Object.hasOwn(shapes, name) && shapes[name]!(value);
  };
}
