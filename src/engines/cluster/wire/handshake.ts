/**
 * How two peers prove to each other that they know the cluster's secret, without sending it.
 *
 *   dialler                                          acceptor
 *     hello: version, nonce, own address, peer's ──▶
 *                                ◀─ challenge: version, nonce
 *     proof: MAC("dialler", all of the above) ──────▶
 *                                ◀─ welcome: MAC("acceptor", all of the above, own address), own address
 *
 * The dialler proves first, so a stranger learns the version and nothing to guess the secret by. Each nonce is new, so recordings
 * are useless; the labels differ and the two addresses are in order, so nothing can be reflected. Fields in a MAC are preceded by
 * their lengths. Secret and nonces give the keys of the following frames (HKDF, RFC 5869), one for each direction.
 *
 * No I/O: frame in, step out; nonces are passed in. There is no forward secrecy: with the secret, recorded traffic can be read.
 * Use TLS to prevent that.
 *
 * Invariant: a side agrees only if the other knew the secret and meant the same two addresses.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto";
import { endpointOf } from "./address.ts";

export const PROTOCOL_VERSION = 1;
export const NONCE_BYTES = 32;
const MAGIC = Buffer.from("FGPR");
const VERSION_BYTES = 2;
const HEAD_BYTES = MAGIC.length + VERSION_BYTES + NONCE_BYTES;
const MAC_BYTES = 32;
const KEY_BYTES = 32;

/** Keys of the frames after the handshake. */
export interface SessionKeys {
  /** From the dialler. */
  readonly messages: Buffer;
  /** From the acceptor. */
  readonly receipts: Buffer;
}

/** What to do after a frame. A text says what is wrong, as a sentence about the other side: "does not know …". */
export type Step =
  | { readonly kind: "answer"; readonly frame: Buffer }
  | {
      readonly kind: "agreed";
      readonly frame: Buffer | null;
      readonly peer: string;
      readonly keys: SessionKeys;
    }
  | { readonly kind: "refused"; readonly frame: Buffer | null; readonly text: string };

export const WRONG_SECRET = "does not know our cluster secret";
export const NO_PEER = "does not speak the Fairgate peer protocol, or TLS is on at one side only";

export interface HandshakeOptions {
  readonly self: string;
  readonly secret: KeyObject;
  /** Never used before. */
  readonly nonce: Buffer;
}

/** The secret as a key. Without one, TLS vouches for both, and the proofs only show that both mean the same. */
export function secretKey(secret: string | null): KeyObject {
  return createSecretKey(Buffer.from(secret ?? "", "utf8"));
}

export class DiallerHandshake {
  readonly hello: Buffer;
  readonly #options: HandshakeOptions & { readonly peer: string };
  #agreement: Agreement | null = null;

  constructor(options: HandshakeOptions & { readonly peer: string }) {
    this.#options = options;
    this.hello = Buffer.concat([head(options.nonce), field(options.self), field(options.peer)]);
  }

  /** True once we have sent all that proves who we are. */
  get hasProved(): boolean {
    return this.#agreement !== null;
  }

  receive(frame: Buffer): Step {
    return this.#agreement ? this.#hearWelcome(frame, this.#agreement) : this.#hearChallenge(frame);
  }

  #hearChallenge(frame: Buffer): Step {
    const { self, peer, secret, nonce } = this.#options;
    const wrong = wrongHead(frame);
    if (wrong) return refused(wrong);
    if (frame.length !== HEAD_BYTES) return refused(NO_PEER);
    const words = { dialler: self, wanted: peer, diallerNonce: nonce, acceptorNonce: nonceIn(frame) };
    this.#agreement = new Agreement(secret, words);
    return { kind: "answer", frame: this.#agreement.proof() };
  }

  #hearWelcome(frame: Buffer, agreement: Agreement): Step {
    const { peer } = this.#options;
    const address = frame.toString("latin1", MAC_BYTES);
    if (!isSame(frame.subarray(0, MAC_BYTES), agreement.welcome(address))) return refused(WRONG_SECRET);
    if (address !== peer)
      return refused(`says that its address is ${address}: write that one in the settings`);
    return { kind: "agreed", frame: null, peer, keys: agreement.keys() };
  }
}

export class AcceptorHandshake {
  readonly #options: HandshakeOptions;
  #claimed: string | null = null;
  #wanted = "";
  #agreement: Agreement | null = null;

  constructor(options: HandshakeOptions) {
    this.#options = options;
  }

  /** Who the other side says it is, proved or not. */
  get claimed(): string | null {
    return this.#claimed;
  }

  receive(frame: Buffer): Step {
    return this.#agreement ? this.#hearProof(frame, this.#agreement) : this.#hearHello(frame);
  }

