/**
 * What can be known of settings that are partly wrong. Each setting is parsed by itself and left out when it is not
 * good, so that the checks between settings can run on the rest and every problem is shown at once.
 */
import { z } from "zod";

/** The same shape with anything missing. Lists are whole or missing. */
export type Known<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Known<T[K]> }
    : T;

/** The parts of `input` that `schema` accepts, parsed. */
export function salvage<T extends z.ZodType>(schema: T, input: unknown): Known<z.output<T>> | undefined {
  const whole = schema.safeParse(input);
  if (whole.success) return whole.data as Known<z.output<T>>;
  if (!isRecord(input)) return undefined;
  const inner = withoutWrapping(schema);
  if (inner instanceof z.ZodObject) return salvageFields(inner, input) as Known<z.output<T>>;
  if (inner instanceof z.ZodRecord) return salvageEntries(inner, input) as Known<z.output<T>>;
  return undefined;
}

function salvageFields(schema: z.ZodObject, input: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(schema.shape).map(([key, field]) => {
    return [key, salvage(field as z.ZodType, Object.hasOwn(input, key) ? input[key] : undefined)];
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function salvageEntries(schema: z.ZodRecord, input: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(input).map(([key, value]) => [
    key,
    salvage(schema.valueType as z.ZodType, value),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The schema inside defaults and nullables. */
export function withoutWrapping(schema: z.ZodType): z.ZodType {
  let inner = schema;
  while (inner instanceof z.ZodPrefault || inner instanceof z.ZodNullable)
    inner = inner.unwrap() as z.ZodType;
  return inner;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
