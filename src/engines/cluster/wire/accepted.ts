/**
 * A connection that another node opened to us: at first a stranger's, who has to prove who it is, then a peer's, who sends
 * messages. All that we send back is a receipt now and then. It tells the other side that we still hear it, which TCP alone may
 * take a quarter of an hour to find out.
 */
import type { Socket } from "node:net";
import { FRAME_BYTES_MAX, FrameReader, HELLO_BYTES_MAX, receiptFor } from "./frames.ts";
import { type AcceptorHandshake, NO_PEER, type SessionKeys } from "./handshake.ts";
import { unpackMessages } from "./packing.ts";
import { type Opener, openerWith, type Sealer, sealerWith, unsealed } from "./seal.ts";
import { isNamedByCertificate, writeFrame } from "./sockets.ts";

const TOO_BIG = `sent a frame of more than ${FRAME_BYTES_MAX} bytes`;

export interface AcceptedOptions {
  readonly socket: Socket;
  readonly handshake: AcceptorHandshake;
  /** Frames are not sealed. */
  readonly isTls: boolean;
  /** The other side has proved to be `peer`; returns false when there is no room for it. */
  onPeer(peer: string): boolean;
  onMessage(from: string, message: unknown): void;
  /** The connection ended; with a text if we ended it. It may still have been a stranger's. */
  onEnd(text: string | null): void;
}

export class Accepted {
  readonly #options: AcceptedOptions;
  readonly #reader = new FrameReader(HELLO_BYTES_MAX);
  #peer: string | null = null;
  #opener: Opener = unsealed;
  #sealer: Sealer = unsealed;
  #frames = 0;
  #owesReceipt = false;
  #hasEnded = false;

  constructor(options: AcceptedOptions) {
    this.#options = options;
    options.socket.on("data", (piece: Buffer) => this.#hear(piece));
    options.socket.once("close", () => this.#end(null));
  }

  /** Who it has proved to be; null for a stranger. */
  get peer(): string | null {
    return this.#peer;
  }

  /** Who it says it is. */
  get claimed(): string | null {
    return this.#options.handshake.claimed;
  }

  /** Sends a receipt if frames have arrived since the last one. */
  sweep(): void {
    const { socket } = this.#options;
    if (!this.#owesReceipt || socket.writableNeedDrain) return;
    this.#owesReceipt = false;
    writeFrame(socket, this.#sealer.seal(receiptFor(this.#frames)));
  }

  close(): void {
    this.#options.socket.destroy();
    this.#end(null);
  }

  #hear(piece: Buffer): void {
    if (this.#hasEnded) return;
    this.#owesReceipt = this.#peer !== null;
    this.#reader.push(piece);
    while (!this.#hasEnded) {
      const frame = this.#reader.next();
      if (frame === "incomplete") return;
      if (frame === "tooBig") this.#refuse(this.#peer ? TOO_BIG : NO_PEER);
      else if (this.#peer === null) this.#meet(frame);
      else this.#read(frame, this.#peer);
    }
  }

  #meet(frame: Buffer): void {
    const { socket, handshake } = this.#options;
    const step = handshake.receive(frame);
    if (step.kind === "refused") return this.#refuse(step.text, step.frame);
    if (!isNamedByCertificate(socket, handshake.claimed ?? ""))
      return this.#refuse("showed a certificate that does not name it");
    if (step.kind === "answer") return writeFrame(socket, [step.frame]);
    if (step.frame) writeFrame(socket, [step.frame]);
    this.#become(step.peer, step.keys);
  }

  #become(peer: string, keys: SessionKeys): void {
    const { isTls, onPeer } = this.#options;
    this.#peer = peer;
    this.#reader.bytesMax = FRAME_BYTES_MAX;
    if (!isTls) {
      this.#opener = openerWith(keys.messages);
      this.#sealer = sealerWith(keys.receipts);
    }
    if (!onPeer(peer)) this.#refuse("is one peer too many");
  }

  #read(frame: Buffer, peer: string): void {
    const body = this.#opener.open(frame);
    if (body === null) return this.#refuse("sent a frame that was changed or repeated on its way");
    this.#frames++;
    const messages = unpackMessages(body);
    if (messages === null) return this.#refuse("sent a frame that does not hold messages");
    for (const message of messages) {
      if (this.#hasEnded) return;
      this.#options.onMessage(peer, message);
    }
  }

  #refuse(text: string, frame: Buffer | null = null): void {
    const { socket } = this.#options;
    if (frame) writeFrame(socket, [frame]);
    if (frame) socket.destroySoon();
    else socket.destroy();
    this.#end(text);
  }

  #end(text: string | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.onEnd(text);
  }
}
