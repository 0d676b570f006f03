/**
 * What a person sees: the banner of `run` and `watch` on real terminals of two sizes, and what stays on the screen when they end.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOf } from "../../src/cli/operate/columns.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { fairgate, MAIN, ownFolder, SECRET } from "../../src/testing/cli/fairgate.ts";
import { Screen, whyNoTerminal } from "../../src/testing/cli/screen.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";

const ANYWHERE = ["--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"];
const ENVIRONMENT = { FAIRGATE_SECRET: SECRET, FAIRGATE_CONTROL_TOKEN: undefined };

function program(...args: string[]): string[] {
  return [process.execPath, MAIN, ...args];
}

function fits(text: string, columns: number): void {
  for (const line of text.split("\n")) assert.ok(columnsOf(line) <= columns, line);
}

test("run, watch and the log on terminals of 80x24 and 120x40", async (t) => {
  const without = whyNoTerminal();
  if (without !== undefined) return t.skip(without);
  await using origin = await TestOrigin.open();
  using folder = ownFolder();
  const here = { cwd: folder.path, environment: ENVIRONMENT };
  const site = ["--origin", origin.address, "--total-active-users", "1", "--new-users-per-minute", "1"];
  await using run = new Screen(program("run", "--data", "fairgate-data", ...site, ...ANYWHERE), {
    ...{ columns: 80, rows: 24, ...here },
  });
  const banner = await run.shows(/Stop +Ctrl-C/);
  fits(banner, 80);
  assert.match(banner, /Fairgate \S+ is running\.\n\n +Visitors +http:\/\/127\.0\.0\.1:\d+\n +Site +http/);
  assert.match(banner, /Rooms +main {2}at most 1 on the site, 1 new a minute, sessions 5m/);
  assert.match(
    banner,
    /Kept in +\.\/fairgate-data; .*\n +Control +127[\s\S]*Token +in \.\/fairgate-data\/control-token/,
  );
  assert.doesNotMatch(banner, /\{"level"|warn/);
  const address = /Visitors +(\S+)/.exec(banner)![1]!;
  await ProcessVisitor.arrive(address);
  await ProcessVisitor.arrive(address);

  await using watch = new Screen(program("watch"), { columns: 80, rows: 24, ...here });
  const seen = await watch.shows(/waiting +1 /);
  assert.ok(watch.isOtherScreen);
  fits(seen, 80);
  assert.match(seen, /^ Fairgate \S+ at 127\.0\.0\.1:\d+ +\d\d:\d\d:\d\d\n/);
  assert.match(
    seen,
    /\n main {2}queueing\n +waiting +1 +█+\n +on site +1 of 1 +█+\n +let in +\d+ of 1, last minute +[█░]+\n/,
  );
  assert.match(seen, /origin http:\/\/127\.0\.0\.1:\d+: up, 0 under way\n q or Ctrl-C leaves/);

  watch.resize(120, 40);
  const wide = await watch.shows(/█{40}/);
  fits(wide, 120);
  assert.equal(wide.split("q or Ctrl-C").length, 2, "nothing is left over from the smaller size");
  watch.resize(80, 9);
  fits(await watch.shows(/main +queueing +1 waiting +1 of 1 on site/), 80);

  await run.shows(/\d\d:\d\d:\d\d {2}main: a line has formed: the site is full \(totalActiveUsers 1\)/);
  const [paused, piped] = await Promise.all([fairgate(["pause"], here), fairgate(["watch"], here)]);
  assert.equal(paused.code, 0, paused.err);
  assert.deepEqual([piped.code, /needs a terminal/.test(piped.err)], [2, true]);
  await watch.shows(/main +paused/);
  watch.type("\x03");
  await watch.ended;
  assert.ok(!watch.isOtherScreen);
  assert.equal(watch.text(), "", "a clean screen");

  // Fairgate stops while somebody watches: the screen says so and stays.
  await using other = new Screen(program("watch", "main"), { columns: 120, rows: 40, ...here });
  await other.shows(/main {2}paused/);
  run.kill("SIGTERM");
  await run.shows(/stopped/);
  assert.match(await other.shows(/Nobody listens at/), /main {2}paused/);
  other.kill("SIGTERM");
  await other.ended;
  assert.equal(other.text(), "");
});

test("the demo fits 80x24, its addresses stay, and it leaves the terminal as it was", async (t) => {
  const without = whyNoTerminal();
  if (without !== undefined) return t.skip(without);
  await using demo = new Screen(program("demo", "--port", "0", "--crowd", "30"), { columns: 80, rows: 24 });
  const first = await demo.shows(/waiting +\d/);
  const later = await demo.shows(/waiting +\d+ +[ ▁-█]{3}/);
  for (const text of [first, later]) {
    fits(text, 80);
    assert.match(text, /Stand in the line +http:\/\/127[\s\S]*Control +http:\/\/127\S+ +\(how it goes/);
    assert.equal(text.match(/waiting +\d/g)!.length, 1);
  }
  demo.resize(120, 40);
  fits(await demo.shows(/missed their turn/), 120);
  demo.type("\x03");
  await demo.ended;
  // What it printed last may be read after its end.
  await eventually("its last words are on the screen", () => demo.text().trim() !== "");
  assert.match(demo.text(), /^(\^C)?\s*The demo has stopped; nothing is left running\.$/);
});
