/**
 * Fills a room with a number of waiting visitors and prints what join, `ahead` and admit then cost, as JSON. Costs
 * are of whole engine calls: a ticket made, a deadline set, an answer built.
 */
import { ANYBODY } from "../../src/core/engine.ts";
import { Line } from "../../src/core/line.ts";
import { DEFAULT_RULES } from "../../src/core/rules.ts";
import type { Ticket } from "../../src/core/ticket.ts";
import { MemoryRoom } from "../../src/engines/memory/memory-room.ts";
import { seededFraction } from "../../src/sim/hand-world.ts";

const waiting = Number(process.argv[2]);
const CALLS = 20_000;
const ROUNDS = 15;
/** An admission takes less time than the machine's hiccups, so it is measured more often. */
const TURNS = 60;
const ID = "0".repeat(32);
const NOW = Date.UTC(2026, 0, 1);
const MOMENT = { dice: 0, now: NOW };
/** A room that admits nobody by itself, so that the line keeps its length. */
const PAUSED = { ...DEFAULT_RULES, totalActiveUsers: 1, paused: true, lapseAfterMs: 86_400_000 };
const OPEN = { ...PAUSED, totalActiveUsers: null, paused: false };

const dice = seededFraction(7);
const asked = Float64Array.from({ length: CALLS }, () => Math.floor(dice() * waiting));
const joined: Ticket[] = [];
let sink = 0;
const before = used();
const room = new MemoryRoom({
  name: "bench",
  rules: PAUSED,
  events: { onTurns() {}, onRevoked() {}, onDraw() {}, onRemark() {} },
  now: NOW,
  isKept: false,
  budgetFree: () => Number.POSITIVE_INFINITY,
});
const first = (room.join(ID, ANYBODY, MOMENT) as { ticket: Ticket }).ticket;
for (let i = 1; i < waiting; i++) room.join(ID, ANYBODY, MOMENT);
const bytesEach = (used() - before) / waiting;

const line = lineOf(waiting);
// Joins of one round are taken out again before the next, so that the line keeps its length.
const joinNs = bestRound(
  () => {
    for (let i = 0; i < CALLS; i++) joined[i] = (room.join(ID, ANYBODY, MOMENT) as { ticket: Ticket }).ticket;
  },
  () => {
    for (const ticket of joined) room.leavePlace(ticket, NOW);
  },
);
const aheadNs = bestRound(() => {
  for (let i = 0; i < CALLS; i++) sink += line.ahead(first.sequence + asked[i]!);
});
const checkInNs = bestRound(() => {
  for (let i = 0; i < CALLS; i++) room.checkIn({ ...first, sequence: first.sequence + asked[i]! }, MOMENT);
});
const admitNs = bestAdmission();
if (sink < 0) throw new Error("unreachable");
console.log(JSON.stringify({ bytesEach, joinNs, aheadNs, checkInNs, admitNs }));

/** The bare line that the room uses: what `ahead` alone costs. */
function lineOf(count: number): Line {
  const made = new Line();
  for (let i = 0; i < count; i++) made.add(first.sequence + i);
  return made;
}

function used(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function bestRound(work: () => void, tidy: () => void = () => {}): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    best = Math.min(best, timed(work) / CALLS);
    tidy();
  }
  return best;
}

/**
 * Admissions of some thousand visitors at a time, with as many joining again afterwards. The cost of a call that admits nobody
 * (mostly the bounded sweep for lapsed visitors) is measured as well and subtracted.
 */
function bestAdmission(): number {
  const batch = Math.min(5_000, waiting / 2);
  const idle: number[] = [];
  const busy: number[] = [];
  for (let round = 0; round < TURNS; round++) {
    room.change(PAUSED, NOW);
    idle.push(timed(() => room.admit(dice, NOW)));
    const { admitted, onSite } = room.counts(NOW);
    room.change({ ...OPEN, totalActiveUsers: admitted + onSite + batch }, NOW);
    busy.push(timed(() => room.admit(dice, NOW)));
    if (room.counts(NOW).admitted !== admitted + batch) throw new Error(`not ${batch} were admitted`);
    room.change(PAUSED, NOW);
    for (let i = 0; i < batch; i++) room.join(ID, ANYBODY, MOMENT);
  }
  return (Math.min(...busy) - Math.min(...idle)) / batch;
}

function timed(work: () => void): number {
  const from = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - from);
}
