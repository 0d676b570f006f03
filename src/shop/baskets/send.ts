/**
 * Requests from the shop to others: the payment provider, and the organiser's webhooks. One POST, one answer, within a time and a
 * size; redirects are answers like others. Which client sends them is handed in: `fetch`, or undici's with a pool of its own.
 *
 * An address is https, or this machine itself over http. What went wrong is said without address and headers, since both may
 * hold secrets.
 */
import type { World } from "../../core/world.ts";

export const ANSWER_BYTES_MAX = 65_536;
/** As servers must write them (RFC 9110, 5.6.7). */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
const URL_CHARACTERS_MAX = 2_048;
/** As `URL` writes them, whichever way they were written. */
const THIS_MACHINE = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Always a POST. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface OutgoingAnswer {
  readonly status: number;
  /** How long the other side wants us to wait; null when it did not say. */
  readonly retryAfterMs: number | null;
  /** At most `ANSWER_BYTES_MAX` of it. */
  readonly body: string;
}

/** Rejects when there is no answer; the error's message says why in a word. */
export type OutgoingSend = (request: OutgoingRequest) => Promise<OutgoingAnswer>;

/** The part of `fetch` that is used. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: "POST";
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
  },
) => Promise<FetchedAnswer>;

interface FetchedAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
}

/** Why nothing is sent to this address; null when it is good. */
export function addressProblem(address: string): string | null {
  if (address.length > URL_CHARACTERS_MAX) return `has more than ${URL_CHARACTERS_MAX} characters`;
  if (!URL.canParse(address)) return "is not a URL";
  const { protocol, hostname, username, password, hash } = new URL(address);
  if (protocol !== "https:" && !(protocol === "http:" && THIS_MACHINE.test(hostname)))
    return "is neither https nor this machine itself";
  if (username !== "" || password !== "") return "has a user or password in it";
  return hash === "" ? null : "has a fragment, which is never sent";
}

export function createSend(
  fetch: FetchLike,
  { world, timeoutMs }: { world: Pick<World, "clock" | "timers">; timeoutMs: number },
): OutgoingSend {
  return async ({ url, headers, body }) => {
    const problem = addressProblem(url);
    if (problem !== null) throw new Error(`the address ${problem}`);
    const abort = new AbortController();
    const stop = world.timers.after(timeoutMs, () => abort.abort(new Error("timeout")));
    const { signal } = abort;
    try {
      const answer = await fetch(url, {
        method: "POST",
        headers: { ...headers },
        body,
        redirect: "manual",
        signal,
      });
      return {
        status: answer.status,
        retryAfterMs: retryAfter(answer.headers.get("retry-after"), world.clock.now()),
        body: await readBounded(answer.body),
      };
    } catch (cause) {
      throw new Error(signal.aborted ? "timeout" : wordFor(cause));
    } finally {
      stop();
    }
  };
}

/** The beginning of a body. The rest is not waited for. */
async function readBounded(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (!body) return "";
  const pieces: Uint8Array[] = [];
  let room = ANSWER_BYTES_MAX;
  const reader = body.getReader();
  while (room > 0) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(pieces).toString();
    pieces.push(value.subarray(0, room));
    room -= value.length;
  }
  void reader.cancel().catch(() => {});
  return Buffer.concat(pieces).toString();
}

/** `Retry-After` is seconds or a date (RFC 9110, 10.2.3). */
function retryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** The system's word for what failed, such as ECONNREFUSED. */
function wordFor(cause: unknown): string {
  for (
    let error: unknown = cause, depth = 0;
    error instanceof Error && depth < 5;
    error = error.cause, depth++
  ) {
    const { code } = error as { code?: unknown };
    if (typeof code === "string") return code;
  }
  return "no answer";
}
