/**
 * Wrong tokens, counted by address. After too many within a minute, further wrong ones from that address are told to come
 * back later, for a minute. The right token is never locked out: otherwise a program on the operator's machine could keep
 * the operator out with twenty wrong guesses a minute. Guessing is hopeless anyway: a token has at least 32 characters.
 *
 * Memory is bounded: beyond `ADDRESSES_MAX` the address counted longest ago is forgotten.
 */
export const FAILURES_MAX = 20;
export const FAILURES_WINDOW_MS = 60_000;
export const BLOCK_MS = 60_000;
export const ADDRESSES_MAX = 10_000;

interface Record {
  readonly since: number;
  failures: number;
}

export class Attempts {
  readonly #failed = new Map<string, Record>();
  readonly #blockedUntil = new Map<string, number>();

  /** How much longer wrong tokens from this address are refused uncounted; 0: they are counted. */
  blockedForMs(address: string, now: number): number {
    const until = this.#blockedUntil.get(address);
    if (until === undefined) return 0;
    if (until > now) return until - now;
    this.#blockedUntil.delete(address);
    return 0;
  }

  /** Counts a wrong token. True when the address is blocked from now on. */
  fail(address: string, now: number): boolean {
    const record = this.#recordOf(address, now);
    if (++record.failures < FAILURES_MAX) return false;
    this.#failed.delete(address);
    keep(this.#blockedUntil, address, now + BLOCK_MS);
    return true;
  }

  #recordOf(address: string, now: number): Record {
    const known = this.#failed.get(address);
    if (known && now - known.since < FAILURES_WINDOW_MS) return known;
    const record = { since: now, failures: 0 };
    keep(this.#failed, address, record);
    return record;
  }
}

function keep<T>(map: Map<string, T>, address: string, value: T): void {
  map.delete(address);
  if (map.size >= ADDRESSES_MAX) map.delete(map.keys().next().value!);
  map.set(address, value);
}
