import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type HandWorld, handWorld } from "../../../sim/hand-world.ts";
import { CALLS_MAX, CallDesk, type LedgerMethods, RemoteCalls } from "./remote-calls.ts";
import type { SharedLink } from "./shared-records.ts";

const TIMEOUT_MS = 10_000;
const SHOP = "tickets";
const BASE = "fairgate:{shop:tickets}";

/** Messages between those who hear; some are lost. */
class PretendLink implements SharedLink {
  readonly problem = null;
  readonly published: { channel: string; text: string }[] = [];
  /** Which messages are lost. */
  isLost: (channel: string) => boolean = () => false;
  readonly #ears = new Map<string, Set<{ onMessage(text: string): void }>>();

  call(): Promise<never> {
    throw new Error("nothing is written here");
  }

  async command(_key: string | null, [, channel = "", text = ""]: readonly string[]): Promise<unknown> {
    this.published.push({ channel, text });
    if (this.isLost(channel)) throw new Error("away");
    for (const ear of [...(this.#ears.get(channel) ?? [])]) ear.onMessage(text);
    return 1;
  }

  hear(channel: string, ear: { onMessage(text: string): void }): () => void {
    const ears = this.#ears.get(channel) ?? new Set();
    this.#ears.set(channel, ears.add(ear));
    return () => ears.delete(ear);
  }

  onProblem(): () => void {
    return () => {};
  }
}

interface Stage {
  readonly world: HandWorld;
  readonly link: PretendLink;
  readonly calls: RemoteCalls;
  /** What was done, in order. */
  readonly done: unknown[];
  open(methods?: LedgerMethods, isOwner?: () => boolean): CallDesk;
}

function stage(): Stage {
  const world = handWorld();
  const link = new PretendLink();
  const parts = { link, world, base: BASE, shop: SHOP };
  const done: unknown[] = [];
  const hold = async (seat: number) => {
    done.push(seat);
    return { seat };
  };
  return {
    ...{ world, link, done, calls: new RemoteCalls(parts) },
    open: (methods = { hold }, isOwner = () => true) => new CallDesk(parts, methods, isOwner),
  };
}

/** Lets time pass, and everything happen that follows from it. */
async function pass(world: HandWorld, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    world.pass(50);
    await setImmediate();
  }
}

/** How a call ended, once it has. */
function outcome(call: Promise<unknown>): { said: unknown } {
  const seen = { said: undefined as unknown };
  call.then(
    (answer) => {
      seen.said = answer;
    },
    (error: Error) => {
      seen.said = error.name;
    },
  );
  return seen;
}

test("calls of one turn go in one message, and so do their answers", async () => {
  const { world, link, calls, open } = stage();
  open();
  const asked = [1, 2, 3].map((seat) => calls.ask("hold", [seat], TIMEOUT_MS));
  await pass(world, 100);
  assert.deepEqual(await Promise.all(asked), [{ seat: 1 }, { seat: 2 }, { seat: 3 }]);
  assert.equal(link.published.length, 2);
});

test("a call that is lost is sent again, and one whose answer is lost is done once", async () => {
  for (const lost of ["calls", "answers"]) {
    const { world, link, calls, done, open } = stage();
    open();
    link.isLost = (channel) => channel.includes(lost);
    const seen = outcome(calls.ask("hold", [1], TIMEOUT_MS));
    await pass(world, 2_000);
    assert.equal(seen.said, undefined);
    link.isLost = () => false;
    await pass(world, 1_000);
    assert.deepEqual(seen.said, { seat: 1 });
    assert.deepEqual(done, [1]);
  }
});

test("a call that nobody answers fails when its time is over, however the clock goes", async () => {
  const { world, link } = stage();
  const stuck = { ...world, clock: { now: () => 1_000 } };
  const calls = new RemoteCalls({ link, world: stuck, base: BASE, shop: SHOP });
  const seen = outcome(calls.ask("hold", [1], TIMEOUT_MS));
  await pass(world, TIMEOUT_MS - 500);
  assert.equal(seen.said, undefined);
  assert.ok(link.published.length > 10, "it is sent again");
  await pass(world, 1_000);
  assert.equal(seen.said, "ShopAway");
});

test("what takes long is done once, however often it is asked for meanwhile", async () => {
  const { world, calls, open } = stage();
  const answer = Promise.withResolvers<string>();
  let count = 0;
  open({
    verify: () => {
      count++;
      return answer.promise;
    },
  });
  const seen = outcome(calls.ask("verify", [], 120_000));
  await pass(world, 100_000);
  answer.resolve("clean");
  await pass(world, 1_000);
  assert.equal(seen.said, "clean");
  assert.equal(count, 1);
});

test("an answer that fails has its name and words, and none is as null", async () => {
  const { world, calls, open } = stage();
  const damaged = Object.assign(new Error("It cannot be read."), { name: "LedgerDamaged" });
  open({ stock: () => Promise.reject(damaged), order: async () => undefined });
  const [failed, empty] = [calls.ask("stock", [], TIMEOUT_MS), calls.ask("order", [], TIMEOUT_MS)];
  const checked = assert.rejects(failed, { name: "LedgerDamaged", message: "It cannot be read." });
  await pass(world, 100);
  await checked;
  assert.equal(await empty, null);
});

test("a call that its owner could not finish is done by the next", async () => {
  const { world, calls, done, open } = stage();
  let isOwner = true;
  const lost = async () => {
    isOwner = false;
    throw new Error("Another gateway keeps this shop now.");
  };
  const former = open({ hold: lost }, () => isOwner);
  const seen = outcome(calls.ask("hold", [1], TIMEOUT_MS));
  await pass(world, 100);
  former.close();
  assert.equal(seen.said, undefined);
  open();
  await pass(world, 1_000);
  assert.deepEqual(seen.said, { seat: 1 });
  assert.deepEqual(done, [1]);
});

test("one that failed while its owner was in doubt is done again by the same", async () => {
  const { world, calls, open } = stage();
  let isOwner = true;
  let count = 0;
  const hold = async () => {
    isOwner = count++ > 0;
    if (!isOwner) throw new Error("not now");
    return "done";
  };
  open({ hold }, () => isOwner);
  const seen = outcome(calls.ask("hold", [], TIMEOUT_MS));
  await pass(world, 100);
  isOwner = true;
  await pass(world, 1_000);
  assert.equal(seen.said, "done");
});

test("beyond a number of calls that wait, more are refused at once", async () => {
  const { world, calls, open } = stage();
  const asked = Array.from({ length: CALLS_MAX }, (_, i) => outcome(calls.ask("hold", [i], TIMEOUT_MS)));
  await assert.rejects(calls.ask("hold", [-1], TIMEOUT_MS), { name: "ShopAway" });
  open();
  await pass(world, 1_000);
  assert.ok(asked.every(({ said }) => said !== undefined));
  const seen = outcome(calls.ask("hold", [1], TIMEOUT_MS));
  await pass(world, 100);
  assert.deepEqual(seen.said, { seat: 1 });
});

test("after the end calls are refused, those that wait and those that come", async () => {
  const { calls } = stage();
  const waiting = calls.ask("hold", [1], TIMEOUT_MS);
  const refused = assert.rejects(waiting, { name: "ShopAway" });
  calls.close();
  await refused;
  await assert.rejects(calls.ask("hold", [2], TIMEOUT_MS), { name: "ShopAway" });
});

test("messages that are no calls are left out", async () => {
  const { world, link, calls, done, open } = stage();
  open();
  for (const text of ["", "{", "null", "[null, 1]", '[{"method":"constructor"}]', '[{"method":"hold"}]'])
    await link.command(null, ["PUBLISH", `${BASE}:calls`, text]);
  const seen = outcome(calls.ask("hold", [1], TIMEOUT_MS));
  await pass(world, 100);
  assert.deepEqual(seen.said, { seat: 1 });
  assert.deepEqual(done, [1]);
});
