/**
 * Incoming connections that have proved nothing yet. Their number is limited: beyond it, the host with the most strangers loses
 * its oldest one, so a crowd from one host keeps nobody else out. Hosts that a peer has come from before are spared while there
 * are others.
 */
import type { Socket } from "node:net";

/** The most unproved connections. */
export const STRANGERS_MAX = 64;
const HOSTS_MAX = 512;

export interface UnknownCaller {
  readonly raw: Socket;
  readonly host: string;
  readonly knockedAt: number;
}

export class Strangers {
  readonly #callers = new Map<Socket, UnknownCaller>();
  readonly #peerHosts = new Set<string>();

  get(raw: Socket): UnknownCaller | undefined {
    return this.#callers.get(raw);
  }

  /** Adds one. Returns the one that must go for it, if there is no room. */
  add(caller: UnknownCaller): UnknownCaller | null {
    const oneTooMany = this.#callers.size >= STRANGERS_MAX ? this.#next() : null;
    this.#callers.set(caller.raw, caller);
    return oneTooMany;
  }

  /** The connection ended, or proved who it is. */
  delete(raw: Socket): void {
    this.#callers.delete(raw);
  }

  /** The connection is a peer's. */
  welcome({ raw, host }: UnknownCaller): void {
    this.#callers.delete(raw);
    this.#peerHosts.delete(host);
    if (this.#peerHosts.size >= HOSTS_MAX) this.#peerHosts.delete(this.#peerHosts.values().next().value!);
    this.#peerHosts.add(host);
  }

  /** Those that connected at that instant or before. */
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
