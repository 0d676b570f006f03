/**
 * SHA-256 (FIPS 180-4), written here because the rules import nothing and must give the same result in a gateway, on the edge
 * and in a browser. Not for comparing or deriving secrets: the gateway does that with the runtime's own cryptography.
 *
 * `sha256` is for anything. `SeededHash` is for many short messages that begin with the same 32 bytes, as in a draw of a
 * million: each is one block, the first eight rounds are the same for all and done once, and nothing is allocated.
 */
const SHA256_BYTES = 32;
const BLOCK_BYTES = 64;
const BLOCK_WORDS = 16;
const ROUNDS = 64;
/** Where the length of the message stands at the end of its last block. */
const LENGTH_OFFSET = 56;
const END_OF_MESSAGE = 0x80;
/** The common part of the messages of one `SeededHash`, and the part of each message. */
const SEED_BYTES = 32;
const SEED_WORDS = SEED_BYTES / 4;
const OWN_BYTES = 16;
const OWN_WORDS = OWN_BYTES / 4;

/** Fractional parts of the square roots of the first eight primes (section 5.3.3). */
const INITIAL = new Int32Array([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);
/** Fractional parts of the cube roots of the first 64 primes (section 4.2.2). */
// biome-ignore format: a table
const CONSTANTS = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);

/** The hash of some bytes, as 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const state = INITIAL.slice();
  const words = new Int32Array(ROUNDS);
  const padded = pad(bytes);
  for (let offset = 0; offset < padded.length; offset += BLOCK_BYTES) {
    for (let i = 0; i < BLOCK_WORDS; i++) words[i] = readWord(padded, offset + 4 * i);
    expand(words);
    const before = state.slice();
    doRounds(state, words, 0, ROUNDS);
    for (let i = 0; i < state.length; i++) state[i]! += before[i]!;
  }
  const hash = new Uint8Array(SHA256_BYTES);
  for (let i = 0; i < state.length; i++) writeWord(hash, 4 * i, state[i]!);
  return hash;
}

/** Hashes of messages that are a seed of 32 bytes and then 16 bytes of their own. */
export class SeededHash {
  /** The hash of the last message, as eight words of 32 bits, the most significant first. */
  readonly words = new Uint32Array(SHA256_BYTES / 4);
  readonly #state = new Int32Array(INITIAL.length);
  readonly #message = new Int32Array(ROUNDS);
  /** The state after the rounds in which only the seed has a part. */
  readonly #seeded = INITIAL.slice();

  constructor(seed: Uint8Array) {
    if (seed.length !== SEED_BYTES)
      throw new RangeError(`a seed has ${SEED_BYTES} bytes, not ${seed.length}`);
    const message = this.#message;
    for (let i = 0; i < SEED_WORDS; i++) message[i] = readWord(seed, 4 * i);
    message[SEED_WORDS + OWN_WORDS] = END_OF_MESSAGE << 24;
    message[BLOCK_WORDS - 1] = (SEED_BYTES + OWN_BYTES) * 8;
    doRounds(this.#seeded, message, 0, SEED_WORDS);
  }

  /** Hashes the seed and the 16 bytes at `offset` into `words`. */
  hash(bytes: Uint8Array, offset: number): void {
    const state = this.#state;
    const message = this.#message;
    for (let i = 0; i < OWN_WORDS; i++) message[SEED_WORDS + i] = readWord(bytes, offset + 4 * i);
    expand(message);
    state.set(this.#seeded);
    doRounds(state, message, SEED_WORDS, ROUNDS);
    for (let i = 0; i < state.length; i++) this.words[i] = state[i]! + INITIAL[i]!;
  }
}

/** The message, a one bit, as many zeros as fill a block, and the length in bits (section 5.1.1). */
function pad(bytes: Uint8Array): Uint8Array {
  const blocks = Math.floor((bytes.length + 8) / BLOCK_BYTES) + 1;
  const padded = new Uint8Array(blocks * BLOCK_BYTES);
  padded.set(bytes);
  padded[bytes.length] = END_OF_MESSAGE;
  const lengthAt = (blocks - 1) * BLOCK_BYTES + LENGTH_OFFSET;
  writeWord(padded, lengthAt, Math.floor(bytes.length / 2 ** 29));
  writeWord(padded, lengthAt + 4, bytes.length << 3);
  return padded;
}

/** The message schedule: 16 words become 64 (section 6.2.2, step 1). */
function expand(words: Int32Array): void {
  for (let i = BLOCK_WORDS; i < ROUNDS; i++) {
    const a = words[i - 15]!;
    const b = words[i - 2]!;
    const sigma0 = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3);
    const sigma1 = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10);
    words[i] = (words[i - 16]! + sigma0 + words[i - 7]! + sigma1) | 0;
  }
}

/** Rounds `from` to before `to` on the state (section 6.2.2, step 3). */
function doRounds(state: Int32Array, words: Int32Array, from: number, to: number): void {
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let i = from; i < to; i++) {
    const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const choice = g ^ (e & (f ^ g));
    const t1 = (h + sum1 + choice + CONSTANTS[i]! + words[i]!) | 0;
    const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const majority = (a & b) | (c & (a | b));
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + sum0 + majority) | 0;
  }
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
  state[4] = e;
  state[5] = f;
  state[6] = g;
  state[7] = h;
}

function readWord(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

function writeWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24;
  bytes[at + 1] = word >>> 16;
  bytes[at + 2] = word >>> 8;
  bytes[at + 3] = word;
}
