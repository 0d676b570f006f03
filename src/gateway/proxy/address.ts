/** One address where an origin listens, and what uses or waits for its connections. */
import type { AddressUser } from "./address-health.ts";
import type { AddressPool } from "./address-pool.ts";
import type { Candidate } from "./choice.ts";
import type { Connector } from "./pool.ts";

/** One address where the origin listens. Its counts are kept by `Origin`. */
export interface OriginAddress extends Candidate {
  readonly url: URL;
  readonly hostname: string;
  /** As the operator wrote it; in logs and health answers. */
  readonly name: string;
  readonly pool: AddressPool;
  readonly connect: Connector;
  /** Requests and upgraded connections that have a connection, or are about to make one. */
  requests: number;
  tunnels: number;
  /** Which of these each client has. */
  readonly clients: Map<string, Set<ConnectionClaim>>;
  /** The connection to give up first that has carried less than `belowPace` bytes a second; null when there is none. */
  greediest(now: number, belowPace: number): ConnectionClaim | null;
  /** Those that wait for one, the first in front. */
  readonly waiting: Readonly<Record<WaitingLine, Set<ConnectionWaiter>>>;
  /** Set while the address is tried in the background. */
  stopProbe: (() => void) | null;
}

/** What uses an address: a request through its pool, or an upgraded connection of its own. */
export type Use = "requests" | "tunnels";

/** The lines in which requests wait for a connection. */
export type WaitingLine = "onSite" | "outside" | "uploads" | "overShare";

/** A request or an upgrade that needs a connection. */
export interface ConnectionClaim extends AddressUser {
  readonly use: Use;
  /** True for visitors who have a pass for what they ask. */
  readonly isOnSite: boolean;
  /** The client in whose share it counts; null where many visitors are behind one address. */
  readonly client: string | null;
  /** Bytes a second that its connection has carried so far; Infinity while that is not known. */
  carriedPace(now: number): number;
  /** Gives the connection up. It is free when this returns. */
  cut(): void;
}

/** Something that waits for a connection; called once, when it has one. */
export interface ConnectionWaiter extends ConnectionClaim {
  /** True when some of the request has yet to come from the visitor. */
  readonly isComing: boolean;
  go(): void;
}
