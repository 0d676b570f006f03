/**
 * Reads a request's body whole, up to the limit, before a handler sees it. Handlers get an ordinary request with the bytes
 * in it. (Hono's own limit needs the global `Request` to be the server adapter's where a body has no length, and we leave
 * the program's globals alone.)
 *
 * Parsing and checking a large body takes up to 40 ms, in which no visitor is served. So large bodies are handled one at
 * a time, each in its own turn of the event loop.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Context, MiddlewareHandler } from "hono";
import { refuseCall } from "./refusal.ts";

/** Enough for the longest custom page, 512 K characters, at up to eight bytes each. */
export const BODY_BYTES_MAX = 4 * 1_048_576;
const LARGE_BYTES = 32_768;

/** Reads the body; refuses one that is too large or breaks off. */
export function readBody(): MiddlewareHandler {
  let last: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = last.then(() => nextTurn()).then(work);
    last = done.catch(() => {});
    return done;
  };
  return (c, next) => read(c, (bytes) => (bytes > LARGE_BYTES ? inTurn(next) : next()));
}

async function read(c: Context, goOn: (bytes: number) => Promise<void>): Promise<Response | undefined> {
  const { raw } = c.req;
  if (raw.body === null) {
    await goOn(0);
    return undefined;
  }
  const isTooLarge = Number(raw.headers.get("content-length") ?? 0) > BODY_BYTES_MAX;
  const bytes = isTooLarge ? "too large" : await readWhole(raw.body);
  if (bytes === "too large") {
    return refuseCall(c, "too_large", `A body has at most ${BODY_BYTES_MAX} bytes.`);
  }
  if (bytes === "broken off") return refuseCall(c, "bad_request", "The body breaks off.");
  const { method, url, headers } = raw;
  c.req.raw = new Request(url, { method, headers: [...headers], body: bytes.length > 0 ? bytes : null });
  await goOn(bytes.length);
  return undefined;
}

async function readWhole(
  body: ReadableStream<Uint8Array>,
): Promise<Buffer<ArrayBuffer> | "too large" | "broken off"> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of body) {
      length += piece.length;
      if (length > BODY_BYTES_MAX) return "too large";
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  } catch {
    return "broken off";
  }
}
