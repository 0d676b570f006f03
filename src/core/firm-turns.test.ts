import assert from "node:assert/strict";
import { test } from "node:test";
import { FIRM_AGAIN_MS, FIRM_LEAST_MS, FIRM_MS, FirmTurns } from "./firm-turns.ts";

const FIRST = { hasReturned: false, hasMissed: false };
const RETURNED = { ...FIRST, hasReturned: true };
const BOUNDS = { claimWindowMs: 120_000, sessionDurationMs: 300_000 };

function taught(loose: number, of: number): FirmTurns {
  const turns = new FirmTurns();
  for (let i = 0; i < 400; i++) i % of < loose ? turns.loosened() : turns.used();
  return turns;
}

test("at first a turn is firm for as long as any visitor near the front needs", () => {
  assert.equal(new FirmTurns().firmMs(BOUNDS, FIRST), FIRM_MS);
});

test("it is never firm for longer than its claim window or than a visit", () => {
  assert.equal(new FirmTurns().firmMs({ ...BOUNDS, claimWindowMs: 3_000 }, FIRST), 3_000);
  assert.equal(new FirmTurns().firmMs({ ...BOUNDS, sessionDurationMs: 2_000 }, RETURNED), 2_000);
});

test("the more turns go loose, the shorter they are firm, down to a turn of the door", () => {
  const half = taught(1, 2).firmMs(BOUNDS, FIRST);
  assert.ok(Math.abs(half - FIRM_MS / 2) < FIRM_MS / 20, `${half}`);
  const most = taught(9, 10).firmMs(BOUNDS, FIRST);
  assert.ok(most >= FIRM_LEAST_MS && most < FIRM_MS / 4, `${most}`);
  assert.equal(taught(1, 1).firmMs(BOUNDS, FIRST), FIRM_LEAST_MS);
});

test("a visitor who found the site full has time to hear of the next turn", () => {
  assert.equal(taught(1, 1).firmMs(BOUNDS, RETURNED), FIRM_AGAIN_MS);
  assert.equal(new FirmTurns().firmMs(BOUNDS, RETURNED), FIRM_MS);
});

test("a place that missed a turn gets a loose one, until its holder came and found the site full", () => {
  assert.equal(new FirmTurns().firmMs(BOUNDS, { ...FIRST, hasMissed: true }), 0);
  assert.equal(new FirmTurns().firmMs(BOUNDS, { ...RETURNED, hasMissed: true }), FIRM_MS);
});

test("once turns are used again they are firm for longer again", () => {
  const turns = taught(1, 1);
  for (let i = 0; i < 100; i++) turns.used();
  assert.ok(turns.firmMs(BOUNDS, FIRST) > 0.98 * FIRM_MS);
});

test("what was learned survives a restart, and invalid values are ignored", () => {
  const turns = new FirmTurns();
  turns.restore(taught(1, 2).looseShare);
  assert.equal(turns.firmMs(BOUNDS, FIRST), taught(1, 2).firmMs(BOUNDS, FIRST));
  for (const nonsense of [Number.NaN, -1, 2, undefined as unknown as number]) turns.restore(nonsense);
  assert.equal(turns.looseShare, taught(1, 2).looseShare);
});
