import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../config/explain.ts";
import { loadSettings } from "../config/load.ts";
import type { Settings } from "../config/schema.ts";
import { type WhatIfFlags, whatIfFrom } from "./simulate-what-if.ts";

const ORIGIN = 'origin: { addresses: ["http://127.0.0.1:3000"] }';
const ONE = `${ORIGIN}
rooms:
  main:
    totalActiveUsers: 200
    sessionDuration: 3m
    events:
      - name: launch
        prequeueStartTime: 2026-12-01T09:30:00Z
        eventStartTime: 2026-12-01T10:00:00Z
        eventEndTime: 2026-12-01T18:00:00Z
        sessionDuration: 1m
`;
const TWO = `${ORIGIN}
budgets: { site: { totalActiveUsers: 100 } }
rooms:
  tickets: { path: /tickets, totalActiveUsers: 80, budget: site }
  fans: { path: /fans, totalActiveUsers: 80, budget: site, guaranteed: 30 }
  alone: { path: /alone, totalActiveUsers: 5, suspended: true }
`;

function settings(text: string): Settings {
  const flags = { isDemo: true };
  const loaded = loadSettings({ text, file: "f.yaml" }, flags, {}, () => assert.fail("a file was read"));
  assert.ok(loaded.ok, loaded.ok ? "" : explain(loaded.problems));
  return loaded.settings;
}

function asked(flags: WhatIfFlags, text = ONE) {
  const answer = whatIfFrom(flags, settings(text));
  assert.ok("question" in answer, JSON.stringify(answer));
  return answer.question;
}

function wrong(flags: WhatIfFlags, text = ONE): readonly string[] {
  const answer = whatIfFrom(flags, settings(text));
  assert.ok("wrong" in answer, JSON.stringify(answer));
  return answer.wrong;
}

test("a crowd is enough, and the rest has its default", () => {
  const { room, crowd, at, rules } = asked({ crowd: "50000" });
  assert.deepEqual([room, at, rules.totalActiveUsers], ["main", null, 200]);
  assert.deepEqual(crowd, {
    size: 50_000,
    shape: "sigmoid",
    overMs: 600_000,
    stayMs: 180_000,
    impatient: 0,
    noShow: 0,
    leave: 0,
    seed: 1,
  });
  assert.equal(asked({ crowd: "1", arrivals: "spike" }).crowd.overMs, 5_000);
});

test("everything that is given is taken", () => {
  const flags = {
    crowd: "7",
    arrivals: "constant",
    over: "90s",
    stay: "30s",
    impatient: "10%",
    noShow: "2.5",
  };
  const { crowd } = asked({ ...flags, leave: "100", seed: "42" });
  const shares = { impatient: 0.1, noShow: 0.025, leave: 1 };
  assert.deepEqual(crowd, {
    size: 7,
    shape: "constant",
    overMs: 90_000,
    stayMs: 30_000,
    seed: 42,
    ...shares,
  });
});

test("--no-show comes under the name that commander gives it", () => {
  assert.equal(asked({ crowd: "1", show: "5" }).crowd.noShow, 0.05);
  assert.equal(asked({ crowd: "1", show: true }).crowd.noShow, 0);
});

test("every mistake is reported at once, with what it should be", () => {
  const problems = wrong({
    crowd: "5,000",
    arrivals: "sigmod",
    over: "10",
    impatient: "120",
    at: "noon",
    seed: "-1",
  });
  assert.equal(problems.length, 6);
  const text = problems.join("\n");
  for (const part of [
    "--crowd",
    "Did you mean sigmoid?",
    "--over",
    "45s",
    "--impatient",
    "--at",
    "launch",
    "--seed",
  ])
    assert.ok(text.includes(part), part);
  assert.match(wrong({})[0]!, /^--crowd is missing/);
});

test("of several rooms one has to be named", () => {
  assert.deepEqual(wrong({ crowd: "1" }, TWO), [
    "There are 3 rooms: tickets, fans, alone. Name one with --room.",
  ]);
  assert.match(
    wrong({ crowd: "1", room: "ticket" }, TWO)[0]!,
    /There is no room "ticket".*Did you mean tickets\?/,
  );
  assert.match(wrong({ crowd: "1", room: "__proto__" }, TWO)[0]!, /There is no room/);
});

test("rooms of the same budget are simulated too, others are not", () => {
  const { neighbours } = asked({ crowd: "1", room: "tickets" }, TWO);
  assert.deepEqual([...neighbours!.keys()], ["fans"]);
  assert.equal(asked({ crowd: "1", room: "alone" }, TWO).neighbours!.size, 0);
});

test("a suspended room is simulated, with a note that it is suspended", () => {
  assert.match(asked({ crowd: "1", room: "alone" }, TWO).notes!.join(), /suspended/);
});

test("--at takes a time, or an event for the opening of its prequeue, and its rules hold then", () => {
  const event = asked({ crowd: "1", at: "launch" });
  assert.equal(event.at, Date.parse("2026-12-01T09:30:00Z"));
  assert.equal(event.crowd.stayMs, 60_000);
  const day = asked({ crowd: "1", at: "2026-11-01T12:00:00Z" });
  assert.deepEqual([day.at, day.crowd.stayMs], [Date.parse("2026-11-01T12:00:00Z"), 180_000]);
});
