/**
 * The connections of one listener: how many there are, whose they are, and which are closed when there are too many.
 *
 * Every connection takes a file handle, from the moment the system accepts it: also one that never sends a byte, or is
 * still in its TLS handshake. Idle ones are closed first, so that a client that opens thousands of connections and leaves them
 * there keeps nobody out. A connection is idle while no answer is under way on it; one that has sent half a header is idle too,
 * however slowly the rest keeps coming. There are four kinds of idle connections:
 *
 *   fresh     had no request yet
 *   used      had a request
 *   regular   had requests a while apart
 *   trusted   of a proxy that the operator named; these go last
 *
 * When a new connection comes and there is no room, the most numerous of the first three kinds gives up its longest idle
 * one. So a flood of one kind costs the others nothing: silent connections do not cost visitors those they use, and a
 * flood that sends one request each does not push out newcomers who are about to send theirs. When nothing is idle, a
 * connection goes whose answers were all handed over and are not being read. When there is none of these either, the new
 * connection is refused.
 *
 * Nothing is closed while new connections are being accepted, but right after: a connection whose request has arrived by then is
 * no longer idle. Until then there may be slightly more connections than the limit.
 *
 * An address (with IPv6 its /64) has a limit of its own and gives up its own idle connections first. Trusted proxies have
 * none, since everybody comes from there. Where they begin with a PROXY header (`awaited-headers.ts`), a connection is
 * fresh and belongs to no address until that has come, and then to the address it names, with that address's limit.
 *
 * Requests only move a link from one list to another. Whether an answer is under way is checked only when a connection is to be
 * closed; a busy one is then set aside until its answer is over, so that it is not checked again. So finding the next one to
 * close takes a step or two, with any number of connections.
 */
import type { Http2Session, Http2Stream } from "node:http2";
import type { Server, Socket } from "node:net";
import type { World } from "../core/world.ts";
import { type AwaitedHeaders, comesFrom } from "./awaited-headers.ts";
import { Chain, Link } from "./chain.ts";
import { ConnectionLog } from "./connection-log.ts";
import { FairTurns } from "./fair-turns.ts";
import { answerUnderWay } from "./idle-connections.ts";
import type { ConnectionSource } from "./proxy-header.ts";
import { isOutOfHandles } from "./relief.ts";
import { addressKey } from "./whereabouts.ts";

export interface ConnectionLimits {
  /** The most connections at once. */
  readonly max: number;
  /** The most of one address. */
  readonly perAddressMax: number;
}

/** What is counted, for metrics. */
export interface ConnectionCounts {
  open: number;
  max: number;
  /** New connections that were refused, by the limit that was reached, or for their PROXY header. */
  readonly refused: { full: number; address: number; header: number };
  /** Idle connections that were closed to make room. */
  closedIdle: number;
}

export interface ConnectionsOptions {
  readonly limits: ConnectionLimits;
  /** Whose connections these are, for the log. */
  readonly whose: string;
  /** True for the address of a proxy that all visitors may come from. */
  isTrusted?(address: string): boolean;
  /** Where connections of trusted proxies may have to begin with a PROXY header. */
  readonly headers?: AwaitedHeaders;
  /** When nothing is idle, closes busy connections that have not proved a right to be here (`prove`). */
  readonly cutsOffUnproven?: boolean;
  /** Calls its argument in the next turn of the event loop. */
  readonly nextTurn?: (work: () => void) => void;
  readonly world: World;
}

/** A connection with requests this far apart is a regular one: an attacker would have to keep many for long to have them. */
export const REGULAR_AFTER_MS = 500;
/** Until idle ones have been closed there may be this share more connections, up to this number. */
export const SLACK_SHARE = 1 / 16;
export const SLACK_MAX = 256;
/**
 * New connections that the server begins to read from in one turn of the event loop: a few milliseconds. Beginning to
 * serve one takes 50 µs, its TLS handshake more than a millisecond.
 */
export const OPENED_PER_TURN = 64;
export const HANDSHAKES_PER_TURN = 4;
/** When handles run out this many idle connections are closed at once. */
const FREED_AT_ONCE = 16;
/** After that, this share of the connections is not accepted again for a while. */
const KEPT_FREE_SHARE = 1 / 16;
const KEPT_FREE_MS = 30_000;
const TOO_MANY =
  "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 21\r\nCache-Control: no-store\r\n" +
  "Retry-After: 5\r\nConnection: close\r\n\r\ntoo many connections\n";
