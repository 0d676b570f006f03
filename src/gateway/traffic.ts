/** What this gateway has done since it started, for metrics. Counting is all that happens on the hot path. */
import type { ConnectionCounts } from "../sockets/connections.ts";

/** Upper bounds, in seconds, of the origin response-time histogram. */
const BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class Traffic {
  readonly requests = {
    proxied: 0,
    waitingPages: 0,
    boards: 0,
    checkIns: 0,
    joins: 0,
    enters: 0,
    leaves: 0,
    refusedForms: 0,
    apiWaits: 0,
    problems: 0,
  };
  /** By reason, here and below. */
  readonly tokensRefused: Record<string, number> = {};
  /** Newcomers who must come back or do something first. */
  readonly joinsHeld: Record<string, number> = {};
  readonly turnedAway: Record<string, number> = {};
  /** Invalid codes and JWTs with which visitors tried to get into a lane, by reason. */
  readonly lanesRefused: Record<string, number> = {};
  /** Event streams that were refused, by the limit reached. */
  readonly streamsRefused: Record<string, number> = {};
  /** Requests let past a line, by the rule that did. */
  readonly bypassed: Record<string, number> = {};
  /** Requests that belong to no visit: `passed` or `refused`. */
  readonly strays: Record<string, number> = {};
  /** Visitors cut off for being too slow, by what was slow. */
  readonly slowCut: Record<string, number> = {};
  /** Calls to shops that were not carried out, by why. */
  readonly shopRefused: Record<string, number> = {};
  /** Requests refused for the limits of requests under way, by whose limit it was. */
  readonly requestsRefused: Record<string, number> = {};
  engineFailures = 0;
  sseConnections = 0;
  upgrades = 0;
  /** Connections closed because their visit was over. */
  connectionsEnded = 0;
  /** Visitors' connections; null when another part accepts them. */
  connections: ConnectionCounts | null = null;
  /** `counts[i]` answers took at most `boundsSeconds[i]` and more than the bound before; the last, longer than all. */
  readonly originSeconds = {
    counts: new Array<number>(BOUNDS_SECONDS.length + 1).fill(0),
    boundsSeconds: BOUNDS_SECONDS,
    sum: 0,
    total: 0,
  };

  count(
    what:
      | "tokensRefused"
      | "joinsHeld"
      | "turnedAway"
      | "lanesRefused"
      | "streamsRefused"
      | "bypassed"
      | "strays"
      | "requestsRefused"
      | "slowCut"
      | "shopRefused",
    name: string,
  ): void {
    this[what][name] = (this[what][name] ?? 0) + 1;
  }

  originTook(ms: number): void {
    const seconds = ms / 1_000;
    const found = BOUNDS_SECONDS.findIndex((bound) => seconds <= bound);
    this.originSeconds.counts[found < 0 ? BOUNDS_SECONDS.length : found]!++;
    this.originSeconds.sum += seconds;
    this.originSeconds.total++;
  }
}
