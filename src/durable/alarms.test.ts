/** Alarms, with time moved by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../sim/hand-world.ts";
import { MemoryDisk } from "../testing/memory-disk.ts";
import { DurableHost } from "./host.ts";
import type { DurableState } from "./storage.ts";

async function settle(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}

function stage(disk = new MemoryDisk(), world = handWorld({ now: 1_000_000 })) {
  const rung: { at: number; seen: number | null }[] = [];
  const plan = { failures: 0, again: null as number | null };
  class Bell {
    readonly storage: DurableState["storage"];
    constructor(state: DurableState) {
      this.storage = state.storage;
    }
    async set(at: number): Promise<void> {
      await this.storage.setAlarm(at);
    }
    async unset(): Promise<void> {
      await this.storage.deleteAlarm();
    }
    async when(): Promise<number | null> {
      return this.storage.getAlarm();
    }
    async alarm(): Promise<void> {
      rung.push({ at: world.clock.now(), seen: await this.storage.getAlarm() });
      if (plan.failures-- > 0) throw new Error("not yet");
      if (plan.again !== null) await this.storage.setAlarm(plan.again);
      plan.again = null;
    }
  }
  const host = new DurableHost(disk, { world });
  const stub = host.objects("Bell", Bell, null).get("a");
  const pass = async (ms: number) => {
    world.pass(ms);
    await settle();
  };
  return { disk, world, host, stub, rung, plan, pass };
}

test("an alarm rings once, at its time, and is gone", async () => {
  const { stub, rung, pass, world } = stage();
  const at = world.clock.now() + 5_000;
  await stub.set(at);
  assert.equal(await stub.when(), at);
  await pass(4_999);
  assert.equal(rung.length, 0);
  await pass(1);
  assert.deepEqual(rung, [{ at, seen: null }]);
  assert.equal(await stub.when(), null);
  await pass(1_000_000);
  assert.equal(rung.length, 1);
});

test("an alarm that is moved rings at its last time only, one that is deleted never", async () => {
  const { stub, rung, pass, world } = stage();
  const now = world.clock.now();
  await stub.set(now + 5_000);
  await stub.set(now + 1_000);
  await stub.set(now + 9_000);
  await pass(8_999);
  assert.equal(rung.length, 0);
  await pass(1);
  assert.equal(rung.length, 1);
  await stub.set(now + 20_000);
  await stub.unset();
  await pass(50_000);
  assert.equal(rung.length, 1);
});

test("a handler may set the next alarm", async () => {
  const { stub, rung, pass, plan, world } = stage();
  const now = world.clock.now();
  plan.again = now + 3_000;
  await stub.set(now + 1_000);
  await pass(1_000);
  assert.equal(await stub.when(), now + 3_000);
  await pass(2_000);
  assert.deepEqual(
    rung.map(({ at }) => at),
    [now + 1_000, now + 3_000],
  );
});

test("a handler that fails is called again, each time later", async () => {
  const { stub, rung, pass, plan, world } = stage();
  const now = world.clock.now();
  plan.failures = 3;
  await stub.set(now);
  for (let n = 0; n < 40; n++) await pass(1_000);
  const gaps = rung.slice(1).map(({ at }, n) => at - rung[n]!.at);
  assert.equal(rung.length, 4);
  assert.ok(gaps[0]! < gaps[1]! && gaps[1]! < gaps[2]!, String(gaps));
  assert.equal(await stub.when(), null);
});

test("an alarm survives the process, also one that came due meanwhile", async () => {
  const first = stage();
  const now = first.world.clock.now();
  await first.stub.set(now + 1_000);
  await first.host.close();
  const second = stage(first.disk, handWorld({ now: now + 60_000 }));
  await second.pass(0);
  assert.equal(second.rung.length, 1);
  assert.equal(await second.stub.when(), null);
  assert.equal(first.disk.alarms().length, 0);
});

test("an alarm months ahead does not ring early", async () => {
  const { stub, rung, pass, world } = stage();
  const day = 86_400_000;
  await stub.set(world.clock.now() + 60 * day);
  for (let n = 0; n < 59; n++) await pass(day);
  assert.equal(rung.length, 0);
  await pass(day);
  assert.equal(rung.length, 1);
});
