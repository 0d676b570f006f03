/**
 * A sale in a real browser before a real gateway process: the countdown, the draw, the line, and the end; and what visitors can
 * check afterwards.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import type { Board } from "../../src/core/board.ts";
import type { Receipt } from "../../src/core/draw-receipt.ts";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { fairgate, ownFolder, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";

const FAR_MS = 3_600_000;
const SOON_MS = 3_000;
/** The shortest event that settings may have. */
const SHORTEST_MS = 10_000;
const PEOPLE = 5;

let browser: Browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

test("a scheduled sale: countdown, draw, line and end page, and a draw that everyone can check", async () => {
  using folder = ownFolder();
  await using origin = await TestOrigin.open();
  folder.write("fairgate.yaml", JSON.stringify(settingsOf(origin.address)));
  await using run = await startRun(["--config", "fairgate.yaml"], { cwd: folder.path });
  const board = async () => (await (await fetch(`${run.address}/.fairgate/main/board`)).json()) as Board;
  const { draw: announced } = await board();
  assert.match(announced!.seedHash, /^[0-9a-f]{64}$/);
  assert.equal(announced!.seed, null, "nobody can know the seed before the start");

  const people: Person[] = [];
  for (let i = 0; i < PEOPLE; i++) {
    const person = await Person.sitDown(browser, run.address);
    people.push(person);
    await person.open();
    await person.sees("heading", "Not open yet");
    await person.sees("countdown", /\d/);
  }
  await people[0]!.screenshot("event-countdown");
  assert.deepEqual(await people[0]!.violations(), []);
  assert.equal((await run.control.counts()).onSite, 0, "nobody is in before the start");
  const startAt = secondIn(SOON_MS);
  const sooner = await run.control.ask("PATCH", "/rooms/main", { events: [sale(startAt)] });
  assert.equal(sooner.status, 200, sooner.text);

  await eventually("the seed is there", async () => (await board()).draw?.seed !== null);
  const { seed, seedHash } = (await board()).draw!;
  assert.equal(seedHash, announced!.seedHash);
  assert.equal(createHash("sha256").update(Buffer.from(seed!, "hex")).digest("hex"), seedHash);

  const inside: Person[] = [];
  await eventually("two are in, as many as fit", async () => {
    for (const person of people)
      if (!inside.includes(person) && (await isInside(person))) inside.push(person);
    return inside.length === 2;
  });
  const waiting = people.filter((person) => !inside.includes(person));
  await eventually("the others see how many are ahead", async () => {
    const shown = await Promise.all(waiting.map((person) => aheadShown(person)));
    return [...shown].sort().join() === "0,1,2";
  });
  await waiting[0]!.screenshot("event-drawn");
  for (const person of waiting) assert.deepEqual(await person.violations(), []);

  const receipts = await Promise.all(people.map((person) => receiptOf(person, run.address)));
  const keyOf = ({ ticket }: Receipt) =>
    createHash("sha256")
      .update(Buffer.from(seed! + ticket, "hex"))
      .digest("hex");
  const byKey = receipts.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  assert.deepEqual(
    byKey.map(({ place, of }) => [place, of]),
    people.map((_, index) => [index + 1, PEOPLE]),
    "places are the keys in rising order",
  );
  const placeOf = (person: Person) => receipts[people.indexOf(person)]!.place;
  assert.deepEqual(inside.map(placeOf).sort(), [1, 2], "the first two places went in first");

  const record = await run.control.ask("GET", "/rooms/main/draws/sale");
  folder.write("record.txt", record.text);
  folder.write("receipt.json", JSON.stringify(receipts[0]));
  const audit = ["audit", "draw", "record.txt", "--receipt", "receipt.json", "--hash", announced!.seedHash];
  const verdict = await fairgate(audit, { cwd: folder.path });
  assert.equal(verdict.code, 0, verdict.out + verdict.err);
  assert.equal(readFileSync(join(folder.path, "record.txt"), "utf8").includes(receipts[0]!.ticket), true);

  const endAt = Math.max(secondIn(SOON_MS), startAt + SHORTEST_MS);
  const over = await run.control.ask("PATCH", "/rooms/main", { events: [sale(startAt, endAt)] });
  assert.equal(over.status, 200, over.text);
  for (const person of waiting) await person.sees("heading", "Closed for now");
  const late = await Person.sitDown(browser, run.address);
  await late.open();
  await late.page.getByRole("heading", { name: /over|ended|closed/i }).waitFor();
  await late.screenshot("event-ended");
  assert.deepEqual(await late.violations(), []);
  for (const person of [...people, late]) assert.deepEqual(person.faults.filter(isOurs), []);
});

/** The browser itself complains about a page with status 503. */
function isOurs(fault: string): boolean {
  return !fault.includes("status of 503");
}

function settingsOf(origin: string): object {
  // No visit expires during the test, however slow the machine is.
  const main = {
    totalActiveUsers: 2,
    sessionDuration: "1h",
    closed: true,
    events: [sale(secondIn(FAR_MS))],
  };
  return { origin: { addresses: [origin] }, rooms: { main } };
}

/** The event of the sale; its prequeue is already open. */
function sale(startAt: number, endAt = startAt + FAR_MS): object {
  const at = (instant: number) => new Date(instant).toISOString();
  return {
    name: "sale",
    prequeueStartTime: at(startAt - 2 * FAR_MS),
    eventStartTime: at(startAt),
    eventEndTime: at(endAt),
    shuffleAtEventStart: true,
    closed: false,
  };
}

/** The first whole second at least this far away. */
function secondIn(ms: number): number {
  return Math.ceil((Date.now() + ms) / 1_000) * 1_000;
}

async function isInside({ page }: Person): Promise<boolean> {
  return page.getByRole("heading", { name: "The shop", exact: true }).isVisible();
}

async function aheadShown({ page }: Person): Promise<string> {
  const label = await page.locator('[data-live="aheadLabel"]').textContent();
  return label === "You are next" ? "0" : ((await page.locator('[data-live="ahead"]').textContent()) ?? "");
}

async function receiptOf({ page }: Person, address: string): Promise<Receipt> {
  const answer = await page.request.get(`${address}/.fairgate/main/receipt`);
  assert.equal(answer.status(), 200, await answer.text());
  return (await answer.json()) as Receipt;
}
