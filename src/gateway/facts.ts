/**
 * One request as plain facts: everything that a decision is made from. An adapter makes them from the request of its runtime, so
 * decisions know no runtime.
 */
import type { Incoming } from "./proxy/trust.ts";

export interface Facts extends Incoming {
  readonly method: string;
  /** The target as it was sent: path and query, or a whole address. */
  readonly url: string;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** The time it arrived. */
  readonly now: number;
  /** It asks for a protocol upgrade (WebSocket): answers have no body, and it takes no place in the line. */
  readonly isUpgrade: boolean;
  /** True once the client is gone. */
  isGone(): boolean;
}

/** One header's value; a repeated one as its first. */
export function headerOf({ headers }: Pick<Facts, "headers">, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
