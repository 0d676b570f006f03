/** How many event streams may be open: all together, and from one address. Every kind of stream takes its seats here. */
import type { StreamLimits } from "../../sockets/socket-limits.ts";
import { addressKey } from "../../sockets/whereabouts.ts";
import type { Traffic } from "../traffic.ts";

/** What was full, when there is no room for one more stream. */
export type StreamRefusal = "all" | "address" | "ticket";

export class StreamSeats {
  readonly #traffic: Traffic;
  readonly #byAddress = new Map<string, number>();
  #taken = 0;
  #isClosed = false;
  limits: StreamLimits;

  constructor(limits: StreamLimits, traffic: Traffic) {
    this.limits = limits;
    this.#traffic = traffic;
  }

  /** Why there is no seat for one more stream from here, whose holder has `own` of them; null: there is one. */
  refusal(address: string, own: number): StreamRefusal | null {
    const { max, perAddressMax, perTicketMax } = this.limits;
    if (this.#isClosed || this.#taken >= max) return "all";
    if (own >= perTicketMax) return "ticket";
    return (this.#byAddress.get(addressKey(address)) ?? 0) >= perAddressMax ? "address" : null;
  }

  /** Takes a seat, after asking `refusal`. */
  take(address: string): void {
    const key = addressKey(address);
    this.#byAddress.set(key, (this.#byAddress.get(key) ?? 0) + 1);
    this.#traffic.sseConnections = ++this.#taken;
  }

  give(address: string): void {
    const key = addressKey(address);
    const left = this.#byAddress.get(key)! - 1;
    if (left === 0) this.#byAddress.delete(key);
    else this.#byAddress.set(key, left);
    this.#traffic.sseConnections = --this.#taken;
  }

  /** No further stream is opened. */
  close(): void {
    this.#isClosed = true;
  }
}
