import assert from "node:assert/strict";
import { test } from "node:test";
import { CANARIES } from "../sim/tunnel/canaries.ts";
import { brokenNode } from "../sim/tunnel/real-node.ts";
import { nodesOf } from "../testing/cluster/desk-node.ts";
import { OneDesk, type Wrong } from "../testing/cluster/one-desk.ts";
import { Progress } from "./progress.ts";
import { runSeedWith, type SeedOptions } from "./torture-seed.ts";

/** A desk that is always wrong in the same way, however often it is run. */
function simulate(options: SeedOptions, wrong: Wrong | null = null) {
  let [out, error] = ["", ""];
  const code = runSeedWith(options, (...parts) => nodesOf(deskOf(parts[0].name, wrong))(...parts), {
    out: (text) => {
      out += text;
    },
    error: (text) => {
      error += text;
    },
    now: () => 0,
    progress: new Progress({ now: () => 0, write: () => {}, isTerminal: false }),
  });
  return { code, out, error };
}

let desk = new OneDesk();
/** The founder of each run opens a new desk. */
function deskOf(name: string, wrong: Wrong | null): OneDesk {
  if (name === "node-0" && desk.version !== 0) desk = new OneDesk(wrong);
  else if (desk.wrong !== wrong) desk = new OneDesk(wrong);
  return desk;
}

const SMALL = { seed: 7, visitors: 60, seconds: 10, kind: "calm" };

test("a seed that holds its promises says so, with its figures and its hash", () => {
  const { code, out } = simulate(SMALL);
  assert.equal(code, 0);
  assert.match(out, /seed +plan +nodes +visitors/);
  assert.match(out, /7 +calm .* [0-9a-f]{16} +good\n/);
  assert.match(out, /One seed, every promise held\./);
});

test("several seeds are run one after the other", () => {
  const { code, out } = simulate({ ...SMALL, runs: 3 });
  assert.equal(code, 0);
  assert.match(out, /3 seeds, every promise held/);
  assert.match(out, /\n +9 +calm/);
});

test("a broken promise is named, with the smallest command found that shows it again", () => {
  const { code, out } = simulate({ ...SMALL, nodes: 4, runs: 5 }, "miscounted");
  assert.equal(code, 1);
  assert.match(out, /Seed 7 breaks the promise "counts" after [0-9.]+ s: /);
  const [, command] = /^ {2}(fairgate torture --seed 7 .*)$/m.exec(out)!;
  const flags = Object.fromEntries(
    [...command!.matchAll(/--(\w+) (\S+)/g)].map(([, name, value]) => [name, value]),
  );
  assert.equal(flags.nodes, "1");
  const again = simulate(
    {
      ...{
        seed: Number(flags.seed),
        kind: flags.kind!,
        nodes: Number(flags.nodes),
        seconds: Number(flags.seconds),
      },
      ...{ visitors: Number(flags.visitors), ...(flags.without !== undefined && { without: flags.without }) },
    },
    "miscounted",
  );
  assert.match(again.out, /breaks the promise "counts"/);
});

test("programs get JSON", () => {
  const good = JSON.parse(simulate({ ...SMALL, json: true }).out);
  assert.equal(good.ok, true);
  assert.equal(good.runs[0].seed, 7);
  assert.match(good.runs[0].hash, /^[0-9a-f]{16}$/);
  const bad = JSON.parse(simulate({ ...SMALL, json: true }, "miscounted").out);
  assert.equal(bad.ok, false);
  assert.equal(bad.runs.at(-1).failure.check, "counts");
  assert.match(bad.smallest.command, /^fairgate torture --seed 7/);
});

test("messages can be checked, and nodes that share what they write about are found out", () => {
  assert.equal(simulate({ ...SMALL, checkLetters: true, nodes: 3 }).code, 0);
  const { code, out } = simulate({ ...SMALL, checkLetters: true, nodes: 3 }, "shares messages");
  assert.equal(code, 1);
  assert.match(out, /breaks the promise "messages"/);
});

test("a command that is not right says what would be", () => {
  const wrong = (options: Partial<SeedOptions>) => simulate({ seed: 1, ...options });
  assert.match(wrong({ nodes: 0 }).error, /--nodes is a whole number from 1 to 64, not 0/);
  assert.match(wrong({ without: "crash,rain" }).error, /Nothing is called "rain".*loss, duplication/);
  assert.match(wrong({ kind: "wild" }).error, /There is no kind of plan "wild"\. There are: calm, weather/);
  assert.match(
    wrong({ canary: "nonsense" }).error,
    /There is no canary "nonsense"\. There are: give-twice, adopt-in-minority, forget-turns/,
  );
  assert.equal(wrong({ canary: "nonsense" }).code, 2);
  assert.equal(wrong({ canary: "toString" }).code, 2);
  assert.equal(wrong({ seed: 1.5 }).code, 2);
  assert.equal(JSON.parse(wrong({ runs: -1, json: true }).out).ok, false);
  assert.equal(simulate({ ...SMALL, without: "crash.2, forging" }).code, 0);
});

test("a canary alone is enough: it brings a plan in which it is found", () => {
  for (const canary of CANARIES) {
    let out = "";
    const take = (text: string) => {
      out += text;
    };
    const progress = new Progress({ now: () => 0, write: () => {}, isTerminal: false });
    const code = runSeedWith({ canary }, brokenNode(canary), {
      out: take,
      error: take,
      now: () => 0,
      progress,
    });
    assert.equal(code, 1, canary);
    assert.match(out, new RegExp(`breaks the promise[^]*--canary ${canary}\n[^]*and that was found`));
  }
});
