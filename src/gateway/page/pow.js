/**
 * The browser's side of the proof of work: finds digits such that SHA-256 of `challenge:digits` begins with the required
 * number of zero bits. It works in short slices on the page's own thread. A worker would need an address that the page's
 * content policy does not allow; WebCrypto needs https, and one call takes about twenty times as long as hashing a block here.
 *
 * The digits have a fixed length and stand at the end, so that all blocks before theirs are hashed once.
 */
const SLICE_MS = 16;
const TRIES_A_LOOK = 200;
const DIGITS = 12;
const BLOCK_BYTES = 64;

/** The constants of SHA-256 (FIPS 180-4, 4.2.2 and 5.3.3): the fractional parts of roots of the first primes. */
function roots(count, power) {
  const found = [];
  for (let number = 2; found.length < count; number++) {
    let divisor = 2;
    while (number % divisor) divisor++;
    if (divisor === number) found.push(((number ** power % 1) * 2 ** 32) | 0);
  }
  return Int32Array.from(found);
}

const rounds = roots(64, 1 / 3);
const words = new Int32Array(64);

function turned(word, by) {
  return (word >>> by) | (word << (32 - by));
}

/** Hashes one block into `state` (FIPS 180-4, 6.2.2). */
function mix(state, view, at) {
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let f = state[5];
  let g = state[6];
  let h = state[7];
  for (let i = 0; i < 64; i++) {
    if (i < 16) words[i] = view.getInt32(at + i * 4);
    else {
      const v = words[i - 15];
      const w = words[i - 2];
      words[i] =
        (turned(v, 7) ^ turned(v, 18) ^ (v >>> 3)) +
        (turned(w, 17) ^ turned(w, 19) ^ (w >>> 10)) +
        words[i - 7] +
        words[i - 16];
    }
    const one =
      (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + h + rounds[i] + words[i];
    const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

/** Lets the page render and handle input. Unlike a timer, a message is not slowed down in a hidden tab. */
function breath() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => resolve(port1.close());
    port2.postMessage(0);
  });
}

/** The digits that solve a challenge. `onProgress` gets, now and then, the probability of being done by now, 0 to 1. */
export async function solve(challenge, bits, onProgress) {
  const zeros = "0".repeat(DIGITS);
  const text = new TextEncoder().encode(`${challenge}:${zeros}`);
  const end = text.length;
  const bytes = new Uint8Array(Math.ceil((end + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  const view = new DataView(bytes.buffer);
  const state = new Int32Array(8);
  const start = roots(8, 1 / 2);
  bytes.set(text);
  bytes[end] = 128;
  view.setUint32(bytes.length - 4, end * 8);
  let first = 0;
  while (first + BLOCK_BYTES <= end - DIGITS) {
    mix(start, view, first);
    first += BLOCK_BYTES;
  }

  function isSolved() {
    let digit = end - 1;
    while (bytes[digit] === 57) bytes[digit--] = 48;
    bytes[digit]++;
    state.set(start);
    for (let at = first; at < bytes.length; at += BLOCK_BYTES) mix(state, view, at);
    return Math.clz32(state[0]) >= bits;
  }

  let tries = 0;
  for (;;) {
    const until = performance.now() + SLICE_MS;
    do {
      for (let i = 0; i < TRIES_A_LOOK; i++)
        if (isSolved()) return String.fromCharCode(...bytes.subarray(end - DIGITS, end));
      tries += TRIES_A_LOOK;
    } while (performance.now() < until);
    onProgress(1 - Math.exp(-tries / 2 ** bits));
    await breath();
  }
}
