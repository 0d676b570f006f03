import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../sim/hand-world.ts";
import { type PacedLine, PacedLog } from "./paced-log.ts";

function line(id: string, about = "http://a:1"): PacedLine {
  return { level: "warn", about, fields: { id, address: about }, message: "not answered" };
}

test("the first is told at once, the others once a second with their number and the ids they lie between", () => {
  const world = handWorld();
  const log = new PacedLog(world);
  for (let n = 0; n < 1_000; n++) log.add(line(`x-${n}`));
  assert.deepEqual(
    world.logged.map(({ fields }) => fields),
    [{ id: "x-0", address: "http://a:1" }],
  );
  world.pass(999);
  assert.equal(world.logged.length, 1);
  world.pass(1);
  assert.deepEqual(world.logged[1]?.fields, {
    id: "x-1",
    address: "http://a:1",
    count: 999,
    lastId: "x-999",
  });
  world.pass(10_000);
  assert.equal(world.logged.length, 2);
  log.add(line("y"));
  assert.deepEqual(world.logged[2]?.fields, { id: "y", address: "http://a:1" });
});

test("a flood of ten seconds is eleven lines, and every one of it is counted", () => {
  const world = handWorld();
  const log = new PacedLog(world);
  for (let tick = 0; tick < 100; tick++) {
    for (let n = 0; n < 50; n++) log.add(line(`${tick}-${n}`));
    world.pass(100);
  }
  world.pass(10_000);
  assert.ok(world.logged.length <= 11, `${world.logged.length} lines`);
  const counted = world.logged.reduce(
    (sum, { fields }) => sum + ((fields as { count?: number }).count ?? 1),
    0,
  );
  assert.equal(counted, 5_000);
});

test("what goes on for an hour is told every ten seconds; after a silence it is told at once, and each second", () => {
  const world = handWorld();
  const log = new PacedLog(world);
  const flood = (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      log.add(line(`x-${n}`));
      world.pass(1_000);
    }
  };
  flood(3_600);
  assert.ok(world.logged.length <= 370, `${world.logged.length} lines`);
  world.pass(30_000);
  const before = world.logged.length;
  flood(5);
  assert.equal(world.logged.length, before + 5);
});

test("lines about different things do not hold each other back, and memory is bounded", () => {
  const world = handWorld();
  const log = new PacedLog(world);
  for (let n = 0; n < 5_000; n++) log.add(line("x", `http://a:${n}`));
  assert.equal(world.logged.length, 5_000);
});
