/** Origins that speak HTTP/2: a real server, and one with hand-written frames for what no server would send. */
import { readFileSync } from "node:fs";
import http2, { type Http2SecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import type { TestContext } from "node:test";
import tls, { type TLSSocket } from "node:tls";
import { fixturePath } from "../fixtures.ts";
import { END_HEADERS, END_STREAM, type Frame, frame } from "../http2-frames.ts";

export const ORIGIN_TLS = {
  certificateFile: fixturePath("localhost.cert.pem"),
  keyFile: fixturePath("localhost.key.pem"),
};
export const ca = readFileSync(ORIGIN_TLS.certificateFile);
export const pair = { cert: ca, key: readFileSync(ORIGIN_TLS.keyFile) };

/** The fixtures' certificate is trusted until the test ends. */
export function trustFixtures(t: TestContext): void {
  const usual = tls.getCACertificates("default");
  tls.setDefaultCACertificates([...usual, ca]);
  t.after(() => tls.setDefaultCACertificates(usual));
}

export interface ServerOrigin<S extends Server> {
  readonly address: string;
  readonly port: number;
  readonly server: S;
  /** Connections there have been. */
  connections: number;
}

/** Makes an origin of a server, with TLS where the server has it. */
export async function openServer<S extends Server>(t: TestContext, server: S): Promise<ServerOrigin<S>> {
  const sockets = new Set<Socket>();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const isSecure = "setSecureContext" in server;
  const address = isSecure ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  const origin = { address, port, server, connections: 0 };
  server.on("connection", (socket: Socket) => {
    origin.connections++;
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  trustFixtures(t);
  return origin;
}

/** An origin that answers with `handle`, over HTTP/1.1 to clients that do not ask for HTTP/2. */
export function openHttp2Origin(
  t: TestContext,
  handle: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
  options: http2.SecureServerOptions = {},
): Promise<ServerOrigin<Http2SecureServer>> {
  return openServer(t, http2.createSecureServer({ ...pair, allowHTTP1: true, ...options }, handle));
}

const PREFACE_BYTES = 24;
export const OK = Buffer.from([0x88]);

/** One connection to an origin of frames. */
export interface RawConnection {
  readonly socket: TLSSocket;
  /** Streams that were opened on it, and those that were reset, with the code. */
  readonly opened: number[];
  readonly resets: Map<number, number>;
  /** What came as DATA on each stream. */
  readonly data: Map<number, string>;
  send(frames: Frame): void;
}

/** `isWhole`: no body follows. */
type OnRequest = (connection: RawConnection, stream: number, isWhole: boolean) => void;

/** An origin that agrees to HTTP/2 and to settings, and leaves the rest to `onRequest`. */
export async function openFrames(
  t: TestContext,
  onRequest: OnRequest,
  settings = Buffer.alloc(0),
): Promise<ServerOrigin<tls.Server> & { readonly talks: RawConnection[] }> {
  const talks: RawConnection[] = [];
  const server = tls.createServer({ ...pair, ALPNProtocols: ["h2"] }, (socket) => {
    const talk: RawConnection = {
      ...{ socket, opened: [], resets: new Map(), data: new Map() },
      send: (each) => void socket.write(frame(each)),
    };
    talks.push(talk);
    let unread = Buffer.alloc(0);
    let skipped = 0;
    talk.send({ type: "settings", payload: settings });
    socket.on("data", (chunk: Buffer) => {
      const preface = Math.min(PREFACE_BYTES - skipped, chunk.length);
      skipped += preface;
      unread = Buffer.concat([unread, chunk.subarray(preface)]);
      while (unread.length >= 9) {
        const end = 9 + unread.readUIntBE(0, 3);
        if (unread.length < end) return;
        take(talk, unread.subarray(0, end), onRequest);
        unread = unread.subarray(end);
      }
    });
  });
  return Object.assign(await openServer(t, server), { talks });
}

function take(talk: RawConnection, whole: Buffer, onRequest: OnRequest) {
  const [type, flags] = [whole[3], whole[4]!];
  const stream = whole.readUInt32BE(5);
  const payload = whole.subarray(9);
  if (type === 4 && (flags & 1) === 0) talk.send({ type: "settings", flags: 1 });
  else if (type === 6 && (flags & 1) === 0) talk.send({ type: "ping", flags: 1, payload });
  else if (type === 3) talk.resets.set(stream, payload.readUInt32BE(0));
  else if (type === 0) talk.data.set(stream, (talk.data.get(stream) ?? "") + payload.toString("latin1"));
  else if (type === 1) {
    talk.opened.push(stream);
    onRequest(talk, stream, (flags & END_STREAM) !== 0);
  }
}

/** `200`, and the beginning of a body. */
export function beginAnswer(talk: RawConnection, stream: number, text: string): void {
  talk.send({ type: "headers", flags: END_HEADERS, stream, payload: OK });
  talk.send({ type: "data", stream, payload: Buffer.from(text) });
}

export function fourBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