const NO_HEADER =
  "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 22\r\nCache-Control: no-store\r\n" +
  "Connection: close\r\n\r\nPROXY header expected\n";

/** The property of a socket that holds its connection. */
const CONNECTION = Symbol("connection");
interface Carrier {
  [CONNECTION]?: Connection | undefined;
}

/** All connections of one address. */
interface Peer {
  readonly address: string;
  size: number;
  /** Connections not known to be busy, the longest unused first. */
  readonly chain: Chain<Connection>;
}

type Kind = "fresh" | "used" | "regular" | "trusted";

class Connection {
  readonly socket: Socket;
  /** Null for a trusted proxy. */
  peer: Peer | null;
  /** The client that the connection's PROXY header names. */
  source: ConnectionSource | null = null;
  readonly inOrder = new Link<Connection>(this);
  readonly atPeer = new Link<Connection>(this);
  /** The socket that speaks HTTP/1: this one, or with TLS the one around it. */
  http1: Socket | null;
  kind: Kind;
  firstUsedAt = 0;
  /** Open streams, with HTTP/2. */
  readonly streams = new Set<Http2Stream>();
  /** How much of its answers was sent at the last check; null while part of one is still to be written. */
  progress: number | null = null;
  /** Carries a protocol other than HTTP. */
  isUpgraded = false;
  /** Its client has proved a right to be here. */
  isProven = false;
  isAside = false;
  isGone = false;

  constructor(socket: Socket, peer: Peer | null, { kind, http1 }: { kind: Kind; http1: Socket | null }) {
    this.socket = socket;
    this.peer = peer;
    this.kind = kind;
    this.http1 = http1;
  }
}

