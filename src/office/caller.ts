/** The caller of the office, as far as the connection tells. Headers are ignored. */
import type { Context } from "hono";

/** The part of Node's request that the office uses. Absent when a request did not come over a socket. */
export interface CallerConnection {
  readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } };
  /** Called when the caller has shown the token. */
  readonly onToken?: () => void;
}

export interface OfficeEnv {
  Bindings: CallerConnection;
}

/** The caller's address, or a word for callers without one. */
export function addressOf(c: Context<OfficeEnv>): string {
  const address = c.env?.incoming?.socket.remoteAddress ?? "unknown";
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}
