/** SIGHUP: good new settings take effect while everyone keeps their place; bad ones change nothing and are reported. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Child } from "../../src/testing/cli/child.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { MAIN, ownFolder, type Run, running, SECRET, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor, readBoard } from "../../src/testing/cli/visitor.ts";
import { fixturePath } from "../../src/testing/fixtures.ts";

const IN_FORCE = "new settings are in force";
const NOT_GOOD = "the new settings are not good; the old ones stay in force";

test("good new settings take effect, and visitors keep their places and cookies", async () => {
  await using origin = await TestOrigin.open();
  using folder = ownFolder({ "fairgate.yaml": settings(origin, { totalActiveUsers: 1 }) });
  await using run = await startRun([], { cwd: folder.path });
  const [onSite, first, second, third] = await arrive(run, 4);
  const id = origin.arrived[0]?.headers["fairgate-visitor"];

  folder.write("fairgate.yaml", settings(origin, { totalActiveUsers: 2, message: "Two at a time now." }));
  await reload(run, IN_FORCE);

  await eventually("the first in line gets the new place", () => first!.isIn());
  assert.equal(await second!.ahead(), 0);
  assert.equal(await third!.ahead(), 1);
  assert.equal(await onSite!.isIn(), true);
  assert.equal(origin.arrived.at(-1)?.headers["fairgate-visitor"], id, "it is still the same visit");
  assert.equal((await readBoard(run.address)).message, "Two at a time now.");
  await eventually("the board counts two", async () => (await readBoard(run.address)).waiting === 2);
});

test("bad new settings leave the old in force, and every problem is in the log", async () => {
  await using origin = await TestOrigin.open();
  const good = settings(origin, { totalActiveUsers: 1, message: "As before." });
  using folder = ownFolder({ "fairgate.yaml": good });
  await using run = await startRun([], { cwd: folder.path });
  const [onSite, waiting] = await arrive(run, 2);

  folder.write("fairgate.yaml", settings(origin, { totalActiveUser: 5, sessionDuration: "5 parsecs" }));
  const { problems } = await reload(run, NOT_GOOD);
  assert.match(String(problems), /Did you mean totalActiveUsers\?/);
  assert.match(String(problems), /5 parsecs/);
  assert.equal(await onSite!.isIn(), true);
  assert.equal(await waiting!.ahead(), 0);
  assert.equal((await readBoard(run.address)).message, "As before.");

  folder.write("fairgate.yaml", settings(origin, { totalActiveUsers: 2 }));
  await reload(run, IN_FORCE);
  await eventually("the next good settings are taken", () => waiting!.isIn());
});

test("a certificate that cannot be used leaves everything as it was", async () => {
  await using origin = await TestOrigin.open();
  const certificate = fixturePath("localhost.cert.pem");
  const key = fixturePath("localhost.key.pem");
  const withTls = (certificateFile: string, room: object) =>
    `${settings(origin, room)}tls: { certificateFile: "${certificateFile}", keyFile: "${key}" }\n`;
  using folder = ownFolder({
    "fairgate.yaml": withTls(certificate, { totalActiveUsers: 1 }),
    "broken.pem": "-----BEGIN CERTIFICATE-----\nnot one\n-----END CERTIFICATE-----\n",
  });
  await using run = await startRun([], { cwd: folder.path });
  folder.write("fairgate.yaml", withTls("broken.pem", { totalActiveUsers: 77 }));
  run.child.kill("SIGHUP");
  await eventually("the log says that the old ones stay", () =>
    run.log().some(({ msg, level }) => level === 50 && /the old ones stay/.test(msg)),
  );
  const { body } = await run.control.ask<{ settings: { totalActiveUsers: number } }>("GET", "/rooms/main");
  assert.equal(body.settings.totalActiveUsers, 1);
});

test("an address in the file that has changed waits for the next start, and the log says so", async () => {
  await using origin = await TestOrigin.open();
  const at = (listen: string) =>
    `${settings(origin, { totalActiveUsers: 1 })}listen: ${listen}\ncontrol: { listen: "127.0.0.1:0" }\n`;
  using folder = ownFolder({ "fairgate.yaml": at("127.0.0.1:0") });
  const options = { cwd: folder.path, environment: { FAIRGATE_SECRET: SECRET } };
  await using run = await running(new Child(process.execPath, [MAIN, "run"], options));
  folder.write("fairgate.yaml", at("127.0.0.1:1"));
  await reload(run, IN_FORCE);
  const warning = run.log().find(({ msg }) => /next start/.test(msg));
  assert.match(JSON.stringify(warning), /127\.0\.0\.1:1\b/);
  assert.equal((await ProcessVisitor.arrive(run.address)).standing.isIn, true);
});

async function arrive(run: Run, count: number): Promise<ProcessVisitor[]> {
  const visitors: ProcessVisitor[] = [];
  for (let i = 0; i < count; i++) visitors.push(await ProcessVisitor.arrive(run.address));
  return visitors;
}

/** Sends SIGHUP and waits for one more line with this message. */
async function reload(run: Run, message: string) {
  const lines = () => run.log().filter(({ msg }) => msg === message);
  const before = lines().length;
  run.child.kill("SIGHUP");
  return eventually(message, () => lines()[before]);
}

function settings(origin: TestOrigin, room: object): string {
  return `origin: { addresses: ["${origin.address}"] }\nrooms: { main: ${JSON.stringify(room)} }\n`;
}
