import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { version } from "../assembly/version.ts";
import { readMetrics } from "../testing/office/prometheus-text.ts";
import { type Scene, scene } from "../testing/office/scene.ts";
import { proves } from "../testing/requirements/proves.ts";

async function scrape({ ask }: Scene) {
  const response = await ask("/metrics");
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const families = readMetrics(await response.text());
  const value = (series: string) => {
    const name = series.replace(/\{.*/, "");
    const family = families.get(name) ?? families.get(name.replace(/_(?:bucket|sum|count)$/, ""));
    return family?.samples.get(series);
  };
  return { families, value };
}

test("metrics need the token", async () => {
  assert.equal((await (await scene()).ask("/metrics", { headers: { authorization: "" } })).status, 401);
});

test("every metric of ours has a good name, a help text and a type that fits its name", async () => {
  const { families } = await scrape(await scene());
  const ours = [...families.values()].filter(({ name }) => name.startsWith("fairgate_"));
  assert.ok(ours.length >= 30);
  for (const { name, help, type } of ours) {
    assert.equal(type === "counter", name.endsWith("_total"), name);
    assert.match(help, /^[A-Z0-9].*\.$/, name);
    assert.doesNotMatch(name, /_(?:ms|milliseconds|minutes?|percent)(?:_|$)/);
  }
});

test("the process's own metrics are there", async () => {
  const { families } = await scrape(await scene());
  assert.ok(families.has("process_cpu_seconds_total"));
  assert.ok(families.has("process_resident_memory_bytes"));
  assert.ok(families.has("nodejs_eventloop_lag_seconds"));
});

test(
  proves(["me2", "me6", "me7", "me8"], "a line shows up as it is, and its counters as they stand"),
  async () => {
    const on = await scene();
    const { engine } = on.desk;
    const first = await engine.join("main");
    engine.join("main");
    const third = await engine.join("main");
    engine.join("main");
    assert.ok(first.kind === "entered" && third.kind === "waiting");
    on.world.pass(30_000);
    engine.leave(first.pass, true);
    on.world.pass(1_000);
    assert.equal((await engine.enter(third.ticket)).kind, "entered");
    const { value } = await scrape(on);
    assert.equal(value('fairgate_room_waiting_visitors{room="main"}'), 1);
    assert.equal(value('fairgate_room_on_site_visitors{room="main"}'), 2);
    assert.equal(value('fairgate_room_admitted_visitors{room="main"}'), 0);
    assert.equal(value('fairgate_room_joined_total{room="main"}'), 4);
    assert.equal(value('fairgate_room_straight_through_total{room="main"}'), 2);
    assert.equal(value('fairgate_room_admitted_total{room="main"}'), 3);
    assert.equal(value('fairgate_room_entered_total{room="main"}'), 3);
    assert.equal(value('fairgate_room_left_total{room="main"}'), 1);
    assert.equal(value('fairgate_room_waited_seconds_total{room="main"}'), 31);
    assert.equal(value('fairgate_room_unfairness_ratio{room="main"}'), 0);
    assert.equal(value('fairgate_room_active_users_max{room="main"}'), 2);
    assert.equal(value('fairgate_room_new_users_per_second_max{room="main"}'), undefined);
    assert.equal(value("fairgate_engine_up"), 1);
  },
);

test("every total and count of the engine is shown", async () => {
  const on = await scene();
  const counts = on.engine.counts("main");
  const numbers = Object.keys(counts.totals);
  let next = 1_000;
  const totals = Object.fromEntries(numbers.map((key) => [key, next++])) as unknown as typeof counts.totals;
  on.engine.counts = () => ({
    ...counts,
    waiting: 1,
    admitted: 2,
    onSite: 3,
    lapsed: 4,
    ratePerMinute: 30,
    unfairness: 0.25,
    totals,
  });
  const { families, value } = await scrape(on);
  const shown = [...families.values()].flatMap(({ samples }) => [...samples.values()]);
  for (const [key, number] of Object.entries(totals)) {
    assert.ok(shown.includes(key === "waitedMs" ? number / 1_000 : number), key);
  }
  assert.equal(value('fairgate_room_lapsed_visitors{room="main"}'), 4);
  assert.equal(value('fairgate_room_admissions_per_second{room="main"}'), 0.5);
  assert.equal(value('fairgate_room_unfairness_ratio{room="main"}'), 0.25);
});

test("what holds of a room now is shown beside what is set", async () => {
  const on = await scene({ rooms: { main: { totalActiveUsers: 2, newUsersPerMinute: 60 } } });
  const counts = on.engine.counts("main");
  on.engine.counts = () => ({
    ...counts,
    state: "paused",
    limits: { totalActiveUsers: 1, newUsersPerMinute: 30 },
    isActive: false,
    noShows: 0.125,
    lanes: [
      { lane: 7, name: "vip", waiting: 3, admitted: 40, costMs: 0 },
      { lane: 0, name: "everybody", waiting: 5, admitted: 60, costMs: null },
    ],
  });
  const { families, value } = await scrape(on);
  assert.deepEqual(
    [...families.get("fairgate_room_state")!.samples],
    ["open", "queueing", "prequeue", "paused", "closed"].map((state) => [
      `fairgate_room_state{room="main",state="${state}"}`,
      Number(state === "paused"),
    ]),
  );
  assert.equal(value('fairgate_room_active_users_max{room="main"}'), 2);
  assert.equal(value('fairgate_room_effective_active_users_max{room="main"}'), 1);
  assert.equal(value('fairgate_room_new_users_per_second_max{room="main"}'), 1);
  assert.equal(value('fairgate_room_effective_new_users_per_second_max{room="main"}'), 0.5);
  assert.equal(value('fairgate_room_active{room="main"}'), 0);
  assert.equal(value('fairgate_room_no_show_ratio{room="main"}'), 0.125);
  assert.equal(value('fairgate_room_lane_waiting_visitors{room="main",lane="vip"}'), 3);
  assert.equal(value('fairgate_room_lane_waiting_visitors{room="main",lane="everybody"}'), 5);
  assert.equal(value('fairgate_room_lane_admitted_total{room="main",lane="vip"}'), 40);
});

test("a limit that is not set is not shown", async () => {
  const { value } = await scrape(await scene({ rooms: { main: { newUsersPerMinute: 60 } } }));
  assert.equal(value('fairgate_room_effective_active_users_max{room="main"}'), undefined);
  assert.equal(value('fairgate_room_effective_new_users_per_second_max{room="main"}'), 1);
});

test("every metric of ours is in the table for operators, and no other", async () => {
  const { families } = await scrape(await scene());
  const text = readFileSync(new URL("../../docs/operating.md", import.meta.url), "utf8");
  const documented = [...text.matchAll(/^\| `(fairgate_\w+)(?:\{[\w, ]+\})?` \|/gm)].map(([, name]) => name!);
  const ours = [...families.keys()].filter((name) => name.startsWith("fairgate_"));
  assert.deepEqual(documented.toSorted(), ours.toSorted());
});

test("scraping twice counts nothing twice, also at the same time", async () => {
  const on = await scene();
  on.engine.join("main");
  on.traffic.engineFailures = 7;
  const scrapes = [await scrape(on), ...(await Promise.all([scrape(on), scrape(on), scrape(on)]))];
  for (const { value } of scrapes) {
    assert.equal(value('fairgate_room_joined_total{room="main"}'), 1);
    assert.equal(value("fairgate_engine_failures_total"), 7);
  }
});

test("a room that is gone is no longer shown", async () => {
  const on = await scene({
    rooms: { main: { totalActiveUsers: 2 }, old: { path: "/old", totalActiveUsers: 1 } },
  });
  assert.equal((await scrape(on)).value('fairgate_room_waiting_visitors{room="old"}'), 0);
  await on.reload({ main: { totalActiveUsers: 2 } });
  assert.equal((await scrape(on)).value('fairgate_room_waiting_visitors{room="old"}'), undefined);
});

test("traffic shows by kind and reason", async () => {
  const on = await scene();
  const requests = Object.fromEntries(Object.keys(on.traffic.requests).map((key, index) => [key, index + 1]));
  Object.assign(on.traffic, {
    requests,
    tokensRefused: { forged: 3, 'odd "reason"\\\n': 1 },
    joinsHeld: { tooMany: 11 },
    turnedAway: { closed: 12, inviteUsed: 13 },
    lanesRefused: { expired: 14 },
    bypassed: { "main: assets": 15, "main: a: b": 16, "other: constructor": 17 },
    strays: { refused: 20 },
    requestsRefused: { visitor: 18 },
    slowCut: { body: 19 },
    engineFailures: 5,
    sseConnections: 6,
    upgrades: 8,
    connectionsEnded: 5,
  });
  const { families, value } = await scrape(on);
  const kinds = [...families.get("fairgate_requests_total")!.samples.values()];
  assert.deepEqual(
    kinds.sort((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
  assert.equal(value('fairgate_requests_total{kind="proxied"}'), 1);
  assert.equal(value('fairgate_requests_total{kind="waiting_page"}'), 2);
  assert.equal(value('fairgate_tokens_refused_total{reason="forged"}'), 3);
  assert.equal(value('fairgate_tokens_refused_total{reason="odd \\"reason\\"\\\\\\n"}'), 1);
  assert.equal(value('fairgate_joins_held_total{reason="tooMany"}'), 11);
  assert.equal(value('fairgate_turned_away_total{reason="closed"}'), 12);
  assert.equal(value('fairgate_turned_away_total{reason="inviteUsed"}'), 13);
  assert.equal(value('fairgate_lanes_refused_total{reason="expired"}'), 14);
  assert.equal(value('fairgate_strays_total{reason="refused"}'), 20);
  assert.equal(value('fairgate_requests_refused_total{reason="visitor"}'), 18);
  assert.equal(value('fairgate_slow_visitors_cut_total{reason="body"}'), 19);
  assert.equal(value('fairgate_bypassed_total{room="main",rule="assets"}'), 15);
  assert.equal(value('fairgate_bypassed_total{room="main",rule="a: b"}'), 16);
  assert.equal(value('fairgate_bypassed_total{room="other",rule="constructor"}'), 17);
  assert.equal(value("fairgate_engine_failures_total"), 5);
  assert.equal(value("fairgate_sse_connections"), 6);
  assert.equal(value("fairgate_upgrades_total"), 8);
  assert.equal(value("fairgate_connections_ended_total"), 5);
  assert.equal(value(`fairgate_build_info{version="${version}"}`), 1);
});

test("changes that are not used are counted; origins show whether they are up, and their response times as a histogram that adds up", async () => {
  const on = await scene();
  on.desk.origins = () => [
    { origin: "main", address: "http://a:1", isUp: true, trouble: null, inFlight: 4 },
    { origin: "main", address: "http://b:1", isUp: false, trouble: "failing", inFlight: 0 },
  ];
  Object.assign(on.traffic, {
    originSeconds: { counts: [5, 3, 1, 2], boundsSeconds: [0.05, 0.5, 5], sum: 12.5, total: 11 },
  });
  on.desk.unusedChanges = () => [
    { room: "main", settings: ["page.title", "soonToBe"], reason: "odd" },
    { room: "gone", settings: [], reason: "there is no such room" },
  ];
  const { families, value } = await scrape(on);
  assert.equal(value('fairgate_unused_changes{room="main"}'), 2);
  assert.equal(value('fairgate_unused_changes{room="gone"}'), 1);
  assert.equal(value('fairgate_origin_up{origin="main",address="http://a:1"}'), 1);
  assert.equal(value('fairgate_origin_up{origin="main",address="http://b:1"}'), 0);
  const reasons = ["unreachable", "failsCheck", "failing"].map((reason) =>
    value(`fairgate_origin_trouble{origin="main",address="http://b:1",reason="${reason}"}`),
  );
  assert.deepEqual(reasons, [0, 0, 1]);
  assert.equal(value('fairgate_origin_requests_in_flight{origin="main",address="http://a:1"}'), 4);
  assert.equal(families.get("fairgate_origin_response_seconds")!.type, "histogram");
  assert.deepEqual(
    [...families.get("fairgate_origin_response_seconds")!.samples],
    [
      ['fairgate_origin_response_seconds_bucket{le="0.05"}', 5],
      ['fairgate_origin_response_seconds_bucket{le="0.5"}', 8],
      ['fairgate_origin_response_seconds_bucket{le="5"}', 9],
      ['fairgate_origin_response_seconds_bucket{le="+Inf"}', 11],
      ["fairgate_origin_response_seconds_sum", 12.5],
      ["fairgate_origin_response_seconds_count", 11],
    ],
  );
});

test("an origin is shown under the name of its room, and the one at the top under a word that no room can have", async () => {
  const on = await scene({
    rooms: {
      main: { totalActiveUsers: 2 },
      same: { path: "/same", totalActiveUsers: 2, origin: { addresses: ["http://127.0.0.1:3000"] } },
      shop: {
        path: "/shop",
        totalActiveUsers: 2,
        origin: { addresses: ["http://127.0.0.1:3001", "http://127.0.0.1:3002"] },
      },
    },
  });
  const { families } = await scrape(on);
  assert.deepEqual(
    [...families.get("fairgate_origin_up")!.samples],
    [
      ['fairgate_origin_up{origin="(default)",address="http://127.0.0.1:3000"}', 1],
      ['fairgate_origin_up{origin="shop",address="http://127.0.0.1:3001"}', 1],
      ['fairgate_origin_up{origin="shop",address="http://127.0.0.1:3002"}', 1],
    ],
    "rooms with the same origin share its connections, so it is shown once",
  );
});

test("while the engine is away its rooms leave a gap, and the rest is still told", async () => {
  const on = await scene();
  on.engine.counts = () => {
    throw new Error("away");
  };
  const { value } = await scrape(on);
  assert.equal(value("fairgate_engine_up"), 0);
  assert.equal(value('fairgate_room_waiting_visitors{room="main"}'), undefined);
  assert.equal(value('fairgate_requests_total{kind="proxied"}'), 0);
});
