/** The metrics of the gateway and what stands around it: requests, tokens, origins, engine, version. */
import { type GatewayTraffic, ORIGIN_TROUBLES, type OriginState } from "./desk.ts";
import { addCounter, addGauge, addHistogram, type Sample, type Scrape } from "./scrape.ts";
import type { Snapshot } from "./snapshot.ts";

const REQUEST_KINDS: Readonly<Record<keyof GatewayTraffic["requests"], string>> = {
  proxied: "proxied",
  waitingPages: "waiting_page",
  boards: "board",
  checkIns: "check_in",
  joins: "join",
  enters: "enter",
  leaves: "leave",
  refusedForms: "refused_form",
  apiWaits: "api_wait",
  problems: "problem",
};

/** Adds the gateway's metrics to what is scraped. */
export function addTrafficMetrics(scrape: Scrape): void {
  addRequests(scrape);
  addConnections(scrape);
  addOrigins(scrape);
  addSurroundings(scrape);
}

function addRequests(scrape: Scrape): void {
  addCounter(scrape, {
    name: "fairgate_requests_total",
    help: "Requests from visitors, by what became of them.",
    labelNames: ["kind"],
    samples: ({ traffic }) =>
      Object.entries(REQUEST_KINDS).map(([key, kind]) => ({
        labels: { kind },
        value: traffic.requests[key as keyof GatewayTraffic["requests"]],
      })),
  });
  addByReason(scrape, "tokensRefused", {
    name: "fairgate_tokens_refused_total",
    help: "Tickets and passes that were not accepted, by reason.",
  });
  addByReason(scrape, "joinsHeld", {
    name: "fairgate_joins_held_total",
    help: "Newcomers who had to come back or do something before they got a place, by reason.",
  });
  addByReason(scrape, "turnedAway", {
    name: "fairgate_turned_away_total",
    help: "Newcomers who got no place, by reason.",
  });
  addByReason(scrape, "lanesRefused", {
    name: "fairgate_lanes_refused_total",
    help: "Codes and tokens for a lane that were not accepted, by reason.",
  });
  addByReason(scrape, "strays", {
    name: "fairgate_strays_total",
    help: "Requests that belong to no visit, such as pictures without a cookie, by what became of them.",
  });
  addByReason(scrape, "requestsRefused", {
    name: "fairgate_requests_refused_total",
    help: "Requests refused because too many were under way, by whose limit it was.",
  });
  addByReason(scrape, "streamsRefused", {
    name: "fairgate_streams_refused_total",
    help: "Event streams that were not opened, by what was full.",
  });
  addByReason(scrape, "slowCut", {
    name: "fairgate_slow_visitors_cut_total",
    help: "Visitors cut off for sending or reading too slowly, by what was slow.",
  });
  addCounter(scrape, {
    name: "fairgate_bypassed_total",
    help: "Requests let past a line, by room and rule.",
    labelNames: ["room", "rule"],
    samples: ({ traffic }) =>
      Object.entries(traffic.bypassed).map(([key, value]) => ({ labels: roomAndRule(key), value })),
  });
  addCounter(scrape, {
    name: "fairgate_upgrades_total",
    help: "Connections handed over to an origin, such as WebSockets.",
    labelNames: [],
    samples: only(({ traffic }) => traffic.upgrades),
  });
  addCounter(scrape, {
    name: "fairgate_connections_ended_total",
    help: "Visitors' connections (WebSockets, streams, downloads, uploads) closed because their visit was over.",
    labelNames: [],
    samples: only(({ traffic }) => traffic.connectionsEnded),
  });
  addGauge(scrape, {
    name: "fairgate_sse_connections",
    help: "Waiting visitors with an open event stream.",
    labelNames: [],
    samples: only(({ traffic }) => traffic.sseConnections),
  });
}

