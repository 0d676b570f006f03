/**
 * How messages get from one node of a cluster to another: TCP between equal peers.
 *
 * Whoever has something to say opens a connection and speaks on it; the other side only listens. So two peers that talk
 * have two connections, neither has to decide which of two crossing ones to keep, and a message's way depends on one
 * side's dialling alone. Messages may be lost, when a connection breaks or a peer is too slow. They never overtake each
 * other on one connection, and a newer connection of a peer ends its older one. Nobody is told of delivery: the nodes
 * cope with loss, and time and again say what matters.
 *
 *   send ─▶ peer (queue, wire/peer.ts) ─▶ dialled ═══ frames ═══▶ accepted ─▶ onMessage
 *
 * Everyone proves that they know the cluster's secret (wire/handshake.ts), and every frame is sealed (wire/seal.ts); or
 * TLS does both with certificates of the cluster's own CA. Whoever is not of the cluster is refused and counted.
 *
 * Invariant: what `onMessage` is given was sent by a holder of the secret, or of a certificate, that goes by `from`, once.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { World } from "../../../core/world.ts";
import { Accepted } from "./accepted.ts";
import { type PeerPlace, placeOf } from "./address.ts";
import { HANDSHAKE_MS } from "./dialled.ts";
import { AcceptorHandshake, DiallerHandshake, NONCE_BYTES, secretKey } from "./handshake.ts";
import { Peer, type PeerState } from "./peer.ts";
import { type PeerProblem, Problems } from "./problems.ts";
import { listenAt, type PeerTls, type SocketServer } from "./sockets.ts";
import { Strangers, type UnknownCaller } from "./strangers.ts";

/** So many peers may be sent to, and as many may send. */
export const PEERS_MAX = 256;
/** How often what takes too long is looked for, and receipts are given. */
const SWEEP_EVERY_MS = 250;
/** So much of what is no address is shown. */
const SHOWN_CHARACTERS_MAX = 100;
/** How long closing may take. */
const CLOSE_MS = 1_000;

export interface TransportSettings {
  readonly listen: { readonly host: string; readonly port: number };
  /** `host:port` under which peers reach us, written as they write it. With port 0 it is the one listened on. */
  readonly address: string;
  /** What every node of the cluster knows; null only with TLS. */
  readonly secret: string | null;
  readonly tls: PeerTls | null;
}

export interface TransportEvents {
  /** A message from the peer at the address `from`, in the order in which it was sent. */
  onMessage(from: string, message: unknown): void;
  /** Something is wrong with an address, in a sentence; for each address at most once in some seconds. */
  onProblem?(problem: PeerProblem): void;
  /** Every time a connection to an address was refused: the machine is there, and nothing listens. */
  onRefused?(address: string): void;
}

/** Listens for peers. Rejects when that is not possible, or the settings do not say who is to be let in. */
export async function openTransport(
  settings: TransportSettings,
  events: TransportEvents,
  world: World,
): Promise<Transport> {
  if (!settings.secret && !settings.tls)
    throw new Error("a cluster needs a secret or TLS: without both anyone could join it");
  if (!placeOf(withPort(settings.address, 1)))
    throw new Error(`the address of a node is host:port, not "${settings.address}"`);
  const transport = new Transport(settings, events, world);
  await transport.open();
  return transport;
}

export class Transport {
  readonly #settings: TransportSettings;
  readonly #events: TransportEvents;
  readonly #world: World;
  readonly #secret: ReturnType<typeof secretKey>;
  readonly #problems: Problems;
  readonly #peers = new Map<string, Peer>();
  /** Peers with messages that leave at the end of this turn. */
  readonly #talkative = new Set<Peer>();
  readonly #strangers = new Strangers();
  readonly #accepted = new Map<string, Accepted>();
  #server: SocketServer | null = null;
  #address: string;
  #refused = 0;
  #stopSweeping: () => void = () => {};
  #flush: NodeJS.Immediate | null = null;
  #closing: Promise<void> | null = null;

  /** Use `openTransport`. */
  constructor(settings: TransportSettings, events: TransportEvents, world: World) {
    this.#settings = settings;
    this.#events = events;
    this.#world = world;
    this.#address = settings.address;
    this.#secret = secretKey(settings.secret);
    this.#problems = new Problems((problem) => events.onProblem?.(problem));
  }