  #hearHello(frame: Buffer): Step {
    const { self, secret, nonce } = this.#options;
    const wrong = wrongHead(frame);
    // A peer of another version needs our version to report what is wrong.
    if (wrong) return refused(wrong, isOurs(frame) ? head(nonce) : null);
    const [dialler, wanted] = fieldsIn(frame.subarray(HEAD_BYTES));
    if (!dialler || !wanted || !endpointOf(dialler) || !endpointOf(wanted)) return refused(NO_PEER);
    this.#claimed = dialler;
    this.#wanted = wanted;
    if (dialler === self) return refused("uses our own address");
    const words = { dialler, wanted, diallerNonce: nonceIn(frame), acceptorNonce: nonce };
    this.#agreement = new Agreement(secret, words);
    return { kind: "answer", frame: head(nonce) };
  }

  #hearProof(frame: Buffer, agreement: Agreement): Step {
    const { self } = this.#options;
    if (!isSame(frame, agreement.proof())) return refused(WRONG_SECRET);
    const welcome = Buffer.concat([agreement.welcome(self), Buffer.from(self, "latin1")]);
    if (this.#wanted !== self) return refused(`dials ${this.#wanted} and finds us, ${self}`, welcome);
    return { kind: "agreed", frame: welcome, peer: this.#claimed!, keys: agreement.keys() };
  }
}

interface Words {
  readonly dialler: string;
  /** The address the dialler wants to reach. */
  readonly wanted: string;
  readonly diallerNonce: Buffer;
  readonly acceptorNonce: Buffer;
}

/** What both sides have said, and what follows from it with the secret. */
class Agreement {
  readonly #secret: KeyObject;
  readonly #nonces: Buffer;
  readonly #said: Buffer;

  constructor(secret: KeyObject, { dialler, wanted, diallerNonce, acceptorNonce }: Words) {
    const version = Buffer.alloc(VERSION_BYTES);
    version.writeUInt16BE(PROTOCOL_VERSION);
    this.#secret = secret;
    this.#nonces = Buffer.concat([diallerNonce, acceptorNonce]);
    this.#said = Buffer.concat([version, this.#nonces, field(dialler), field(wanted)]);
  }

  proof(): Buffer {
    return this.#mac("dialler");
  }

  welcome(address: string): Buffer {
    return this.#mac("acceptor", field(address));
  }

  keys(): SessionKeys {
    return { messages: this.#key("letters"), receipts: this.#key("receipts") };
  }

  #mac(label: string, ...more: readonly Buffer[]): Buffer {
    return createHmac("sha256", this.#secret)
      .update(Buffer.concat([field(`fairgate peer ${label}`), this.#said, ...more]))
      .digest();
  }

  #key(label: string): Buffer {
    const purpose = Buffer.concat([field(`fairgate peer ${label}`), this.#said]);
    return Buffer.from(hkdfSync("sha256", this.#secret, this.#nonces, purpose, KEY_BYTES));
  }
}

function refused(text: string, frame: Buffer | null = null): Step {
  return { kind: "refused", frame, text };
}

function head(nonce: Buffer): Buffer {
  const version = Buffer.alloc(VERSION_BYTES);
  version.writeUInt16BE(PROTOCOL_VERSION);
  return Buffer.concat([MAGIC, version, nonce]);
}

function wrongHead(frame: Buffer): string | null {
  if (!isOurs(frame)) return NO_PEER;
  const version = frame.readUInt16BE(MAGIC.length);
  if (version === PROTOCOL_VERSION) return frame.length < HEAD_BYTES ? NO_PEER : null;
  return `speaks version ${version} of the peer protocol, we speak ${PROTOCOL_VERSION}: install the same release on both`;
}

function isOurs(frame: Buffer): boolean {
  return frame.length >= MAGIC.length + VERSION_BYTES && frame.subarray(0, MAGIC.length).equals(MAGIC);
}

function nonceIn(frame: Buffer): Buffer {
  return frame.subarray(HEAD_BYTES - NONCE_BYTES, HEAD_BYTES);
}

/** A short text after its length. Addresses and labels are ASCII and shorter than 256 characters. */
function field(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

/** The two addresses of a hello; empty when there is anything else. */
function fieldsIn(bytes: Buffer): string[] {
  const first = fieldAt(bytes, 0);
  const second = first === null ? null : fieldAt(bytes, 1 + first.length);
  if (first === null || second === null) return [];
  return first.length + second.length + 2 === bytes.length ? [first, second] : [];
}

function fieldAt(bytes: Buffer, at: number): string | null {
  const end = at + 1 + (bytes[at] ?? Number.POSITIVE_INFINITY);
  return end <= bytes.length ? bytes.toString("latin1", at + 1, end) : null;
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && one.length === MAC_BYTES && timingSafeEqual(one, other);
}
