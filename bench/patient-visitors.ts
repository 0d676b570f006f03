/**
 * Visitors who keep asking, whatever they get: each has one keep-alive connection and sends its next request when the last
 * is answered, or when its connection is closed, over a new one. Every request's time and outcome is written down.
 */
import { connect, type Socket } from "node:net";

const REQUEST = "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n";
const HEAD_END = Buffer.from("\r\n\r\n");
const LENGTH = /\r\ncontent-length: (\d+)/i;

export interface Visits {
  /** Milliseconds of each request, sorted. */
  readonly tookMs: readonly number[];
  /** Requests that were not answered with 200. */
  readonly errors: number;
}

/** So many visitors at a port for so long, until each has the answer to the last request it sent in time. */
export async function visit(port: number, visitors: number, milliseconds: number): Promise<Visits> {
  const tookMs: number[] = [];
  let errors = 0;
  const until = performance.now() + milliseconds;
  const stay = async () => {
    let socket: Socket | null = null;
    while (performance.now() < until) {
      const from = performance.now();
      socket ??= await open(port);
      const status = await ask(socket);
      tookMs.push(performance.now() - from);
      if (status !== 200) errors++;
      // An error page may come with the last word on its connection.
      if (status !== 200) socket.destroy();
      if (socket.destroyed) socket = null;
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: visitors }, stay));
  return { tookMs: tookMs.sort((a, b) => a - b), errors };
}

/** The value below which this part of all lies. */
export function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => {
      socket.off("error", reject).on("error", () => {});
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/** The status of the answer; 0 when the connection was closed before it was whole. */
function ask(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const done = (status: number) => {
      socket.off("data", onData).off("close", onClose);
      resolve(status);
    };
    const onClose = () => done(0);
    const onData = (data: Buffer) => {
      bytes = bytes.length === 0 ? data : Buffer.concat([bytes, data]);
      const head = bytes.indexOf(HEAD_END);
      if (head < 0) return;
      const text = bytes.toString("latin1", 0, head);
      const length = Number(LENGTH.exec(text)?.[1] ?? 0);
      if (bytes.length >= head + HEAD_END.length + length) done(Number(text.slice(9, 12)));
    };
    socket.on("data", onData).on("close", onClose);
    socket.write(REQUEST);
  });
}
