/**
 * The kinds of value a setting can have: a duration, an instant, a size, a count, an address to listen on. Each kind
 * knows how people write it, what it is parsed to, and, in `shape`, the words for what it should be. Error messages and
 * documentation both show `shape`, so they always agree with the check.
 *
 * Settings are input from outside: every text and list has a maximum length and every number a range.
 */
import { z } from "zod";
import type { Read } from "./route.ts";
import {
  formatDuration,
  formatPercent,
  formatSize,
  parseDuration,
  parseInstant,
  parsePercent,
  parseSize,
} from "./units.ts";

export const SECRET_CHARACTERS_MIN = 32;
export const SECRET_CHARACTERS_MAX = 1_024;
export const PAGE_CHARACTERS_MAX = 512 * 1_024;
export const PATH_LENGTH_MAX = 1_024;
export const FILE_NAME_CHARACTERS_MAX = 4_096;

interface KindMeta {
  readonly shape: string;
  readonly kind: string;
  readonly isSecret?: boolean;
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

type WithDefault<T extends z.ZodType, Value> = z.ZodPrefault<[null] extends [Value] ? z.ZodNullable<T> : T>;

/** A setting that has `value`, as it is written in a file, when it is left out. With null, it may be null. */
export function setting<T extends z.ZodType, Value extends z.input<T> | null>(kind: T, value: Value) {
  const schema = value === null ? z.nullable(kind) : kind;
  return z.prefault(schema, value as never) as unknown as WithDefault<T, Value>;
}

function kind<T extends z.ZodType>(schema: T, meta: KindMeta): T {
  return schema.meta({ ...meta });
}

/** A number with a unit, and the words for what may be wrong with it. */
interface Measure {
  readonly kind: string;
  readonly like: string;
  readonly unit: string;
  readonly what: string;
  readonly small: string;
  readonly large: string;
  readonly parse: (text: string) => number | null;
  readonly format: (value: number) => string;
}

function measured(measure: Measure, bounds: { min: string; max: string }) {
  const { parse, format } = measure;
  const min = parse(bounds.min)!;
  const max = parse(bounds.max)!;
  const schema = z.string().transform((written, context) => {
    const value = parse(written);
    if (value !== null && value >= min && value <= max) return value;
    const wrong =
      value !== null
        ? `is too ${value < min ? measure.small : measure.large}`
        : /^\d+$/.test(written.trim())
          ? `has no ${measure.unit}`
          : `is not a ${measure.what}`;
    return reject(context, wrong);
  });
  const shape = `a ${measure.what} such as ${measure.like}, from ${format(min)} to ${format(max)}`;
  return kind(schema, { kind: measure.kind, shape });
}

const DURATION: Measure = {
  ...{ kind: "duration", what: "length of time", like: "45s or 10m", unit: "unit" },
  ...{ small: "short", large: "long", parse: parseDuration, format: formatDuration },
};
const SIZE: Measure = {
  ...{ kind: "size", what: "size", like: "16KB or 100MB", unit: "unit" },
  ...{ small: "small", large: "large", parse: parseSize, format: formatSize },
};
const PERCENT: Measure = {
  ...{ kind: "percent", what: "percentage", like: "5%", unit: "percent sign" },
  ...{ small: "small", large: "large", parse: parsePercent, format: formatPercent },
};

/** A duration as people write it (`45s`), as milliseconds. */
export const duration = (bounds: { min: string; max: string }) => measured(DURATION, bounds);
/** A number of bytes as people write it (`16KB`). */
export const size = (bounds: { min: string; max: string }) => measured(SIZE, bounds);
/** A percentage as people write it (`70%`), as a fraction of 1. */
export const percent = (bounds: { min: string; max: string }) => measured(PERCENT, bounds);

/** An instant as people write it (`2026-12-01T10:00:00Z`), as milliseconds since 1970. */
export function instant() {
  return readable(readInstant, { max: 100, kind: "instant", shape: "a time such as 2026-12-01T10:00:00Z" });
}

/** Tickets carry seconds since 1970 in 32 bits, which last until 2106. */
const INSTANT_MIN = Date.UTC(2000);
const INSTANT_END = Date.UTC(2100);

function readInstant(written: string): Read<number> {
  const answer = parseInstant(written);
  if ("wrong" in answer) return answer;
  const isNear = answer.at >= INSTANT_MIN && answer.at < INSTANT_END;
  return isNear ? { value: answer.at } : { wrong: "is in another century" };
}

/** A number that need not be whole. */
export function number(bounds: { min: number; max: number }) {
  const shape = `a number from ${bounds.min} to ${bounds.max}`;
  return kind(z.number().min(bounds.min).max(bounds.max), { kind: "number", shape });
}

/** A whole number. */
export function count(bounds: { min: number; max: number }) {
  const shape = `a whole number from ${bounds.min} to ${bounds.max}`;
  return kind(z.int().min(bounds.min).max(bounds.max), { kind: "count", shape });
}

export function isTrue() {
  return kind(z.boolean(), { kind: "boolean", shape: "true or false" });
}

export function choice<const T extends readonly string[]>(values: T) {
  return kind(z.enum(values), { kind: "choice", shape: oneOf(values) });
}

export function numberChoice<const T extends readonly number[]>(values: T) {
  return kind(z.literal(values as unknown as T[number][]), { kind: "choice", shape: oneOf(values) });
}

function oneOf(values: readonly (string | number)[]): string {
  if (values.length === 1) return String(values[0]);
  return `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
}

/** Free text; `shape` says what it is for. */
export function text(bounds: { max: number; shape?: string }) {
  const shape = bounds.shape ?? `text of at most ${bounds.max} characters`;
  return kind(z.string().max(bounds.max), { kind: "text", shape });
}

export function fileName() {
  return text({ max: FILE_NAME_CHARACTERS_MAX, shape: "a file name" }).min(1);
}

/** A list of `min` (by default 0) to `max` entries; `of` says what they are, in words. */
export function listOf<T extends z.ZodType>(
  entry: T,
  { min = 0, max, of }: { min?: number; max: number; of: string },
) {
  const range = min > 0 ? `${min} to ${max}` : `at most ${max}`;
  return z
    .array(entry)
    .min(min)
    .max(max)
    .meta({ shape: `a list of ${range} ${of}` });
}

/** A text that `read` understands: it returns the value, or what is wrong. */
export function readable<T>(
  read: (text: string) => Read<T>,
  { max, ...meta }: { max: number; kind: string; shape: string },
) {
  const schema = z
    .string()
    .max(max)
    .transform((written, context) => {
      const answer = read(written);
      return "value" in answer ? answer.value : reject(context, answer.wrong);
    });
  return kind(schema, meta);
}

/** Where to listen: `127.0.0.1:8080`, `[::1]:8080`, `:8080` or `8080`. An empty host is every address. */
export function listenAddress() {
  const schema = z
    .union([z.string().max(LISTEN_CHARACTERS_MAX), z.number()])
    .transform((written, context) => {
      const answer = parseListen(String(written));
      return answer ?? reject(context, "is not an address to listen on");
    });
  return kind(schema, {
    kind: "listen",
    shape: "an address with a port such as 127.0.0.1:8080, or :8080 for every address",
  });
}

const LISTEN_CHARACTERS_MAX = 300;
const PORT_MAX = 65_535;

/** Null when the text is not host, colon and port, or a bare port. */
export function parseListen(written: string): HostPort | null {
  const match = /^(?:(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]*):)?(\d{1,5})$/.exec(written.trim());
  if (!match) return null;
  const port = Number(match[2]);
  const host = (match[1] ?? "").replace(/^\[|\]$/g, "").toLowerCase();
  return port <= PORT_MAX ? { host, port } : null;
}

/** An address as people write it: `10.0.0.7:7100`, `[::1]:7100`. */
export function formatHostPort({ host, port }: HostPort): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Rejects the value at `path` inside this one, saying what is wrong with it. */
export function reject(context: z.RefinementCtx, wrong: string, path: (string | number)[] = []): never {
  context.addIssue({ code: "custom", message: wrong, path });
  return z.NEVER;
}

/** A text that signs something or grants access. `what`: "a token". */
export function secret(what: string) {
  const shape = `${what} of ${SECRET_CHARACTERS_MIN} to ${SECRET_CHARACTERS_MAX} characters`;
  return kind(z.string().max(SECRET_CHARACTERS_MAX), { kind: "secret", isSecret: true, shape });
}
