/**
 * Frames: four bytes of length, the most significant first, then so many bytes. TCP delivers a stream in pieces of any
 * size; this cuts it back into what was written.
 *
 * Nothing is allocated for a length that was only announced: what is kept are the pieces that came, and a frame that
 * would be larger than `bytesMax` is known by its first four bytes. The limit may change between two frames, since a
 * stranger may say less than a peer.
 */
/** What a stranger may say at once. */
export const HELLO_BYTES_MAX = 1_024;
/** What a peer may say at once. */
export const FRAME_BYTES_MAX = 16 * 1_024 * 1_024;
const LENGTH_BYTES = 4;
/** The most that Node reads as one number. */
const RECEIPT_BYTES = 6;
/**
 * So many pieces are joined into one, and so many of those again: a byte in a piece of its own costs a hundred, and one
 * that is copied with every piece after it costs more still.
 */
const PIECES_MAX = 1_024;

/** The length that goes before a body of so many bytes. */
export function lengthPrefix(bytes: number): Buffer {
  const prefix = Buffer.allocUnsafe(LENGTH_BYTES);
  prefix.writeUInt32BE(bytes);
  return prefix;
}

/** How many frames of messages were heard, as it is told to the one who sent them. */
export function receiptFor(frames: number): Buffer {
  const receipt = Buffer.alloc(RECEIPT_BYTES);
  receipt.writeUIntBE(frames, 0, RECEIPT_BYTES);
  return receipt;
}

/** The number in a receipt; null when it is none. */
export function framesIn(receipt: Buffer): number | null {
  return receipt.length === RECEIPT_BYTES ? receipt.readUIntBE(0, RECEIPT_BYTES) : null;
}

export class FrameReader {
  bytesMax: number;
  #pieces: Buffer[] = [];
  /** Of the pieces, so many at the front were joined from others. */
  #joined = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Takes what came next. */
  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#pieces.length - this.#joined > PIECES_MAX) this.#joinLatest();
  }

  /** The body of the next frame, in memory that nobody else writes to. After "tooBig" there is no going on. */
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

  /** Joins what came since this was last done. */
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
