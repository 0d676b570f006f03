/**
 * No room on the disk: what must be stored is refused and never half done; passes stay valid; and everything acknowledged is
 * there when the gateway starts again with room, or goes on when there is room again. The limit is the system's own, on the size
 * of files.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { Control, ownFolder, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { type Answer, Asker, pause, type Question } from "./ask.ts";
import { Gate } from "./gate.ts";

/** The unit of `ulimit -f` in a plain sh. */
const BLOCK_BYTES = 512;
const ROOM_LEFT_BYTES = 64 * 1_024;
const ROUNDS_MAX = 3_000;
/** This many refusals take long enough for the gateway to retry in vain a few times. */
const REFUSALS_MANY = 150;
const REFUSALS_FEW = 5;
const AFTER_REFUSAL_MS = 20;
const UNAVAILABLE = 503;
const OWN = "/.fairgate/main";

/** A gateway whose disk has only a little room left. */
async function scene() {
  await using parts = new AsyncDisposableStack();
  const data = parts.use(ownFolder());
  const origin = parts.use(await TestOrigin.open());
  const room = { totalActiveUsers: 100_000, sessionDuration: "1h" };
  const gate = parts.use(await Gate.make({ origin: origin.address, room, dataFolder: data.path }));
  const asker = parts.use(new Asker(gate.address, 8));
  const granted: string[] = [];
  const ended: string[] = [];
  const ask = async (question: Question, cookie = ""): Promise<Answer> => {
    const answer = await asker.ask({ ...question, headers: cookie ? { cookie } : {} });
    assert.ok(answer, `no answer; the gateway printed:\n${gate.printed}`);
    return answer;
  };
  const post = (endpoint: string, cookie = "") => ask({ method: "POST", path: `${OWN}/${endpoint}` }, cookie);
  const page = (cookie: string) => ask({ method: "GET", path: "/" }, cookie);

  await gate.start();
  const join = async () => (await post("join")).cookie ?? undefined;
  granted.push(await eventually("the first is in", join));
  // One after the other, or newcomers would be held back for a while.
  await gate.end("SIGTERM");
  const blocks = Math.ceil((largestFile(data.path) + ROOM_LEFT_BYTES) / BLOCK_BYTES);
  const limited = `ulimit -S -f ${blocks}; echo "pid $$"; exec "$@"`;
  // No compile cache: its files could not grow either.
  await gate.start({ through: ["env", "-u", "NODE_COMPILE_CACHE", "sh", "-c", limited, "sh"] });

  /** One newcomer, who stays or leaves again. False when they are not admitted. */
  const visit = async (isStaying: boolean): Promise<boolean> => {
    const joined = await post("join");
    if (joined.status !== 200) {
      assert.equal(joined.status, UNAVAILABLE, joined.text);
      assert.equal(joined.cookie, null, "no pass with it");
      return false;
    }
    // A place needs no disk: its ticket is the proof.
    if (joined.json.status === "waiting") return false;
    assert.equal(joined.json.status, "entered");
    if (isStaying) granted.push(joined.cookie!);
    else {
      const left = await post("leave", joined.cookie!);
      if (left.status === 200) ended.push(joined.cookie!);
      else assert.equal(left.status, UNAVAILABLE, left.text);
    }
    return true;
  };
  const whole = parts.move();
  return {
    gate,
    granted,
    ask,
    post,
    page,
    visit,
    control: new Control(gate.controlAddress, TOKEN),
    async fill(refusalsMin: number) {
      let refusals = 0;
      for (let round = 0; refusals < refusalsMin; round++) {
        assert.ok(round < ROUNDS_MAX, "the disk never fills up");
        if (await visit(round % 2 === 0)) continue;
        refusals++;
        await pause(AFTER_REFUSAL_MS);
      }
      assert.ok(granted.length > 1 && ended.length > 0);
    },
    /** Everything acknowledged is there. */
    async checkAll() {
      for (const cookie of granted) assert.equal((await post("check-in", cookie)).json.status, "entered");
      for (const cookie of ended) assert.equal((await post("check-in", cookie)).json.status, "refused");
    },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}

test("on a full disk nothing is granted that cannot be stored, and passes stay valid", async () => {
  await using stage = await scene();
  const { gate, granted, post, page } = stage;
  await stage.fill(REFUSALS_MANY);
  for (const cookie of [granted[0]!, granted.at(-1)!]) {
    const { status, text } = await page(cookie);
    assert.ok(status === 200 && text.includes("The shop"), "a pass goes on working");
  }
  assert.equal((await stage.ask({ method: "GET", path: `${OWN}/board` })).status, 200);
  await gate.end("SIGKILL");

  await gate.start();
  await stage.checkAll();
  assert.equal((await post("leave", granted[0]!)).status, 200, "and there is room again");
  assert.equal((await post("check-in", granted[0]!)).json.status, "refused");
});

test("on a full disk an operator's change is refused, and not in force", async () => {
  await using stage = await scene();
  const { control, gate } = stage;
  await stage.fill(REFUSALS_FEW);
  const signing = async () => {
    const { body } = await control.ask<{ keys: { id: string; isSigning: boolean }[] }>("GET", "/keys");
    return body.keys.find(({ isSigning }) => isSigning)?.id;
  };
  const message = async () =>
    (await control.ask<{ settings: { message: string } }>("GET", "/rooms/main")).body.settings?.message;
  const key = await signing();
  const changed = await control.ask("PATCH", "/rooms/main", { message: "on a full disk" });
  const turned = await control.ask("POST", "/keys/rotate");
  assert.deepEqual([changed.status, turned.status], [UNAVAILABLE, UNAVAILABLE]);
  assert.equal(await signing(), key, "the key that was refused does not sign");
  await gate.end("SIGKILL");
  await gate.start();
  assert.deepEqual([await message(), await signing()], ["", key]);
  await stage.checkAll();
});

test("when there is room again the gateway goes on by itself", async (t) => {
  await using stage = await scene();
  const { gate, granted, page, post } = stage;
  await stage.fill(REFUSALS_FEW);
  const [, pid = ""] = /pid (\d+)/.exec(gate.printed) ?? [];
  const lifted = spawnSync("prlimit", ["--pid", pid, "--fsize=unlimited:unlimited"]);
  if (lifted.error) return t.diagnostic("not tried: this system has no prlimit");
  assert.equal(lifted.status, 0, String(lifted.stderr));
  const joined = await eventually("newcomers are taken again", async () => {
    const answer = await post("join");
    return answer.status === 200 && answer;
  });
  const pass = await eventually("and let in", async () => {
    if (joined.json.status === "entered") return joined;
    const answer = await post("enter", joined.cookie!);
    return answer.json.status === "entered" && answer;
  });
  granted.push(pass.cookie!);
  assert.equal((await page(pass.cookie!)).status, 200);
  await gate.end("SIGKILL");
  await gate.start();
  await stage.checkAll();
});

function largestFile(folder: string): number {
  return Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).size));
}
