/**
 * Frames: four bytes of length, most significant first, then the body. TCP delivers a stream in pieces of any size; this cuts it
 * back into frames.
 *
 * Memory is not allocated by announced length: only received pieces are kept, and a frame larger than `bytesMax` is refused after
 * its first four bytes. The limit may change between two frames, since a stranger may send less than a peer.
 */
/** The longest frame from a stranger. */
export const HELLO_BYTES_MAX = 1_024;
/** The longest frame from a peer. */
export const FRAME_BYTES_MAX = 16 * 1_024 * 1_024;
const LENGTH_BYTES = 4;
/** The most that Node reads as one number. */
const RECEIPT_BYTES = 6;
/**
 * This many pieces are joined into one, and this many of those again: a byte in a piece of its own costs a hundred, and copying a
 * byte with every later piece costs more still.
 */
const PIECES_MAX = 1_024;

export function lengthPrefix(bytes: number): Buffer {
  const prefix = Buffer.allocUnsafe(LENGTH_BYTES);
  prefix.writeUInt32BE(bytes);
  return prefix;
}

/** A receipt: how many frames of messages have arrived. */
export function receiptFor(frames: number): Buffer {
  const receipt = Buffer.alloc(RECEIPT_BYTES);
  receipt.writeUIntBE(frames, 0, RECEIPT_BYTES);
  return receipt;
}

/** The count in a receipt; null when it is malformed. */
export function framesIn(receipt: Buffer): number | null {
  return receipt.length === RECEIPT_BYTES ? receipt.readUIntBE(0, RECEIPT_BYTES) : null;
}

export class FrameReader {
  bytesMax: number;
  #pieces: Buffer[] = [];
  /** How many of the pieces at the front were joined from others. */
  #joined = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#pieces.length - this.#joined > PIECES_MAX) this.#joinLatest();
  }

  /** The body of the next frame, in memory of its own. After "tooBig" the stream is useless. */
  next(): Buffer | "incomplete" | "tooBig" {
    if (this.#bytes < LENGTH_BYTES) return "incomplete";
    if (this.#pieces[0]!.length < LENGTH_BYTES) this.#join();
    const length = this.#pieces[0]!.readUInt32BE();
    if (length > this.bytesMax) return "tooBig";
    if (this.#bytes < LENGTH_BYTES + length) return "incomplete";
    return this.#take(LENGTH_BYTES + length).subarray(LENGTH_BYTES);
  }

  #take(bytes: number): Buffer {
    if (this.#pieces[0]!.length < bytes) this.#join();
    const whole = this.#pieces[0]!;
    if (whole.length === bytes) {
      this.#pieces.shift();
      this.#joined = Math.max(0, this.#joined - 1);
    } else this.#pieces[0] = whole.subarray(bytes);
    this.#bytes -= bytes;
    return whole.subarray(0, bytes);
  }

  #joinLatest(): void {
    this.#pieces.push(Buffer.concat(this.#pieces.splice(this.#joined)));
    this.#joined++;
    if (this.#joined > PIECES_MAX) this.#join();
  }

  #join(): void {
    this.#pieces = [Buffer.concat(this.#pieces, this.#bytes)];
    this.#joined = 1;
  }
}
