/** Probes made on behalf of others (`pingReq`), each until its ack arrives or is too late. */

const RELAYS_MAX = 256;

/** A ping of `target` for the peer `to`, which asked for it under the number `seq`. */
export interface Relay {
  readonly to: string;
  readonly seq: number;
  readonly target: string;
  readonly endsAt: number;
}

export class Relays {
  readonly #relays = new Map<number, Relay>();

  /** Keeps it under the number of our own ping. */
  add(ownSeq: number, relay: Relay, now: number): void {
    for (const [seq, { endsAt }] of this.#relays) {
      if (endsAt > now && this.#relays.size < RELAYS_MAX) break;
      this.#relays.delete(seq);
    }
    this.#relays.set(ownSeq, relay);
  }

  /** Takes the relay that an ack from `from` completes; null when there is none, or it is too late. */
  take(ownSeq: number, from: string, now: number): Relay | null {
    const relay = this.#relays.get(ownSeq);
    if (relay?.target !== from) return null;
    this.#relays.delete(ownSeq);
    return relay.endsAt > now ? relay : null;
  }
}
