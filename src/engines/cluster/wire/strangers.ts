/**
 * Those who have opened a connection to us and proved nothing yet. There are few places for them. When all are taken, the
 * host with the most strangers gives up the one that has been there longest, so a crowd from one host keeps nobody else
 * out. Hosts that a peer has come from before are spared as long as there are others.
 */
import type { Socket } from "node:net";

/** How many connections may have proved nothing yet. */
export const STRANGERS_MAX = 64;
/** How many hosts are remembered as a peer's; of too many the first is forgotten. */
const HOSTS_MAX = 512;

/** Someone who has opened a connection to us. */
export interface UnknownCaller {
  readonly raw: Socket;
  readonly host: string;
  readonly knockedAt: number;
}

export class Strangers {
  /** The oldest first. */
  readonly #callers = new Map<Socket, UnknownCaller>();
  readonly #peerHosts = new Set<string>();

  get(raw: Socket): UnknownCaller | undefined {
    return this.#callers.get(raw);
  }

  /** Adds one. Gives the one that must go for it, if there is no room. */
  add(caller: UnknownCaller): UnknownCaller | null {
    const oneTooMany = this.#callers.size >= STRANGERS_MAX ? this.#next() : null;
    this.#callers.set(caller.raw, caller);
    return oneTooMany;
  }

  /** Has gone, or is no stranger any more. */
  delete(raw: Socket): void {
    this.#callers.delete(raw);
  }

  /** Has proved to be a peer. */
  welcome({ raw, host }: UnknownCaller): void {
    this.#callers.delete(raw);
    this.#peerHosts.delete(host);
    if (this.#peerHosts.size >= HOSTS_MAX) this.#peerHosts.delete(this.#peerHosts.values().next().value!);
    this.#peerHosts.add(host);
  }

  /** Those who knocked at that instant or before. */
  *since(instant: number): Iterable<UnknownCaller> {
    for (const caller of this.#callers.values()) {
      if (caller.knockedAt > instant) return;
      yield caller;
    }
  }

  #next(): UnknownCaller {
    const callers = [...this.#callers.values()];
    const unknown = callers.filter(({ host }) => !this.#peerHosts.has(host));
    const among = unknown.length > 0 ? unknown : callers;
    const counts = new Map<string, number>();
    for (const { host } of among) counts.set(host, (counts.get(host) ?? 0) + 1);
    const most = Math.max(...counts.values());
    return among.find(({ host }) => counts.get(host) === most)!;
  }
}
