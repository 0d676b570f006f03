/**
 * Frames that nobody in between can read, change, omit, repeat or reorder: AES-256-GCM under a key of this connection and
 * direction, with the frame's number as nonce. The number is not sent; both sides count, and a frame that is not the next one
 * does not open.
 *
 * Sealing costs as much as a MAC alone: HMAC-SHA-256 took 3, 5 and 50 µs for batches of 1, 4 and 64 KiB, AES-256-GCM 5, 7 and 48.
 * So messages are encrypted as well.
 *
 * Inside TLS frames are not sealed.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from "node:crypto";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
/** How many of the nonce's last bytes count up; six hold any safe integer of JavaScript. */
const COUNT_BYTES = 6;
const TAG_BYTES = 16;
const TAG = { authTagLength: TAG_BYTES };

export interface Sealer {
  /** The frame's body, in parts to be written one after the other. */
  seal(body: Buffer): readonly Buffer[];
}

export interface Opener {
  /** The body; null when this is not the next frame of the holder of the key. */
  open(sealed: Buffer): Buffer | null;
}

/** For inside TLS. */
export const unsealed: Sealer & Opener = { seal: (body) => [body], open: (body) => body };

export function sealerWith(key: Buffer): Sealer {
  const frames = new Frames(key);
  return {
    seal(body) {
      const cipher = createCipheriv(CIPHER, frames.key, frames.nextNonce(), TAG);
      const hidden = cipher.update(body);
      cipher.final();
      return [hidden, cipher.getAuthTag()];
    },
  };
}

export function openerWith(key: Buffer): Opener {
  const frames = new Frames(key);
  return {
    open(sealed) {
      if (sealed.length < TAG_BYTES) return null;
      const end = sealed.length - TAG_BYTES;
      const decipher = createDecipheriv(CIPHER, frames.key, frames.nextNonce(), TAG);
      decipher.setAuthTag(sealed.subarray(end));
      const body = decipher.update(sealed.subarray(0, end));
      try {
        decipher.final();
      } catch {
        return null;
      }
      return body;
    },
  };
}

class Frames {
  readonly key: KeyObject;
  readonly #nonce = Buffer.alloc(NONCE_BYTES);
  #count = 0;

  constructor(key: Buffer) {
    this.key = createSecretKey(key);
  }

  nextNonce(): Buffer {
    this.#nonce.writeUIntBE(this.#count++, NONCE_BYTES - COUNT_BYTES, COUNT_BYTES);
    return this.#nonce;
  }
}
