/**
 * HTTP/2 connections that send what costs the server more than the sender: streams opened and reset at once (CVE-2023-44487),
 * pings, settings, empty DATA frames, headers that never end in CONTINUATION frames, priorities, streams over the limit. The
 * attacker wants such a connection to go on for as long as it likes; the cost to honest visitors is measured at the same time.
 */
import { fixturePath } from "../../src/testing/fixtures.ts";
import { END_HEADERS, END_STREAM, frame, headersFor, RawSession } from "../../src/testing/http2-frames.ts";
import type { Attack, Target } from "./attack.ts";

const SESSIONS = { small: 2, full: 50 } as const;
/** How often each kind is tried. */
const ROUNDS = { small: 1, full: 10 } as const;
/** Frames of one kind on one session: more than any visitor ever sends, and few enough for a short test. */
const FRAMES_MAX = 20_000;
/** Frames sent together before their answers are awaited, so that these do not pile up. */
const BATCH = 50;
const HEADERS = headersFor("GET", "/.fairgate/main/board");
const UPLOAD = headersFor("POST", "/.fairgate/main/check-in");
const CANCEL = Buffer.from([0, 0, 0, 8]);

/** The n-th of each kind. */
const FLOODS: Readonly<Record<string, (n: number) => Buffer[]>> = {
  "rapid reset": (n) => [
    frame({ type: "headers", stream: 2 * n + 1, flags: END_HEADERS | END_STREAM, payload: HEADERS }),
    frame({ type: "rstStream", stream: 2 * n + 1, payload: CANCEL }),
  ],
  ping: () => [frame({ type: "ping", payload: Buffer.alloc(8) })],
  settings: () => [frame({ type: "settings", payload: Buffer.from([0, 3, 0, 0, 0, 100]) })],
  "empty data": (n) =>
    n === 0
      ? [frame({ type: "headers", stream: 1, flags: END_HEADERS, payload: UPLOAD })]
      : [frame({ type: "data", stream: 1 })],
  continuation: (n) =>
    n === 0
      ? [frame({ type: "headers", stream: 1, payload: HEADERS })]
      : [frame({ type: "continuation", stream: 1 })],
  priority: (n) => [frame({ type: "priority", stream: 2 * n + 1, payload: Buffer.from([0, 0, 0, 0, 16]) })],
  "too many streams": (n) => [
    frame({ type: "headers", stream: 2 * n + 1, flags: END_HEADERS, payload: HEADERS }),
  ],
};

export const http2Floods: Attack = {
  name: "HTTP/2 floods",
  about: "send control frames and half requests over HTTP/2 for as long as they like",
  settings: {
    tls: { certificateFile: fixturePath("localhost.cert.pem"), keyFile: fixturePath("localhost.key.pem") },
  },
  async run(target, scale) {
    const survived: string[] = [];
    let attempts = 0;
    const rounds = Array.from({ length: ROUNDS[scale] }, () => Object.entries(FLOODS));
    for (const [name, make] of rounds.flat()) {
      const floods = Array.from({ length: SESSIONS[scale] }, () => flood(target, make));
      for (const { sent, isOver } of await Promise.all(floods)) {
        attempts += sent;
        if (!isOver) survived.push(`${name}: ${sent} frames were taken`);
      }
    }
    return { attempts, through: survived.length, examples: survived.slice(0, 3) };
  },
};

/** Sends until it is cut off, or has sent everything. */
async function flood(
  target: Target,
  make: (n: number) => Buffer[],
): Promise<{ sent: number; isOver: boolean }> {
  const session = await RawSession.open(target, "127.0.0.1");
  let sent = 0;
  while (!session.isOver && sent < FRAMES_MAX) {
    const frames: Buffer[] = [];
    for (let i = 0; i < BATCH; i++) frames.push(...make(sent++));
    session.send(frames);
    await session.taken();
    // Leaves time to receive answers and the end.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  const isOver = session.isOver || (await session.endsSoon());
  session.end();
  return { sent, isOver };
}
