/** HTTP/2 frames written by hand (RFC 9113), for what no library would send. */
import { once } from "node:events";
import tls, { type TLSSocket } from "node:tls";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
const TYPES = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

const LAST_PING = Buffer.from("the last");

export const END_STREAM = 0x1;
export const END_HEADERS = 0x4;

export interface Frame {
  readonly type: keyof typeof TYPES;
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: Buffer;
}

export function frame({ type, flags = 0, stream = 0, payload = Buffer.alloc(0) }: Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = TYPES[type];
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const GET = 0x82;
const POST = 0x83;

/** A request as HPACK without a table: indexed fields, and :path and :authority as literals that are not indexed. */
export function headersFor(method: "GET" | "POST", path: string): Buffer {
  const host = Buffer.from("localhost");
  return Buffer.concat([
    Buffer.from([method === "GET" ? GET : POST, 0x87, 0x04, path.length]),
    Buffer.from(path),
    Buffer.from([0x01, host.length]),
    host,
  ]);
}

/** One connection, with preface and settings sent. It reads and discards what comes, and answers nothing. */
export class RawSession {
  readonly socket: TLSSocket;
  isOver = false;
  bytesRead = 0;

  static async open(target: { host: string; port: number }, from: string): Promise<RawSession> {
    const how = { ...target, localAddress: from, ALPNProtocols: ["h2"], rejectUnauthorized: false };
    const socket = tls.connect(how);
    const session = new RawSession(socket);
    await Promise.race([once(socket, "secureConnect"), once(socket, "close")]);
    session.send([PREFACE, frame({ type: "settings" }), frame({ type: "settings", flags: 1 })]);
    return session;
  }

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("close", () => {
      this.isOver = true;
    });
    socket.on("data", (chunk: Buffer) => {
      this.bytesRead += chunk.length;
    });
  }

  send(frames: readonly Buffer[]): boolean {
    return this.isOver || this.socket.write(Buffer.concat(frames));
  }

  /** Waits until the sent data is accepted, or the connection is closed. */
  async taken(): Promise<void> {
    if (this.isOver || !this.socket.writableNeedDrain) return;
    await Promise.race([once(this.socket, "drain"), once(this.socket, "close")]).catch(() => {});
  }

  /** True when the other side closes it; false when it still answers a ping. */
  async endsSoon(): Promise<boolean> {
    let isAnswered = false;
    this.socket.on("data", (chunk: Buffer) => {
      if (chunk.includes(LAST_PING)) isAnswered = true;
    });
    this.send([frame({ type: "ping", payload: LAST_PING })]);
    while (!this.isOver && !isAnswered) await new Promise((resolve) => setImmediate(resolve));
    return this.isOver;
  }

  end(): void {
    this.socket.destroy();
  }
}
