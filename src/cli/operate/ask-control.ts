/**
 * Asks the control address of a running Fairgate, for commands that are about one. Whatever answers there is input from
 * outside: it may be something else, may send without end, or not at all. Everything but a good answer is `NotDone`, in one
 * sentence that says what to do.
 */
import { request } from "undici";
import { safeText } from "../../config/problem.ts";
import type { ControlPlace } from "./find-control.ts";
import { NotDone } from "./not-done.ts";

const ANSWER_MAX_MS = 10_000;
const ANSWER_BYTES_MAX = 16 * 1_048_576;
const SHOWN_CHARACTERS_MAX = 400;
const PROBLEMS_SHOWN_MAX = 20;

export interface ControlCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly answerMaxMs?: number;
  /** A status whose answer is wanted too, such as that of a check that fails. */
  readonly alsoGood?: number;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** The version of what was asked for; null where the answer has none. */
  readonly tag: string | null;
}

/** The answer's body, read as JSON; null where there is none. Throws `NotDone`. */
export async function askControl(place: ControlPlace, call: ControlCall): Promise<unknown> {
  const answer = await reach(place, call);
  if (answer.status === 204) return null;
  const value = parse(answer.text);
  if ((isGood(answer) || answer.status === call.alsoGood) && value !== undefined) return value;
  throw refusal(place, answer, value);
}

/** The answer's body with its version. Throws `NotDone`. */
export async function askTagged(
  place: ControlPlace,
  call: ControlCall,
): Promise<{ readonly value: unknown; readonly tag: string | null }> {
  const answer = await reach(place, call);
  const value = parse(answer.text);
  if (isGood(answer) && value !== undefined) return { value, tag: answer.tag };
  throw refusal(place, answer, value);
}

/** Hands on an answer's body as it comes, however long it is. Throws `NotDone`. */
export async function passAnswer(
  place: ControlPlace,
  call: ControlCall,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const { at } = place;
  try {
    const answer = await send(place, call);
    if (answer.statusCode >= 200 && answer.statusCode < 300) {
      for await (const chunk of answer.body as AsyncIterable<Uint8Array>) await write(chunk);
      return;
    }
    const text = await textOf(answer.body, at);
    throw refusal(place, { status: answer.statusCode, text, tag: null }, parse(text));
  } catch (cause) {
    if (cause instanceof NotDone) throw cause;
    throw new NotDone(whyNot(at, cause, call.answerMaxMs ?? ANSWER_MAX_MS), 1);
  }
}

/** The answer's body as it is, for what is not JSON. Throws `NotDone`. */
export async function askText(place: ControlPlace, call: ControlCall): Promise<string> {
  const answer = await reach(place, call);
  if (isGood(answer)) return answer.text;
  throw refusal(place, answer, parse(answer.text));
}

function isGood({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** Refusals about what was asked for, not about how things stand. */
const NOT_RIGHT = new Set([
  ...["no_such_room", "no_such_event", "no_draw", "no_cluster", "bad_id", "bad_request", "bad_change"],
  ...["no_such_shop", "no_such_product", "no_such_order", "bad_catalogue"],
]);

const WHAT_TO_DO: Readonly<Record<string, string>> = {
  engine_away:
    "Fairgate's engine does not answer, so nothing was done: look at Redis or the cluster (`fairgate doctor`), then try again.",
  no_token_set:
    "This Fairgate has no control token: start it with FAIRGATE_CONTROL_TOKEN set, or with --data.",
};

function refusal({ at, tokenFrom }: ControlPlace, { status }: Answer, value: unknown): NotDone {
  const { code, message } = errorIn(value);
  if (status === 401) {
    const words = `${at} wants another token than the one from ${tokenFrom}: name the data directory of that Fairgate with --data, or give its token with --token-file.`;
    return new NotDone(words, 1, code);
  }
  if (message === null) return new NotDone(noFairgate(at, `it answers with status ${status}`), 1);
  const words = [WHAT_TO_DO[code] ?? message, ...problemsIn(value)].join("\n");
  return new NotDone(words, NOT_RIGHT.has(code) ? 2 : 1, code);
}

/** What to say of an answer that no Fairgate gives. */
export function noFairgate(at: string, why: string): string {
  return `What answers at ${at} is no control address of this version of Fairgate (${why}): say where it is with --control.`;
}

function errorIn(value: unknown): { code: string; message: string | null } {
  const { code, message } = (value as { error?: Record<string, unknown> } | null)?.error ?? {};
  return {
    code: typeof code === "string" ? code : "",
    message: typeof message === "string" ? safeText(message, SHOWN_CHARACTERS_MAX) : null,
  };
}

/** Everything that is wrong with a change, a line each. */
function problemsIn(value: unknown): string[] {
  const { problems } = (value ?? {}) as { problems?: unknown };
  if (!Array.isArray(problems)) return [];
  return problems
    .slice(0, PROBLEMS_SHOWN_MAX)
    .map((problem: { message?: unknown; hint?: unknown } | null) => {
      const text = [problem?.message, problem?.hint].filter((part) => typeof part === "string").join(". ");
      return `  ${safeText(text, SHOWN_CHARACTERS_MAX)}`;
    });
}

async function reach(place: ControlPlace, call: ControlCall): Promise<Answer> {
  const { at } = place;
  const { answerMaxMs = ANSWER_MAX_MS } = call;
  try {
    const { statusCode, headers, body } = await send(place, call);
    const { etag } = headers;
    return { status: statusCode, text: await textOf(body, at), tag: typeof etag === "string" ? etag : null };
  } catch (cause) {
    if (cause instanceof NotDone) throw cause;
    throw new NotDone(whyNot(at, cause, answerMaxMs), 1);
  }
}

function send({ at, token }: ControlPlace, call: ControlCall) {
  const { method, path, body, headers = {}, answerMaxMs = ANSWER_MAX_MS } = call;
  // Not by fetch, which refuses a number of ports that a browser should not ask.
  return request(`http://${at}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(answerMaxMs),
  });
}

/** What is longer than any answer of ours comes from something else. */
async function textOf(body: AsyncIterable<Uint8Array>, at: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) throw new NotDone(noFairgate(at, "its answer has no end"), 1);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function whyNot(at: string, cause: unknown, answerMaxMs: number): string {
  const { name, code, message } = cause as NodeJS.ErrnoException;
  if (name === "TimeoutError")
    return `${at} did not answer within ${answerMaxMs / 1_000} s: try again, or look at its log.`;
  if (code === "ECONNREFUSED")
    return `Nobody listens at ${at}: start Fairgate, or say where it is with --control or --data.`;
  if (name === "HTTPParserError" || code === "UND_ERR_HEADERS_OVERFLOW")
    return noFairgate(at, "it does not speak HTTP");
  const why = safeText(code ?? message, SHOWN_CHARACTERS_MAX);
  return `${at} cannot be reached (${why}): say where Fairgate is with --control or --data.`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
