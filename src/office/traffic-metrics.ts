/** The metrics of the gateway and its surroundings: requests, tokens, connections, origins, engine, version. */
import { type GatewayTraffic, ORIGIN_TROUBLES, type OriginState } from "./desk.ts";
import { addCounter, addGauge, addHistogram, type Filled, type Sample, type Scrape } from "./scrape.ts";
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

/** The counters with a reason, by their name in `GatewayTraffic`: name and help. */
const BY_REASON = {
  tokensRefused: ["tokens_refused", "Tickets and passes that were not accepted, by reason."],
  joinsHeld: ["joins_held", "Newcomers who first had to come back or do something, by reason."],
  turnedAway: ["turned_away", "Newcomers who got no place, by reason."],
  lanesRefused: ["lanes_refused", "Codes and tokens for a lane that were not accepted, by reason."],
  strays: ["strays", "Requests without a visit, such as images without a cookie, by outcome."],
  requestsRefused: ["requests_refused", "Requests refused because too many were under way, by limit."],
  streamsRefused: ["streams_refused", "Event streams that were not opened, by what was full."],
  shopRefused: ["shop_refused", "Calls to shops that were not carried out, by status or reason."],
  slowCut: ["slow_visitors_cut", "Visitors cut off for sending or reading too slowly, by what was slow."],
} as const;

/** Adds the gateway's metrics to the scrape. */
export function addTrafficMetrics(scrape: Scrape): void {
  addRequests(scrape);
  addConnections(scrape);
  addOrigins(scrape);
  addCounter(scrape, {
    name: "fairgate_bypassed_total",
    help: "Requests let past a line, by room and rule.",
    labelNames: ["room", "rule"],
    samples: ({ traffic }) =>
      Object.entries(traffic.bypassed).map(([key, value]) => ({ labels: roomAndRule(key), value })),
  });
  addGauge(
    scrape,
    one("fairgate_engine_up", "1 while the engine answers.", (snapshot) => Number(snapshot.isEngineUp)),
  );
  addGauge(scrape, {
    name: "fairgate_unused_changes",
    help: "Settings of changes made at run time that are stored and cannot be used here.",
    labelNames: ["room"],
    samples: ({ unusedChanges }) =>
      unusedChanges.map(({ room, settings }) => ({ labels: { room }, value: Math.max(1, settings.length) })),
  });
  addGauge(scrape, {
    name: "fairgate_build_info",
    help: "Always 1; the label is the version.",
    labelNames: ["version"],
    samples: ({ version }) => [{ labels: { version }, value: 1 }],
  });
}

function addRequests(scrape: Scrape): void {
  const kinds = Object.entries(REQUEST_KINDS) as [keyof typeof REQUEST_KINDS, string][];
  addCounter(scrape, {
    name: "fairgate_requests_total",
    help: "Requests from visitors, by outcome.",
    labelNames: ["kind"],
    samples: ({ traffic }) =>
      kinds.map(([key, kind]) => ({ labels: { kind }, value: traffic.requests[key] })),
  });
  for (const key of Object.keys(BY_REASON) as (keyof typeof BY_REASON)[]) {
    const [name, help] = BY_REASON[key];
    addCounter(
      scrape,
      byReason(`fairgate_${name}_total`, help, (traffic) => traffic[key]),
    );
  }
  const counters: [name: string, help: string, value: (traffic: GatewayTraffic) => number][] = [
    ["upgrades", "Connections upgraded to an origin, such as WebSockets.", ({ upgrades }) => upgrades],
    [
      "connections_ended",
      "Visitors' connections (WebSockets, streams, downloads, uploads) closed because their visit was over.",
      ({ connectionsEnded }) => connectionsEnded,
    ],
    ["engine_failures", "Times the engine did not answer the gateway.", (traffic) => traffic.engineFailures],
  ];
  for (const [name, help, value] of counters)
    addCounter(
      scrape,
      one(`fairgate_${name}_total`, help, ({ traffic }) => value(traffic)),
    );
  addGauge(
    scrape,
    one("fairgate_sse_connections", "Waiting visitors with an open event stream.", ({ traffic }) => {
      return traffic.sseConnections;
    }),
  );
}

function addConnections(scrape: Scrape): void {
  const value = (what: "open" | "max" | "closedIdle") => (snapshot: Snapshot) =>
    snapshot.traffic.connections?.[what] ?? null;
  addGauge(scrape, one("fairgate_connections", "Visitors' connections, idle ones included.", value("open")));
  addGauge(scrape, one("fairgate_connections_max", "The most visitors' connections at once.", value("max")));
  const refused = "Visitors' connections that were not accepted, by what was full, or for a PROXY header.";
  addCounter(
    scrape,
    byReason("fairgate_connections_refused_total", refused, (traffic) => traffic.connections?.refused ?? {}),
  );
  const idle = "Idle connections of visitors that were closed to make room for new ones.";
  addCounter(scrape, one("fairgate_idle_connections_closed_total", idle, value("closedIdle")));
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
    help: "Time from sending a request to an origin until its response began.",
    times: ({ traffic }) => traffic.originSeconds,
  });
}

/** A metric without labels; null: it has no value now. */
function one(name: string, help: string, value: (snapshot: Snapshot) => number | null): Filled {
  const samples = (snapshot: Snapshot): Sample[] => {
    const now = value(snapshot);
    return now === null ? [] : [{ labels: {}, value: now }];
  };
  return { name, help, labelNames: [], samples };
}

function byReason(
  name: string,
  help: string,
  counts: (traffic: GatewayTraffic) => Readonly<Record<string, number>>,
): Filled {
  const samples = ({ traffic }: Snapshot) =>
    Object.entries(counts(traffic)).map(([reason, value]) => ({ labels: { reason }, value }));
  return { name, help, labelNames: ["reason"], samples };
}