export class Connections {
  readonly counts: ConnectionCounts = {
    open: 0,
    max: 0,
    refused: { full: 0, address: 0, header: 0 },
    closedIdle: 0,
  };
  readonly #options: ConnectionsOptions;
  /** Those not known to be busy, the longest unused first. */
  readonly #kinds: Readonly<Record<Kind, Chain<Connection>>> = {
    fresh: new Chain(),
    used: new Chain(),
    regular: new Chain(),
    trusted: new Chain(),
  };
  /** Busy when last asked. */
  readonly #aside = new Chain<Connection>();
  /** Of these, the ones that took no byte of their answers between the last two checks. */
  #unread: Connection[] = [];
  readonly #peers = new Map<string, Peer>();
  /** Addresses with more connections than they may have. */
  readonly #crowded = new Set<Peer>();
  readonly #log: ConnectionLog;
  #isTrimming = false;
  #limits: ConnectionLimits;
  /** Lower than the limit for a while after handles ran out. */
  #ceiling = Number.POSITIVE_INFINITY;
  #ceilingUntil = 0;
  #isTls = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#log = new ConnectionLog(options.whose, options.world.log);
    this.counts.max = options.limits.max;
  }

  /** Every connection, raw. */
  *sockets(): Iterable<Socket> {
    for (const chain of [...Object.values(this.#kinds), this.#aside])
      for (const { socket } of chain) yield socket;
  }

  /** Takes over new connections: the server gets only those within the limits, and survives running out of file handles. */
  guard(server: Server, { isTls }: { isTls: boolean }): void {
    this.#isTls = isTls;
    const turns = new FairTurns(isTls ? HANDSHAKES_PER_TURN : OPENED_PER_TURN, this.#options.nextTurn);
    const own = server.listeners("connection");
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      if (!this.#admit(socket)) return;
      socket.on("error", ignore);
      this.#introduce(socket, () =>
        turns.take(socket.remoteAddress, () => {
          // Closed right after its PROXY header, as by some health checks; its end would go unnoticed later.
          if (socket.readableEnded) socket.destroy();
          if (!socket.destroyed) for (const listener of own) listener.call(server, socket);
        }),
      );
    });
    if (isTls) server.prependListener("secureConnection", (socket: Socket) => this.#wrap(socket));
    // Without this, one failed accept would end the process.
    server.on("listening", () => server.on("error", (error) => this.ranOut(error)));
  }

  turnTo(limits: ConnectionLimits): void {
    this.#limits = limits;
    this.counts.max = limits.max;
    this.#trim();
  }

  /** A request begins on this connection, over HTTP/1. */
  use(socket: Socket): void {
    const connection = (socket as Carrier)[CONNECTION];
    if (connection !== undefined) this.#used(connection);
  }

  /** The connection speaks HTTP/2. */
  openSession(session: Http2Session): void {
    // Read now: a session whose socket is gone does not tell.
    (session as Carrier)[CONNECTION] = (session.socket as Carrier)[CONNECTION];
  }

  /** Closes an HTTP/2 connection without waiting for anybody. */
  cut(session: Http2Session): void {
    (session as Carrier)[CONNECTION]?.socket.destroy();
  }

  /** A request begins, over HTTP/2. */
  useStream(stream: Http2Stream): void {
    const connection = (stream.session as Carrier | undefined)?.[CONNECTION];
    if (connection === undefined || stream.closed) return;
    connection.streams.add(stream);
    this.#used(connection);
    stream.once("close", () => {
      connection.streams.delete(stream);
      if (connection.streams.size === 0) this.#takeBack(connection);
    });
  }

  /** From now on the connection carries something other than requests: it is never idle again. */
  upgrade(socket: object): void {
    const connection = (socket as Carrier)[CONNECTION];
    if (connection === undefined || connection.isGone) return;
    connection.isUpgraded = true;
    this.#setAside(connection);
  }

  /** The client has proved a right to be here. */
  prove(socket: object): void {
    const connection = (socket as Carrier)[CONNECTION];
    if (connection !== undefined) connection.isProven = true;
  }

  /**
   * No file handle was left: closes idle connections, and for a while accepts fewer than usual. True when a handle is free now.
   */
  ranOut(error: Error): boolean {
    const now = this.#now();
    const { open } = this.counts;
    if (!isOutOfHandles(error)) {
      this.#log.add("failed", now, { error: error.message });
      return false;
    }
    this.#log.add("ranOut", now, { error: error.message });
    this.#ceiling = Math.max(1, Math.floor(open * (1 - KEPT_FREE_SHARE)));
    this.#ceilingUntil = now + KEPT_FREE_MS;
    let freed = 0;
    while (freed < FREED_AT_ONCE && this.#closeIdle()) freed++;
    return freed > 0;
  }

  /** To be called about once a second: writes pending log lines, and finds what may be closed when there is no room. */
  look(): void {
    const now = this.#now();
    this.#log.look(now);
    this.#unread = this.counts.open < this.#max(now) ? [] : this.#findUnread();
  }

  #findUnread(): Connection[] {
    const found: Connection[] = [];
    for (const connection of this.#aside) {
      const progress = progressOf(connection);
      if (progress !== null && progress === connection.progress) found.push(connection);
      connection.progress = progress;
    }
    return found.reverse();
  }

  #now(): number {
    return this.#options.world.clock.now();
  }

  /** Takes a connection in, or closes it. */
  #admit(socket: Socket): boolean {
    const address = socket.remoteAddress;
    // Gone before we got to it.
    if (address === undefined) return this.#drop(socket);
    const peer = this.#peerOf(address);
    const now = this.#now();
    const max = this.#max(now);
    if (peer !== null && !this.#hasRoomAt(peer, address)) return this.#refuse(socket);
    if (this.counts.open >= withSlack(max) && !this.#closeIdle()) {
      this.counts.refused.full++;
      this.#log.add("full", now, { max });
      return this.#refuse(socket);
    }
    this.#keep(socket, peer);
    if (this.counts.open > max || this.#crowded.size > 0) this.#trimSoon();
    return true;
  }

  /** True when an address may have one more connection; an idle one of its own may be closed for that. */
  #hasRoomAt(peer: Peer, address: string): boolean {
    if (peer.size < withSlack(this.#limits.perAddressMax) || this.#closeFirst(peer.chain)) return true;
    this.counts.refused.address++;
    this.#log.add("addressFull", this.#now(), { address });
    return false;
  }

  /** Calls `serve` once it is known whose the connection is: at once, or after its PROXY header. */
  #introduce(socket: Socket, serve: () => void): void {
    const connection = (socket as Carrier)[CONNECTION]!;
    if (!this.#isHeaderDue(connection.peer)) {
      serve();
      return;
    }
    this.#options.headers!.read(socket, (said) => {
      if ("wrong" in said) this.#refuseHeader(connection, said.wrong);
      else if (this.#nameSource(connection, said.source)) serve();
    });
  }

  #isHeaderDue(peer: Peer | null): boolean {
    return peer === null && this.#options.headers?.settings.isOn === true;
  }

  /** The connection is from this source; null: from the proxy itself. False when that address has too many already. */
  #nameSource(connection: Connection, source: ConnectionSource | null): boolean {
    const { socket } = connection;
    const peer = source && this.#peerOf(source.address);
    if (peer !== null && !this.#hasRoomAt(peer, source!.address)) return this.#refuse(socket);
    connection.source = source;
    if (source !== null) comesFrom(socket, source);
    if (peer === null) connection.kind = "trusted";
    else this.#count(connection, peer);
    this.#toEnd(connection);
    if (this.#crowded.size > 0) this.#trimSoon();
    return true;
  }

  #refuseHeader({ socket }: Connection, wrong: string): void {
    this.counts.refused.header++;
    const about = { address: socket.remoteAddress ?? "", problem: `the PROXY header ${wrong}` };
    this.#log.add("wrongHeader", this.#now(), about);
    this.#refuse(socket, NO_HEADER);
  }

  #trimSoon(): void {
    if (this.#isTrimming) return;
    this.#isTrimming = true;
    this.#options.world.timers.after(0, () => {
      this.#isTrimming = false;
      this.#trim();
    });
  }

  /** Closes idle connections down to the limits, as far as there are any. */
  #trim(): void {
    const { perAddressMax } = this.#limits;
    for (const peer of this.#crowded) while (peer.size > perAddressMax && this.#closeFirst(peer.chain));
    this.#crowded.clear();
    const max = this.#max(this.#now());
    while (this.counts.open > max && this.#closeIdle());
  }

  #keep(socket: Socket, peer: Peer | null): void {
    const kind = peer !== null || this.#isHeaderDue(peer) ? "fresh" : "trusted";
    const connection = new Connection(socket, peer, { kind, http1: this.#isTls ? null : socket });
    (socket as Carrier)[CONNECTION] = connection;
    this.counts.open++;
    if (peer !== null) this.#count(connection, peer);
    this.#toEnd(connection);
    socket.once("close", () => this.#forget(connection));
  }

  #count(connection: Connection, peer: Peer): void {
    connection.peer = peer;
    if (peer.size++ === 0) this.#peers.set(peer.address, peer);
    if (peer.size > this.#limits.perAddressMax) this.#crowded.add(peer);
  }

  /** The TLS socket around a raw one; Node keeps the raw one there. */
  #wrap(socket: Socket & { _parent?: Carrier }): void {
    const connection = socket._parent?.[CONNECTION];
    if (connection === undefined) return;
    (socket as Carrier)[CONNECTION] = connection;
    connection.http1 = socket;
    if (connection.source !== null) comesFrom(socket, connection.source);
  }

  #max(now: number): number {
    const { max } = this.#limits;
    return now < this.#ceilingUntil ? Math.min(max, this.#ceiling) : max;
  }

  /** Null for a trusted proxy. */
  #peerOf(remote: string): Peer | null {
    if (this.#options.isTrusted?.(remote)) return null;
    const address = addressKey(remote);
    return this.#peers.get(address) ?? { address, size: 0, chain: new Chain() };
  }

  #used(connection: Connection): void {
    if (connection.kind === "fresh") {
      connection.kind = "used";
      connection.firstUsedAt = this.#now();
    } else if (connection.kind === "used") {
      const sinceMs = this.#now() - connection.firstUsedAt;
      if (sinceMs >= REGULAR_AFTER_MS) connection.kind = "regular";
    }
    if (!connection.isAside) this.#toEnd(connection);
  }

  /** Makes it the last of its kind to be closed. */
  #toEnd({ kind, peer, inOrder, atPeer }: Connection): void {
    this.#kinds[kind].append(inOrder);
    peer?.chain.append(atPeer);
  }

  /** Closes the longest idle connection of all. False when there is none. */
  #closeIdle(): boolean {
    const { fresh, used, regular, trusted } = this.#kinds;
    const [most, more, fewest] = [fresh, used, regular].sort((a, b) => b.size - a.size);
    return (
      this.#closeFirst(most!) ||
      this.#closeFirst(more!) ||
      this.#closeFirst(fewest!) ||
      this.#closeFirst(trusted) ||
      this.#closeUnread() ||
      this.#cutOff()
    );
  }

  /** Closes one whose answers are not being read, the longest busy first. */
  #closeUnread(): boolean {
    for (let next = this.#unread.pop(); next !== undefined; next = this.#unread.pop()) {
      if (next.isGone || !next.isAside || progressOf(next) !== next.progress) continue;
      this.#close(next);
      return true;
    }
    return false;
  }

  /** Closes the first busy one that has not proved a right to be here, where that is required. */
  #cutOff(): boolean {
    if (!this.#options.cutsOffUnproven) return false;
    for (const connection of this.#aside) {
      if (connection.isProven || connection.isUpgraded) continue;
      this.#close(connection);
      return true;
    }
    return false;
  }

  /** Closes the first that is idle, and sets those before it aside. */
  #closeFirst(chain: Chain<Connection>): boolean {
    for (let first = chain.first; first !== null; first = chain.first) {
      if (!isBusy(first)) {
        this.#close(first);
        return true;
      }
      this.#setAside(first);
    }
    return false;
  }

  #close(connection: Connection): void {
    this.counts.closedIdle++;
    this.#log.add("closedIdle", this.#now());
    // Before its `close` event: the handle is free at once, and so is its place.
    this.#forget(connection);
    connection.socket.destroy();
  }

  #setAside(connection: Connection): void {
    connection.isAside = true;
    this.#aside.append(connection.inOrder);
    connection.peer?.chain.remove(connection.atPeer);
    if (connection.isUpgraded || connection.streams.size > 0) return;
    answerUnderWay(connection.http1!)?.once("close", () => this.#takeBack(connection));
  }

  #takeBack(connection: Connection): void {
    if (!connection.isAside || connection.isUpgraded || connection.isGone) return;
    connection.isAside = false;
    this.#toEnd(connection);
  }

  #forget(connection: Connection): void {
    if (connection.isGone) return;
    connection.isGone = true;
    const { inOrder, atPeer, peer } = connection;
    inOrder.chain?.remove(inOrder);
    atPeer.chain?.remove(atPeer);
    this.counts.open--;
    if (peer === null) return;
    if (--peer.size === 0) this.#peers.delete(peer.address);
  }

  /** Answers where that is possible in the clear; with TLS the connection just ends. */
  #refuse(socket: Socket, words = TOO_MANY): false {
    socket.on("error", ignore);
    // A few bytes on a new connection leave at once, so the handle can be given back in the same step.
    if (!this.#isTls) socket.write(words, "latin1");
    return this.#drop(socket);
  }

  #drop(socket: Socket): false {
    socket.on("error", ignore);
    socket.destroy();
    return false;
  }
}

/** An error that nobody hears would end the process. */
function ignore(): void {}

/** The most connections for a moment. */
export function withSlack(max: number): number {
  return max + Math.min(SLACK_MAX, Math.floor(max * SLACK_SHARE));
}

function isBusy({ http1, streams, isUpgraded }: Connection): boolean {
  return isUpgraded || streams.size > 0 || (http1 !== null && answerUnderWay(http1) !== null);
}

/** A number that grows as answers are read; null while one is not completely written, or another protocol is spoken. */
function progressOf({ http1, streams, isUpgraded }: Connection): number | null {
  if (isUpgraded) return null;
  if (streams.size === 0)
    return http1 !== null && answerUnderWay(http1)?.writableEnded
      ? http1.bytesWritten - http1.writableLength
      : null;
  let waiting = 0;
  for (const stream of streams) {
    if (!stream.writableEnded) return null;
    waiting += stream.writableLength;
  }
  return -waiting;
}
