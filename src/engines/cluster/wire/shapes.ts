/**
 * Shapes: what a value from the network must look like. A shape is a function that checks a value; larger ones are combined from
 * smaller ones.
 */
export type Shape = (value: unknown) => boolean;

const ITEMS_MAX = 200_000;
const TEXT_MAX = 4_096;
const ID_DIGITS = 32;
const COUNT_MAX = 1e9;

const text: Shape = (value) => typeof value === "string" && value.length <= TEXT_MAX;
const id: Shape = (value) =>
  typeof value === "string" && value.length === ID_DIGITS && /^[0-9a-f]+$/.test(value);
const number: Shape = (value) => Number.isFinite(value);
const whole: Shape = (value) => Number.isSafeInteger(value);
const count: Shape = (value) => whole(value) && (value as number) >= 0 && (value as number) <= COUNT_MAX;
const bytes: Shape = (value) => value instanceof Uint8Array;
const flag: Shape = (value) => typeof value === "boolean";
const anything: Shape = () => true;

function upTo(max: number): Shape {
  return (value) => whole(value) && (value as number) >= 0 && (value as number) <= max;
}

function list(of: Shape, itemsMax = ITEMS_MAX): Shape {
  return (value) => Array.isArray(value) && value.length <= itemsMax && value.every(of);
}

/** A list with exactly one item of each shape. */
function pair(...of: readonly Shape[]): Shape {
  return (value) => Array.isArray(value) && value.length === of.length && of.every((is, i) => is(value[i]));
}

function record(fields: Readonly<Record<string, Shape>>): Shape {
  const all = Object.entries(fields);
  return (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    all.every(([name, is]) => is((value as Record<string, unknown>)[name]));
}

function orNull(is: Shape): Shape {
  return (value) => value === null || is(value);
}

/** An object whose field `by` names its shape. */
function oneOf(shapes: Readonly<Record<string, Shape>>, by: string): Shape {
  return (value) => {
    const name = (value as Readonly<Record<string, unknown>> | null | undefined)?.[by];
    return typeof name === "string" && Object.hasOwn(shapes, name) && shapes[name]!(value);
  };
}

export const shape = {
  text,
  id,
  number,
  whole,
  count,
  bytes,
  flag,
  anything,
  upTo,
  list,
  pair,
  record,
  orNull,
  oneOf,
};
