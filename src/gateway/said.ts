/** Answers of our own addresses, made of a status, headers and a body. */
import { NONE_ADDED, PERSONAL_JSON } from "./answer-headers.ts";
import type { Call } from "./call.ts";
import type { OwnAnswer } from "./own-answer.ts";

/** As many bytes as characters. */
const ASCII = /^[\0-\x7f]*$/;

/** A refusal that says why in words. */
export function refused(
  call: Call,
  status: number,
  error: string,
  headers: readonly string[] = NONE_ADDED,
): OwnAnswer {
  return said(call, status, [...PERSONAL_JSON, ...headers], JSON.stringify({ error }));
}

/** An answer that pages of the origins that are named may read. */
export function said(
  { front, facts }: Call,
  status: number,
  headers: readonly string[],
  body: string,
): OwnAnswer {
  const readable =
    status !== 204 && front.cors.isOn ? [...headers, ...front.cors.headersFor(facts)] : headers;
  return answerFor(front.name, status, readable, body);
}

/** An answer of one of our own addresses. */
export function answerFor(room: string, status: number, headers: readonly string[], body: string): OwnAnswer {
  const bytes = ASCII.test(body) ? body : new TextEncoder().encode(body);
  const all = [...headers, "Content-Length", String(bytes.length)];
  return {
    kind: "answer",
    decision: "own",
    room,
    visitor: null,
    status,
    headers: all,
    body: bytes,
    isPoll: false,
  };
}