function addConnections(scrape: Scrape): void {
  const gauge = (what: "open" | "max", about: { name: string; help: string }) =>
    addGauge(scrape, {
      ...about,
      labelNames: [],
      samples: ({ traffic }) =>
        traffic.connections ? [{ labels: {}, value: traffic.connections[what] }] : [],
    });
  gauge("open", { name: "fairgate_connections", help: "Visitors' connections, idle ones included." });
  gauge("max", { name: "fairgate_connections_max", help: "The most there may be at once." });
  addCounter(scrape, {
    name: "fairgate_connections_refused_total",
    help: "Visitors' connections that were not taken, by what was full, or for a PROXY header.",
    labelNames: ["reason"],
    samples: ({ traffic }) =>
      Object.entries(traffic.connections?.refused ?? {}).map(([reason, value]) => ({
        labels: { reason },
        value,
      })),
  });
  addCounter(scrape, {
    name: "fairgate_idle_connections_closed_total",
    help: "Idle connections of visitors that were closed to make room for new ones.",
    labelNames: [],
    samples: ({ traffic }) =>
      traffic.connections ? [{ labels: {}, value: traffic.connections.closedIdle }] : [],
  });
}

type Reasons =
  | "strays"
  | "tokensRefused"
  | "joinsHeld"
  | "turnedAway"
  | "lanesRefused"
  | "streamsRefused"
  | "requestsRefused"
  | "slowCut";

function addByReason(scrape: Scrape, key: Reasons, about: { name: string; help: string }): void {
  addCounter(scrape, {
    ...about,
    labelNames: ["reason"],
    samples: ({ traffic }) =>
      Object.entries(traffic[key]).map(([reason, value]) => ({ labels: { reason }, value })),
  });
}

/** Rooms' names have no colon in them; rules' may. */
function roomAndRule(key: string): { room: string; rule: string } {
  const colon = key.indexOf(": ");
  return { room: key.slice(0, colon), rule: key.slice(colon + 2) };
}

function addOrigins(scrape: Scrape): void {
  const perOrigin = (value: (origin: OriginState) => number) => ({
    labelNames: ["origin", "address"],
    samples: ({ origins }: Snapshot) =>
      origins.map((state) => ({
        labels: { origin: state.origin, address: state.address },
        value: value(state),
      })),
  });
  addGauge(scrape, {
    name: "fairgate_origin_up",
    help: "1 while requests are sent to this address of an origin.",
    ...perOrigin(({ isUp }) => Number(isUp)),
  });
  addGauge(scrape, {
    name: "fairgate_origin_trouble",
    help: "1 for the reason why no requests are sent to this address of an origin, 0 for the others.",
    labelNames: ["origin", "address", "reason"],
    samples: ({ origins }) =>
      origins.flatMap(({ origin, address, trouble }) =>
        ORIGIN_TROUBLES.map((reason) => ({
          labels: { origin, address, reason },
          value: Number(trouble === reason),
        })),
      ),
  });
  addGauge(scrape, {
    name: "fairgate_origin_requests_in_flight",
    help: "Requests under way at this address of an origin.",
    ...perOrigin(({ inFlight }) => inFlight),
  });
  addHistogram(scrape, {
    name: "fairgate_origin_response_seconds",
    help: "Time from sending a request to an origin until its answer began.",
    times: ({ traffic }) => traffic.originSeconds,
  });
}

function addSurroundings(scrape: Scrape): void {
  addGauge(scrape, {
    name: "fairgate_engine_up",
    help: "1 while the engine answers.",
    labelNames: [],
    samples: only(({ isEngineUp }) => Number(isEngineUp)),
  });
  addCounter(scrape, {
    name: "fairgate_engine_failures_total",
    help: "Times the engine did not answer the gateway.",
    labelNames: [],
    samples: only(({ traffic }) => traffic.engineFailures),
  });
  addGauge(scrape, {
    name: "fairgate_unused_changes",
    help: "Settings of changes made at run time that are kept and cannot be used here.",
    labelNames: ["room"],
    samples: ({ unusedChanges }) =>
      unusedChanges.map(({ room, settings }) => ({ labels: { room }, value: Math.max(1, settings.length) })),
  });
  addGauge(scrape, {
    name: "fairgate_build_info",
    help: "Always 1; the label tells the version.",
    labelNames: ["version"],
    samples: ({ version }) => [{ labels: { version }, value: 1 }],
  });
}

function only(value: (snapshot: Snapshot) => number): (snapshot: Snapshot) => readonly Sample[] {
  return (snapshot) => [{ labels: {}, value: value(snapshot) }];
}
