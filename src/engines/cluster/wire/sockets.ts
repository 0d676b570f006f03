/**
 * Sockets between peers, plain or TLS. With TLS both sides must show a certificate of the cluster's own CA that names the host of
 * their address; only TLS 1.3 is spoken. Certificates with an extended key usage need both server and client, since a peer is
 * both.
 */
import net, { type Socket } from "node:net";
import tls, { type TLSSocket, type TlsOptions } from "node:tls";
import { endpointOf, type PeerEndpoint } from "./address.ts";
import { lengthPrefix } from "./frames.ts";

const KEEP_ALIVE_AFTER_MS = 10_000;

export interface PeerTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface SocketServer {
  readonly port: number;
  /** Stops listening, and ends all incoming connections. */
  close(): Promise<void>;
}

export interface ServerEvents {
  /** A connection begins. It is a stranger's, and with TLS not yet readable. */
  onKnock(socket: Socket): void;
  /** A connection is readable; `raw` is the one passed to `onKnock`. */
  onReady(socket: Socket, raw: Socket): void;
  /** A connection ended before that; the text says what the other side did wrong. */
  onFailed(raw: Socket, text: string): void;
}

/** Opens a connection; `onReady` is called when the socket is writable. */
export function dial(endpoint: PeerEndpoint, peerTls: PeerTls | null, onReady: () => void): Socket {
  const socket = peerTls
    ? tls.connect({ ...endpoint, ...secured(peerTls) }, onReady)
    : net.connect({ ...endpoint }, onReady);
  return prepared(socket);
}

/** Listens; rejects when the address is not available or the certificate is unreadable. */
export async function listenAt(
  endpoint: PeerEndpoint,
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
  server.listen({ ...endpoint }, () => {
    server.off("error", reject);
    // For instance too many open files: that connection is lost, and nothing else.
    server.on("error", () => {});
    const { port } = server.address() as net.AddressInfo;
    resolve({ port, close: () => closed(server, open) });
  });
  return promise;
}

export function writeFrame(socket: Socket, parts: readonly Buffer[]): void {
  socket.cork();
  socket.write(lengthPrefix(parts.reduce((sum, part) => sum + part.length, 0)));
  for (const part of parts) socket.write(part);
  socket.uncork();
}

/** True when a peer's certificate names the host of its address; always true without TLS. */
export function isNamedByCertificate(socket: Socket, address: string): boolean {
  if (!isSecure(socket)) return true;
  const endpoint = endpointOf(address);
  return (
    endpoint !== null && tls.checkServerIdentity(endpoint.host, socket.getPeerCertificate()) === undefined
  );
}

/** The machine answers that nothing listens at that port. */
export const NOT_LISTENING = "does not listen: it is not running, or that is not its address";

/** What broke a connection that we dialled, as a sentence about the peer. */
export function dialProblem(error: NodeJS.ErrnoException, endpoint: PeerEndpoint): string {
  const code = error.code ?? error.message;
  if (code === "ECONNREFUSED") return NOT_LISTENING;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `cannot be found: the name ${endpoint.host} does not resolve`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return `showed a certificate that does not name ${endpoint.host}`;
  if (/CERT|SIGNATURE|ISSUER/.test(code))
    return `did not accept our certificate, or showed one of another CA (${code})`;
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
  /** Connections in their TLS handshake, by remote end: TLS does not say which one has finished. */
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

/** Messages are small and urgent. An error is always followed by a close, which is where it is handled. */
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
