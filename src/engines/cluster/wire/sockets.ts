/**
 * Sockets between peers, plain or TLS. With TLS both sides must show a certificate of the cluster's own CA that names the
 * host of the address they go by; only TLS 1.3 is spoken. Certificates with an extended key usage need both, server
 * and client, since a peer is both.
 */
import net, { type Socket } from "node:net";
import tls, { type TLSSocket, type TlsOptions } from "node:tls";
import { type PeerPlace, placeOf } from "./address.ts";
import { lengthPrefix } from "./frames.ts";

/** TCP asks a silent other side after so long whether it is still there. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** PEM texts. */
export interface PeerTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface SocketServer {
  readonly port: number;
  /** Stops listening, and ends all connections that came in. */
  close(): Promise<void>;
}

export interface ServerEvents {
  /** A connection begins. It is a stranger's, and with TLS not to be read from yet. */
  onKnock(socket: Socket): void;
  /** A connection may be read from; `raw` is the one that knocked. */
  onReady(socket: Socket, raw: Socket): void;
  /** A connection ended before it got that far; the text says what the other side has done wrong. */
  onFailed(raw: Socket, text: string): void;
}

/** Starts to connect; `onReady` is called when the socket may be written to. */
export function dial(place: PeerPlace, peerTls: PeerTls | null, onReady: () => void): Socket {
  const socket = peerTls
    ? tls.connect({ ...place, ...secured(peerTls) }, onReady)
    : net.connect({ ...place }, onReady);
  return prepared(socket);
}

/** Listens; rejects when the address cannot be had or the certificate cannot be read. */
export async function listenAt(
  place: PeerPlace,
  peerTls: PeerTls | null,
  events: ServerEvents,
): Promise<SocketServer> {
  const server = peerTls ? secureServer(peerTls, events) : plainServer(events);
  const open = new Set<Socket>();
  server.on("connection", (raw) => {
    open.add(raw);
    raw.once("close", () => open.delete(raw));
  });
  const { promise, resolve, reject } = Promise.withResolvers<SocketServer>();
  server.once("error", reject);
  server.listen({ ...place }, () => {
    server.off("error", reject);
    // Such as too many open files: whoever knocks is not let in, and nothing else is lost.
    server.on("error", () => {});
    const { port } = server.address() as net.AddressInfo;
    resolve({ port, close: () => closed(server, open) });
  });
  return promise;
}

/** Writes one frame, its body given in parts. */
export function writeFrame(socket: Socket, parts: readonly Buffer[]): void {
  socket.cork();
  socket.write(lengthPrefix(parts.reduce((sum, part) => sum + part.length, 0)));
  for (const part of parts) socket.write(part);
  socket.uncork();
}

/** True when a peer's certificate names the host of its address; also when there is no TLS. */
export function isNamedByCertificate(socket: Socket, address: string): boolean {
  if (!isSecure(socket)) return true;
  const place = placeOf(address);
  return place !== null && tls.checkServerIdentity(place.host, socket.getPeerCertificate()) === undefined;
}

/** The machine is there and says that nothing listens at that port. */
export const NOT_LISTENING = "does not listen: it is not running, or that is not its address";

/** In words what broke a connection that we dialled. */
export function dialProblem(error: NodeJS.ErrnoException, place: PeerPlace): string {
  const code = error.code ?? error.message;
  if (code === "ECONNREFUSED") return NOT_LISTENING;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `cannot be found: nobody knows the name ${place.host}`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return `showed a certificate that does not name ${place.host}`;
  if (/CERT|SIGNATURE|ISSUER/.test(code))
    return `did not accept our certificate, or showed one not of our CA (${code})`;
  if (code.startsWith("ERR_SSL")) return `does not speak TLS as we do (${code})`;
  return `cannot be reached (${code})`;
}

function closed(server: net.Server, open: Iterable<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const raw of open) raw.destroy();
  });
}

function plainServer({ onKnock, onReady }: ServerEvents): net.Server {
  return net.createServer((socket) => {
    prepared(socket);
    onKnock(socket);
    onReady(socket, socket);
  });
}

function secureServer(peerTls: PeerTls, { onKnock, onReady, onFailed }: ServerEvents): net.Server {
  const options: TlsOptions = { ...secured(peerTls), requestCert: true };
  const server = tls.createServer(options);
  /** Connections that are not ready, by where they come from: TLS does not say which of them became so. */
  const raws = new Map<string, Socket>();
  server.on("connection", (raw) => {
    const from = endOf(raw);
    raws.set(from, prepared(raw));
    raw.once("close", () => {
      if (raws.delete(from)) onFailed(raw, "showed no certificate of our CA");
    });
    onKnock(raw);
  });
  server.on("secureConnection", (socket) => {
    const from = endOf(socket);
    const raw = raws.get(from);
    raws.delete(from);
    if (raw) onReady(prepared(socket), raw);
    else socket.destroy();
  });
  return server;
}

function secured({ cert, key, ca }: PeerTls) {
  return { cert, key, ca, minVersion: "TLSv1.3", rejectUnauthorized: true } as const;
}

/** Messages are small and urgent. And an error is always followed by a close, which is where it is dealt with. */
function prepared<S extends Socket>(socket: S): S {
  socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_AFTER_MS);
  return socket.on("error", () => {});
}

function endOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

function isSecure(socket: Socket): socket is TLSSocket {
  return "getPeerCertificate" in socket;
}