  /** Done by `openTransport`. */
  async open(): Promise<void> {
    const { listen, tls, address } = this.#settings;
    this.#server = await listenAt(listen, tls, {
      onKnock: (socket) => this.#letKnock(socket),
      onReady: (socket, raw) => this.#hear(socket, raw),
      onFailed: (raw, text) => this.#turnAway(raw, text),
    });
    this.#address = withPort(address, this.port);
    this.#stopSweeping = this.#world.timers.every(SWEEP_EVERY_MS, () => this.#sweep());
  }

  /** The port that is really listened on. */
  get port(): number {
    return this.#server?.port ?? 0;
  }

  /** What peers call us. */
  get address(): string {
    return this.#address;
  }

  /** Connections that were turned away. */
  get refused(): number {
    return this.#refused;
  }

  /** Those we send to. */
  peers(): PeerState[] {
    return [...this.#peers.values()].map((peer) => peer.state);
  }

  /**
   * Sends a plain value as it is at the end of this turn, or loses it. Never waits, and throws only when told to send to
   * ourselves.
   */
  send(to: string, message: unknown): void {
    if (to === this.#address) throw new Error(`a node sends no messages to itself (${to})`);
    if (!this.#closing) this.#peerAt(to)?.send(message);
  }

  /** Sends what was said, and ends all connections. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stopSweeping();
    if (this.#flush) clearImmediate(this.#flush);
    for (const connection of this.#accepted.values()) connection.close();
    const released = this.#server?.close();
    const peers = [...this.#peers.values()];
    const stopWaiting = this.#world.timers.after(CLOSE_MS, () => {
      for (const peer of peers) peer.close();
    });
    await Promise.all([released, ...peers.map((peer) => peer.closeSoon())]);
    stopWaiting();
  }

  #peerAt(address: string): Peer | null {
    const known = this.#peers.get(address);
    if (known) return known;
    const place = placeOf(address);
    if (!place) return this.#doNotSend(address, "is no address of a peer");
    if (this.#peers.size >= PEERS_MAX) return this.#doNotSend(address, "is one peer too many to send to");
    return this.#meet(address, place);
  }

  #doNotSend(to: string, text: string): null {
    const address = to.slice(0, SHOWN_CHARACTERS_MAX);
    this.#report({ address, text: `${address} ${text}` });
    return null;
  }

  #meet(address: string, place: PeerPlace): Peer {
    const { tls } = this.#settings;
    const peer = new Peer({
      address,
      place,
      tls,
      world: this.#world,
      newHandshake: () => new DiallerHandshake({ ...this.#introduction(), peer: address }),
      onMessages: () => this.#flushSoon(peer),
      onProblem: (text) => this.#report({ address, text }),
      onRefused: () => this.#events.onRefused?.(address),
    });
    this.#peers.set(address, peer);
    return peer;
  }

  #introduction() {
    return { self: this.#address, secret: this.#secret, nonce: randomBytes(NONCE_BYTES) };
  }

  /** After all events of this turn, so that their messages travel together. */
  #flushSoon(peer: Peer): void {
    this.#talkative.add(peer);
    this.#flush ??= setImmediate(() => {
      const talkative = [...this.#talkative];
      this.#flush = null;
      this.#talkative.clear();
      for (const one of talkative) one.flush();
    });
  }

  #letKnock(raw: Socket): void {
    // Asked now: a closed socket does not know it any more.
    const host = raw.remoteAddress ?? "someone";
    const oneTooMany = this.#strangers.add({ raw, host, knockedAt: this.#world.clock.now() });
    if (oneTooMany) this.#turnAway(oneTooMany.raw, "was one stranger too many");
    raw.once("close", () => this.#strangers.delete(raw));
  }

  #hear(socket: Socket, raw: Socket): void {
    const caller = this.#strangers.get(raw);
    if (!caller) return void socket.destroy();
    const connection = new Accepted({
      socket,
      handshake: new AcceptorHandshake(this.#introduction()),
      isTls: this.#settings.tls !== null,
      onPeer: (peer) => this.#welcome(connection, peer, caller),
      onMessage: (from, message) => this.#events.onMessage(from, message),
      onEnd: (text) => this.#letGo(connection, text, caller),
    });
  }

  #welcome(connection: Accepted, peer: string, caller: UnknownCaller): boolean {
    const older = this.#accepted.get(peer);
    if (this.#closing || (!older && this.#accepted.size >= PEERS_MAX)) return false;
    this.#strangers.welcome(caller);
    older?.close();
    this.#accepted.set(peer, connection);
    return true;
  }

  #letGo(connection: Accepted, text: string | null, caller: UnknownCaller): void {
    const { peer, claimed } = connection;
    if (peer !== null && this.#accepted.get(peer) === connection) this.#accepted.delete(peer);
    if (text !== null) this.#refuse(caller, text, claimed);
  }

  #turnAway(raw: Socket, text: string): void {
    const caller = this.#strangers.get(raw);
    if (caller) this.#refuse(caller, text, null);
    raw.destroy();
  }

  /** Counts and reports someone who is not let in, or not any longer. */
  #refuse({ raw, host }: UnknownCaller, text: string, claimed: string | null): void {
    const who = claimed === null ? host : `${host} (it says it is ${claimed})`;
    this.#refused++;
    this.#strangers.delete(raw);
    this.#report({ address: host, text: `${who} ${text}` });
  }

  #report(problem: PeerProblem): void {
    if (!this.#closing) this.#problems.report(problem, this.#world.clock.now());
  }

  #sweep(): void {
    const now = this.#world.clock.now();
    for (const { raw } of this.#strangers.since(now - HANDSHAKE_MS - 1))
      this.#turnAway(raw, "took too long to say who it is");
    for (const connection of this.#accepted.values()) connection.sweep();
    for (const peer of this.#peers.values()) {
      peer.sweep(now);
      if (peer.isIdle(now)) this.#forget(peer);
    }
  }

  #forget(peer: Peer): void {
    this.#peers.delete(peer.address);
    this.#talkative.delete(peer);
    peer.close();
  }
}

/** The address with this port where it has none of its own. */
function withPort(address: string, port: number): string {
  return address.replace(/:0$/, `:${port}`);
}
