/**
 * One peer that we send to: messages go in, and a connection is opened and reopened as needed.
 *
 *   first message ─▶ dialling ─▶ connected ──▶ backing off ─▶ dialling …
 *                       └─────────────────────▲   50 ms, then longer, at most 2 s, each time with jitter
 *
 * Messages of one turn of the event loop become one batch. What the connection has no room for waits, within limits; what was on
 * its way when a connection broke is lost without notice.
 */
import type { World } from "../../../core/world.ts";
import type { PeerEndpoint } from "./address.ts";
import { Dialled } from "./dialled.ts";
import type { DiallerHandshake } from "./handshake.ts";
import { packMessages } from "./packing.ts";
import { QUEUE_BYTES_MAX, SendQueue } from "./send-queue.ts";
import { NOT_LISTENING, type PeerTls } from "./sockets.ts";

const REST_MS = 50;
const REST_MS_MAX = 2_000;
/** A peer without messages for this long is dropped. */
const PEER_IDLE_MS = 60_000;
const MESSAGES_MAX = 1_000;
/** The largest message or batch: it always fits the queue, and a frame. */
const BODY_BYTES_MAX = QUEUE_BYTES_MAX / 2;

export interface PeerOptions {
  readonly address: string;
  readonly endpoint: PeerEndpoint;
  readonly tls: PeerTls | null;
  readonly world: World;
  /** A handshake for one connection. */
  newHandshake(): DiallerHandshake;
  /** Messages wait: call `flush` at the end of this turn. */
  onMessages(): void;
  onProblem(text: string): void;
  /** Nothing listens there. */
  onRefused(): void;
}

/** The state of a peer that we send to. */
export interface PeerState {
  readonly address: string;
  readonly isConnected: boolean;
  /** What waits here; what the network holds is unknown. */
  readonly queuedBytes: number;
  /** Messages dropped for lack of room or of a connection. */
  readonly dropped: number;
  readonly lastProblem: string | null;
}

export class Peer {
  readonly address: string;
  readonly #options: PeerOptions;
  readonly #queue = new SendQueue();
  #messages: unknown[] = [];
  #connection: Dialled | null = null;
  #stopResting: (() => void) | null = null;
  #failures = 0;
  #connectedAt: number | null = null;
  #lastSendAt = 0;
  #lastProblem: string | null = null;
  #isClosed = false;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.address = options.address;
    this.#dial();
  }

  get state(): PeerState {
    return {
      address: this.address,
      isConnected: this.#connection?.isConnected ?? false,
      queuedBytes: this.#queue.bytes + (this.#connection?.queuedBytes ?? 0),
      dropped: this.#queue.dropped,
      lastProblem: this.#lastProblem,
    };
  }

  /** Queues a message; it is sent with the others of this turn. */
  send(message: unknown): void {
    this.#lastSendAt = this.#now;
    if (this.#messages.length === 0) this.#options.onMessages();
    this.#messages.push(message);
    if (this.#messages.length >= MESSAGES_MAX) this.flush();
  }

  /** Sends the messages of this turn, as far as there is room. */
  flush(): void {
    this.#pack();
    this.#sendQueue();
  }

  /** Ends a silent connection, and drops what has waited too long. */
  sweep(now: number): void {
    this.#connection?.sweep(now);
    if (!this.#connection?.isConnected) this.#queue.trimAway(now);
  }

  isIdle(now: number): boolean {
    return now - this.#lastSendAt > PEER_IDLE_MS;
  }

  /** Ends once everything with room is on its way. */
  async closeSoon(): Promise<void> {
    this.flush();
    this.#stop();
    await this.#connection?.closeSoon();
  }

  close(): void {
    this.#stop();
    this.#connection?.close();
  }

  get #now(): number {
    return this.#options.world.clock.now();
  }

  #stop(): void {
    this.#isClosed = true;
    this.#stopResting?.();
  }

  #pack(): void {
    const messages = this.#messages;
    this.#messages = [];
    if (messages.length > 0) this.#enqueue(messages);
  }

  /** Queues all messages as one batch; if that fails, without the one that cannot be sent. */
  #enqueue(messages: readonly unknown[]): void {
    const body = packMessages(messages);
    if (body && body.length <= BODY_BYTES_MAX)
      return this.#queue.push({ body, messages: messages.length, sentAt: this.#now });
    if (messages.length === 1) return this.#refuseMessage(body);
    const half = messages.length >> 1;
    this.#enqueue(messages.slice(0, half));
    this.#enqueue(messages.slice(half));
  }

  #refuseMessage(body: Buffer | null): void {
    this.#queue.refuse(1);
    const why = body ? `of ${body.length} bytes: ${BODY_BYTES_MAX} are the most` : "that is no plain value";
    this.#complain(`was not sent a message ${why}`);
  }

  #sendQueue(): void {
    if (this.#connection?.isConnected) this.#connection.sendAll(() => this.#queue.shift()?.body);
    else this.#queue.trimAway(this.#now);
  }

  #dial(): void {
    const { endpoint, tls, newHandshake } = this.#options;
    this.#stopResting = null;
    this.#connection = new Dialled({
      endpoint,
      tls,
      handshake: newHandshake(),
      now: () => this.#now,
      onConnected: () => this.#begin(),
      onDrain: () => this.#sendQueue(),
      onEnd: (text) => this.#rest(text),
    });
  }

  #begin(): void {
    this.#connectedAt = this.#now;
    this.#lastProblem = null;
    this.#sendQueue();
  }

  #rest(text: string): void {
    if (this.#isClosed) return;
    const { timers, random } = this.#options.world;
    if (this.#connectedAt !== null && this.#now - this.#connectedAt > REST_MS_MAX) this.#failures = 0;
    const restMs = Math.min(REST_MS_MAX, REST_MS * 2 ** Math.min(this.#failures++, 10));
    this.#connection = null;
    this.#connectedAt = null;
    this.#stopResting = timers.after(restMs * (0.5 + random.fraction() / 2), () => this.#dial());
    this.#complain(text);
  }

  #complain(text: string): void {
    this.#lastProblem = `${this.address} ${text}`;
    this.#options.onProblem(this.#lastProblem);
    if (text === NOT_LISTENING) this.#options.onRefused();
  }
}
