/**
 * Answers written straight to a connection, where there is no response object to write them: upgrades, CONNECT, and
 * requests that could not be parsed. Each is the last on its connection.
 */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Timers } from "../../core/world.ts";
import { entryOf } from "../access-log/entry.ts";

/** Writes a whole answer on a connection that no longer has a response object, and closes it. */
export function answerRaw(
  socket: Duplex,
  answer: {
    readonly status: number;
    readonly headers: readonly string[];
    readonly body: Buffer;
    /** How long to wait for the other side to close first, so that it can read the answer in peace. */
    readonly linger?: { readonly maxMs: number; readonly timers: Timers };
  },
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  entryOf(socket)?.answered(answer.status, answer.body.length);
  const fixed = [
    "Cache-Control",
    "no-store",
    "Content-Length",
    String(answer.body.length),
    "Connection",
    "close",
  ];
  const head = rawHead(answer.status, undefined, [...answer.headers, ...fixed]);
  socket.write(Buffer.concat([Buffer.from(head, "latin1"), answer.body]));
  if (answer.linger === undefined) closeSoon(socket as Socket);
  else {
    socket.end();
    answer.linger.timers.after(answer.linger.maxMs, () => socket.destroy());
  }
}

/** A head as it goes over the wire; headers are a flat list. */
export function rawHead(status: number, message: string | undefined, headers: readonly string[]): string {
  let text = `HTTP/1.1 ${status} ${message || STATUS_CODES[status] || ""}\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}

/** Closes once what was written has gone out. */
export function closeSoon(socket: Socket): void {
  if (socket.destroyed) return;
  if (typeof socket.destroySoon === "function") socket.destroySoon();
  else socket.end(() => socket.destroy());
}
