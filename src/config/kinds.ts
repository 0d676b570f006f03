/**
 * The kinds of value a setting can have: a length of time, an instant, a size, a count, an address to listen on. Each
 * kind knows how people write it, what it becomes, and, in `shape`, the words that say what it should be. `shape` is
 * what the error messages and the documentation show, so the two cannot disagree with the check.
 *
 * Every text has a maximum length and every number a range: a setting is input from outside.
 */
import { z } from "zod";
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

/** What a kind tells about itself; `description` comes with each setting. */
export interface KindMeta {
  readonly shape: string;
  readonly kind: string;
  readonly isSecret?: boolean;
}

export interface Listen {
  readonly host: string;
  readonly port: number;
}

function kind<T extends z.ZodType>(schema: T, meta: KindMeta): T {
  return schema.meta({ ...meta });
}

/** A length of time as people write it (`45s`), as milliseconds. */
export function duration(bounds: { min: string; max: string }) {
  const min = parseDuration(bounds.min)!;
  const max = parseDuration(bounds.max)!;
  const schema = z.string().transform((text, context) => {
    const ms = parseDuration(text);
    if (ms !== null && ms >= min && ms <= max) return ms;
    if (ms === null) return refuse(context, isBare(text) ? "has no unit" : "is not a length of time");
    return refuse(context, ms < min ? "is too short" : "is too long");
  });
  const shape = `a length of time such as 45s or 10m, from ${formatDuration(min)} to ${formatDuration(max)}`;
  return kind(schema, { kind: "duration", shape });
}

/** A number of bytes as people write it (`16KB`). */
export function size(bounds: { min: string; max: string }) {
  const min = parseSize(bounds.min)!;
  const max = parseSize(bounds.max)!;
  const schema = z.string().transform((text, context) => {
    const bytes = parseSize(text);
    if (bytes !== null && bytes >= min && bytes <= max) return bytes;
    if (bytes === null) return refuse(context, isBare(text) ? "has no unit" : "is not a size");
    return refuse(context, bytes < min ? "is too small" : "is too large");
  });
  const shape = `a size such as 16KB or 100MB, from ${formatSize(min)} to ${formatSize(max)}`;
  return kind(schema, { kind: "size", shape });
}

/** A percentage as people write it (`70%`), as a share of 1. */
export function percent(bounds: { min: string; max: string }) {
  const min = parsePercent(bounds.min)!;
  const max = parsePercent(bounds.max)!;
  const schema = z.string().transform((text, context) => {
    const share = parsePercent(text);
    if (share !== null && share >= min && share <= max) return share;
    if (share === null) return refuse(context, isBare(text) ? "has no percent sign" : "is not a percentage");
    return refuse(context, share < min ? "is too small" : "is too large");
  });
  const shape = `a percentage such as 5%, from ${formatPercent(min)} to ${formatPercent(max)}`;
  return kind(schema, { kind: "percent", shape });
}

/** An instant as people write it (`2026-12-01T10:00:00Z`), as milliseconds since 1970. */
export function instant() {
  const schema = z.string().transform((text, context) => {
    const answer = parseInstant(text);
    if ("wrong" in answer) return refuse(context, answer.wrong);
    if (answer.at >= INSTANT_MIN && answer.at < INSTANT_END) return answer.at;
    return refuse(context, "is in another century");
  });
  return kind(schema, { kind: "instant", shape: "a time such as 2026-12-01T10:00:00Z" });
}

/** Tickets carry seconds since 1970 in 32 bits, which last until 2106. */
const INSTANT_MIN = Date.UTC(2000);
const INSTANT_END = Date.UTC(2100);

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

/** Free text; `shape` says what it is for. */
export function text(bounds: { max: number; shape?: string }) {
  const shape = bounds.shape ?? `text of at most ${bounds.max} characters`;
  return kind(z.string().max(bounds.max), { kind: "text", shape });
}

/** Text that `read` understands; it answers with the value, or with what is wrong. */
export function readable<T>(
  read: (text: string) => { value: T } | { wrong: string },
  about: { max: number; kind: string; shape: string },
) {
  const schema = z
    .string()
    .max(about.max)
    .transform((written, context) => {
      const answer = read(written);
      return "value" in answer ? answer.value : refuse(context, answer.wrong);
    });
  return kind(schema, { kind: about.kind, shape: about.shape });
}

/** Where to listen: `127.0.0.1:8080`, `[::1]:8080`, `:8080` or `8080`. An empty host is every address. */
export function listenAddress() {
  const schema = z
    .union([z.string().max(LISTEN_CHARACTERS_MAX), z.number()])
    .transform((written, context) => {
      const answer = parseListen(String(written));
      return answer ?? refuse(context, "is not an address to listen on");
    });
  return kind(schema, {
    kind: "listen",
    shape: "an address with a port such as 127.0.0.1:8080, or :8080 for every address",
  });
}

const LISTEN_CHARACTERS_MAX = 300;
const PORT_MAX = 65_535;

/** Null when the text is not host, colon and port, or a bare port. */
export function parseListen(written: string): Listen | null {
  const match = /^(?:(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]*):)?(\d{1,5})$/.exec(written.trim());
  if (!match) return null;
  const port = Number(match[2]);
  const host = (match[1] ?? "").replace(/^\[|\]$/g, "").toLowerCase();
  return port <= PORT_MAX ? { host, port } : null;
}

/** The way people write a listening address. */
export function formatListen(listen: Listen): string {
  return `${listen.host.includes(":") ? `[${listen.host}]` : listen.host}:${listen.port}`;
}

function refuse(context: z.RefinementCtx, wrong: string): never {
  context.addIssue({ code: "custom", message: wrong });
  return z.NEVER;
}

function isBare(text: string): boolean {
  return /^\d+$/.test(text.trim());
}

function oneOf(values: readonly (string | number)[]): string {
  if (values.length === 1) return String(values[0]);
  return `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
}

/** What things are signed with, or shown to be let in. `what`: "a token". */
export function secret(what: string) {
  const shape = `${what} of ${SECRET_CHARACTERS_MIN} to ${SECRET_CHARACTERS_MAX} characters`;
  return z.string().max(SECRET_CHARACTERS_MAX).meta({ kind: "secret", isSecret: true, shape });
}
