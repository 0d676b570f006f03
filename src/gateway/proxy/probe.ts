/**
 * Tries an address that is down until somebody there takes a connection, with connections of our own: no visitor has to
 * wait for it. Each goes as far as a request's would, through TLS where there is TLS, and is closed at once. The address's
 * own health says when to try next.
 */
import type { Socket } from "node:net";
import type { Clock, Timers } from "../../core/world.ts";
import { isOutOfHandles } from "../../sockets/relief.ts";
import type { AddressHealth } from "./address-health.ts";
import type { Connector } from "./pool.ts";

export interface Probed {
  readonly url: URL;
  readonly hostname: string;
  readonly health: AddressHealth;
  readonly connect: Connector;
}

/** Starts to try the address. `onReached` is called once, when it is back. Returns the way to stop. */
export function startProbe(
  address: Probed,
  { clock, timers, onReached }: { clock: Clock; timers: Timers; onReached: () => void },
): () => void {
  const { url, hostname, health, connect } = address;
  let isStopped = false;
  let socket: Socket | undefined;
  let stopTimer = () => {};
  const later = () => {
    stopTimer = timers.after(health.probeAfterMs, tryOnce);
  };
  const tryOnce = () => {
    const { host, protocol, port } = url;
    socket = connect({ host, hostname, protocol, port }, (error, made) => {
      made?.destroy();
      if (isStopped) return;
      if (error === null) return onReached();
      // Without a handle to connect with, nothing is known of the origin.
      if (!isOutOfHandles(error)) health.probeFailed(clock.now());
      later();
    });
  };
  later();
  return () => {
    isStopped = true;
    stopTimer();
    socket?.destroy();
  };
}
