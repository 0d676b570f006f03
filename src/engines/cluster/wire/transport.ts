/**
 * How messages get from one node of a cluster to another: TCP between equal peers.
 *
 * A node that has something to send opens a connection and sends on it; the other side only listens. So two peers have two
 * connections, neither has to choose between crossing ones, and a message's way depends on one side's dialling alone. Messages
 * may be lost, when a connection breaks or a peer is too slow. They stay in order on one connection, and a newer connection of a
 * peer ends its older one. There is no delivery report: the nodes tolerate loss, and repeat what matters.
 *
 *   send ─▶ peer (queue, wire/peer.ts) ─▶ dialled ═══ frames ═══▶ accepted ─▶ onMessage
 *
 * Every peer proves that it knows the cluster's secret (wire/handshake.ts), and every frame is sealed (wire/seal.ts); or TLS does
 * both with certificates of the cluster's own CA. Other connections are refused and counted.
 *
 * Invariant: what `onMessage` gets was sent once, by a holder of the secret or of a certificate, whose address is `from`.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { World } from "../../../core/world.ts";
import { Accepted } from "./accepted.ts";
import { endpointOf, type PeerEndpoint } from "./address.ts";
import { HANDSHAKE_MS } from "./dialled.ts";
import { AcceptorHandshake, DiallerHandshake, NONCE_BYTES, secretKey } from "./handshake.ts";
import { Peer, type PeerState } from "./peer.ts";
import { type PeerProblem, Problems } from "./problems.ts";
import { listenAt, type PeerTls, type SocketServer } from "./sockets.ts";
import { Strangers, type UnknownCaller } from "./strangers.ts";

/** The most peers to send to, and the most to receive from. */
const PEERS_MAX = 256;
const SWEEP_EVERY_MS = 250;
const SHOWN_CHARACTERS_MAX = 100;
const CLOSE_MS = 1_000;

export interface TransportSettings {
  readonly listen: { readonly host: string; readonly port: number };
  /** `host:port` by which peers reach us, exactly as they write it. Port 0 stands for the port listened on. */
  readonly address: string;
  /** Known to every node of the cluster; null only with TLS. */
  readonly secret: string | null;
  readonly tls: PeerTls | null;
}

export interface TransportEvents {
  /** A message from the peer at `from`, in the order sent. */
  onMessage(from: string, message: unknown): void;
  /** Something is wrong with an address; at most once in some seconds for each. */
  onProblem?(problem: PeerProblem): void;
  /** Called for every refused connection: the machine answers, and nothing listens. */
  onRefused?(address: string): void;
}

/** Listens for peers. Rejects when that fails, or the settings let anyone in. */
export async function openTransport(
  settings: TransportSettings,
  events: TransportEvents,
  world: World,
): Promise<Transport> {
  if (!settings.secret && !settings.tls)
    throw new Error("a cluster needs a secret or TLS: without both anyone could join it");
  if (!endpointOf(withPort(settings.address, 1)))
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

  get port(): number {
    return this.#server?.port ?? 0;
  }

  get address(): string {
    return this.#address;
  }

  get refused(): number {
    return this.#refused;
  }

  peers(): PeerState[] {
    return [...this.#peers.values()].map((peer) => peer.state);
  }

  /** Sends a plain value at the end of this turn, or loses it. Never waits, and throws only for a message to ourselves. */
  send(to: string, message: unknown): void {
    if (to === this.#address) throw new Error(`a node sends no messages to itself (${to})`);
    if (!this.#closing) this.#peerAt(to)?.send(message);
  }

  /** Sends what is queued, and ends all connections. */
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
    const endpoint = endpointOf(address);
    if (!endpoint) return this.#doNotSend(address, "is not a valid peer address");
    if (this.#peers.size >= PEERS_MAX) return this.#doNotSend(address, "is one peer too many to send to");
    return this.#meet(address, endpoint);
  }

  #doNotSend(to: string, text: string): null {
    const address = to.slice(0, SHOWN_CHARACTERS_MAX);
    this.#report({ address, text: `${address} ${text}` });
    return null;
  }

  #meet(address: string, endpoint: PeerEndpoint): Peer {
    const { tls } = this.#settings;
    const peer = new Peer({
      address,
      endpoint,
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

  /** After all events of this turn, so that their messages go together. */
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
    // A closed socket does not know it any more.
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

/** The address, with this port in place of port 0. */
function withPort(address: string, port: number): string {
  return address.replace(/:0$/, `:${port}`);
}
