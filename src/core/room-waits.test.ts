import assert from "node:assert/strict";
import { test } from "node:test";
import { type RoomLook, RoomWaits } from "./room-waits.ts";
import { DEFAULT_RULES, EVERYBODY, type RoomRules } from "./rules.ts";
import type { SeenVisit } from "./stays.ts";

const NOW = Date.UTC(2026, 5, 1, 10);
const MINUTE_MS = 60_000;

/** A room that lets people in by its rate alone, told as an engine would. */
class Scene {
  now = NOW;
  looks = 0;
  waiting = 600;
  admitted = 0;
  rules: RoomRules = { ...DEFAULT_RULES, newUsersPerMinute: 60 };
  visits: SeenVisit[] = [];
  readonly waits = new RoomWaits((now) => this.#look(now));

  pass(ms: number): this {
    for (const until = this.now + ms; this.now < until; this.now += 1_000) {
      if (this.waiting > 0) {
        this.waiting--;
        this.admitted++;
      }
      this.waits.turn(this.waiting > 0, this.now);
    }
    return this;
  }

  wait(ahead: number) {
    return this.waits.wait(this.rules, { lane: EVERYBODY, ahead }, this.now);
  }

  #look(now: number): RoomLook {
    this.looks++;
    const { waiting, admitted, rules } = this;
    const totals = { joined: waiting + admitted, straightThrough: 0, admitted, missedTurns: 0 };
    return {
      ...{
        now,
        roomRules: rules,
        rules,
        waiting,
        admitted: 1,
        onSite: this.visits.length,
        totals,
        budgetFree: Number.POSITIVE_INFINITY,
      },
      waitingIn: () => waiting,
      admittedIn: () => admitted,
      sequenceAt: (_, rank) => admitted + rank,
      highestAdmitted: () => admitted - 1,
      visits: () => this.visits,
    };
  }
}

test("the first who asks is told, and others do not cost another look", () => {
  const scene = new Scene();
  assert.ok(Math.abs(scene.wait(599)!.middle / (10 * MINUTE_MS) - 1) < 0.1);
  for (let n = 0; n < 1_000; n++) scene.wait(n);
  assert.equal(scene.looks, 1);
});

test("who comes just when a line forms is not told of the site as it was before", () => {
  const scene = new Scene();
  scene.waiting = 0;
  scene.waits.turn(false, scene.now);
  scene.waiting = 600;
  scene.now += 500;
  assert.ok(scene.wait(599)!.middle > 9 * MINUTE_MS);
  assert.equal(scene.looks, 2);
});

test("a look every three seconds while there is a line", () => {
  const scene = new Scene().pass(5 * MINUTE_MS);
  assert.ok(scene.looks >= 95 && scene.looks <= 105, `${scene.looks} looks`);
});

test("a wait that is told does not jump when much is learned at once", () => {
  const scene = new Scene();
  scene.rules = { ...DEFAULT_RULES, totalActiveUsers: 100, sessionDurationMs: 10 * MINUTE_MS };
  const expiresAt = scene.now + 10 * MINUTE_MS;
  scene.visits = Array.from({ length: 100 }, (_, i) => ({ id: `${i}`, admittedAt: scene.now, expiresAt }));
  const middles = [scene.wait(99)!.middle];
  assert.ok(middles[0]! > 5 * MINUTE_MS, `${middles[0]}`);
  scene.visits = [];
  for (let look = 0; look < 20; look++) {
    scene.now += 3_000;
    scene.waits.turn(true, scene.now);
    middles.push(scene.wait(99)!.middle);
    const [before, now] = middles.slice(-2) as [number, number];
    assert.ok(now > 20_000 ? now >= before / 1.5 : before < 40_000, `${before} ms, and then ${now} ms`);
  }
  assert.ok(middles.at(-1)! < 20_000, `${middles.at(-1)}`);
});

test("other rules are followed at once", () => {
  const scene = new Scene();
  const before = scene.wait(500)!.middle;
  scene.rules = { ...scene.rules, newUsersPerMinute: 120 };
  assert.ok(scene.wait(500)!.middle < 0.6 * before);
  scene.rules = { ...scene.rules, paused: true };
  assert.equal(scene.wait(500), null);
});

test("what was told is compared, and is true where the rate is kept", () => {
  const scene = new Scene().pass(9 * MINUTE_MS);
  const { compared, close } = scene.waits.accuracy(scene.now)!;
  assert.ok(compared > 50 && close! > 0.95, JSON.stringify({ compared, close }));
});

test("in random order everyone has the same wait, whatever their number", () => {
  const scene = new Scene();
  scene.rules = { ...scene.rules, queueingMethod: "random" };
  assert.deepEqual(scene.wait(0), scene.wait(400));
  assert.ok(scene.wait(0)!.middle > 3 * MINUTE_MS && scene.wait(0)!.middle < 7 * MINUTE_MS);
});

test("what was learned survives a restart", () => {
  const scene = new Scene().pass(9 * MINUTE_MS);
  const after = new Scene();
  after.waits.restore(JSON.parse(JSON.stringify(scene.waits.memo())));
  assert.deepEqual(after.waits.memo(), scene.waits.memo());
});
