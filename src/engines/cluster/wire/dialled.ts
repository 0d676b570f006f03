/**
 * A connection that we open to a peer, from dialling to its end; it is never reopened. We send messages and the other side sends
 * receipts, so that a dead connection is given up long before TCP would.
 */
import type { Socket } from "node:net";
import type { PeerEndpoint } from "./address.ts";
import { FrameReader, framesIn, HELLO_BYTES_MAX } from "./frames.ts";
import { type DiallerHandshake, NO_PEER, type SessionKeys, WRONG_SECRET } from "./handshake.ts";
import { type Opener, openerWith, type Sealer, sealerWith, unsealed } from "./seal.ts";
import { dial, dialProblem, type PeerTls, writeFrame } from "./sockets.ts";

/** The longest that a handshake may take. */
export const HANDSHAKE_MS = 3_000;
/** The longest that sent messages may go without a receipt. */
const UNHEARD_MS = 5_000;

export interface DialledOptions {
  readonly endpoint: PeerEndpoint;
  readonly tls: PeerTls | null;
  readonly handshake: DiallerHandshake;
  now(): number;
  /** Messages may be sent. */
  onConnected(): void;
  /** There is room again. */
  onDrain(): void;
  /** The end; the text says why, as a sentence about the peer. */
  onEnd(text: string): void;
}

export class Dialled {
  readonly #options: DialledOptions;
  readonly #socket: Socket;
  readonly #reader = new FrameReader(HELLO_BYTES_MAX);
  #opener: Opener = unsealed;
  #sealer: Sealer = unsealed;
  #frames = 0;
  #isConnected = false;
  #hasEnded = false;
  #error: NodeJS.ErrnoException | null = null;
  /** Since when something we sent has no receipt; at first, since dialling. */
  #unheardSinceAt: number | null;

  constructor(options: DialledOptions) {
    this.#options = options;
    this.#unheardSinceAt = options.now();
    this.#socket = dial(options.endpoint, options.tls, () =>
      writeFrame(this.#socket, [options.handshake.hello]),
    );
    this.#socket.on("data", (piece: Buffer) => this.#hear(piece));
    this.#socket.on("drain", () => this.#isConnected && options.onDrain());
    this.#socket.once("error", (error) => {
      this.#error = error;
    });
    this.#socket.once("close", () => this.#end(this.#whyClosed()));
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** True when messages may be sent now; otherwise `onConnected` or `onDrain` says when. */
  get hasRoom(): boolean {
    return this.#isConnected && !this.#socket.writableNeedDrain;
  }

  /** Bytes in the socket that the network has not taken. */
  get queuedBytes(): number {
    return this.#socket.writableLength;
  }

  /** Sends bodies from `take` while there is room. */
  sendAll(take: () => Buffer | undefined): void {
    this.#socket.cork();
    while (this.hasRoom) {
      const body = take();
      if (!body) break;
      writeFrame(this.#socket, this.#sealer.seal(body));
      this.#frames++;
      this.#unheardSinceAt ??= this.#options.now();
    }
    this.#socket.uncork();
  }

  /** Gives the connection up when the other side is silent for too long. */
  sweep(now: number): void {
    if (this.#unheardSinceAt === null) return;
    const silentMs = now - this.#unheardSinceAt;
    if (this.#isConnected && silentMs > UNHEARD_MS)
      this.#refuse("does not acknowledge our messages any more");
    if (!this.#isConnected && silentMs > HANDSHAKE_MS) this.#refuse("does not answer");
  }

  /** Ends it once everything sent is on its way. */
  closeSoon(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#socket.closed) resolve();
    else this.#socket.once("close", () => resolve());
    if (this.#isConnected) this.#socket.end();
    else this.#socket.destroy();
    return promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #hear(piece: Buffer): void {
    this.#reader.push(piece);
    while (!this.#hasEnded) {
      const frame = this.#reader.next();
      if (frame === "incomplete") return;
      if (frame === "tooBig") this.#refuse(NO_PEER);
      else if (!this.#isConnected) this.#meet(frame);
      else this.#hearReceipt(this.#opener.open(frame));
    }
  }

  #meet(frame: Buffer): void {
    const step = this.#options.handshake.receive(frame);
    if (step.kind === "answer") writeFrame(this.#socket, [step.frame]);
    else if (step.kind === "refused") this.#refuse(step.text);
    else this.#become(step.keys);
  }

  /** Some frames have arrived since the last receipt; all, if the count is complete. */
  #hearReceipt(receipt: Buffer | null): void {
    const heard = receipt && framesIn(receipt);
    if (heard === null || heard > this.#frames) return this.#refuse("sent an invalid receipt");
    this.#unheardSinceAt = heard === this.#frames ? null : this.#options.now();
  }

  #become(keys: SessionKeys): void {
    this.#isConnected = true;
    this.#unheardSinceAt = null;
    if (this.#options.tls === null) {
      this.#sealer = sealerWith(keys.messages);
      this.#opener = openerWith(keys.receipts);
    }
    this.#options.onConnected();
  }

  #whyClosed(): string {
    const { handshake, endpoint, tls } = this.#options;
    if (this.#isConnected) return "closed the connection";
    // It has our proof, and hung up.
    if (handshake.hasProved) return WRONG_SECRET;
    if (this.#error) return dialProblem(this.#error, endpoint);
    const hint = tls ? ": its CA may not be ours, or our certificate may not name us" : "";
    return `hung up before it said who it is${hint}`;
  }

  #refuse(text: string): void {
    this.#socket.destroy();
    this.#end(text);
  }

  #end(text: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#isConnected = false;
    this.#options.onEnd(text);
  }
}
