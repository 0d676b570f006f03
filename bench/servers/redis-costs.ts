/**
 * Fills a room in a Redis with a number of waiting visitors, by the engine's own joins, and prints the memory of each. Then, told
 * `join` or `checkIn`, it makes some thousand of these calls and prints how long one took. The engine is used directly: no HTTP,
 * no tokens.
 */

import { openEngine } from "../../src/assembly/engines.ts";
import { settingsFrom } from "../../src/config/load.ts";
import { toRules } from "../../src/config/rules.ts";
import type { Entered, Waiting } from "../../src/core/engine.ts";
import type { Ticket } from "../../src/core/ticket.ts";
import { nodeWorld } from "../../src/node.ts";
import { usedMemory } from "../redis-figures.ts";

const [url = "", waitingText = "0"] = process.argv.slice(2);
const ROOM = "main";
/** Two calls full of visitors under way: as many as one gateway sends at a time. */
const AT_ONCE = 500;
const CALLS = 2_500;
/** Tickets from all over the line, to be checked in with. */
const TICKETS_KEPT = 10_000;

const result = settingsFrom(
  {
    secret: "bench-secret-0123456789-abcdefghij",
    redis: { url },
    rooms: { main: { totalActiveUsers: 1, lapseAfter: "1d" } },
  },
  { environment: {}, readFile: () => "", needsOrigin: false },
);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const { engine } = await openEngine(result.settings, nodeWorld({ level: "error" }));
await engine.configure(ROOM, toRules(ROOM, result.settings.rooms.main!, { budgets: {}, seedOf: () => "" }));
await engine.join(ROOM);

const waiting = Number(waitingText);
const bytesBefore = await usedMemory(url);
const startAt = performance.now();
const kept = await fill();
const joinsPerSecond = waiting / ((performance.now() - startAt) / 1_000);
const bytesEach = ((await usedMemory(url)) - bytesBefore) / waiting;
let asked = 0;

process.on("disconnect", () => process.exit());
process.on("message", async (question: "join" | "checkIn") => {
  process.send?.(question === "join" ? await joinNs() : await checkInNs());
});
process.send?.({ bytesEach, joinsPerSecond });

async function fill(): Promise<Ticket[]> {
  const every = Math.max(1, Math.floor(waiting / TICKETS_KEPT));
  const tickets: Ticket[] = [];
  let n = 0;
  await many(waiting, async () => {
    const index = n++;
    const ticket = placeOf(await engine.join(ROOM));
    if (index % every === 0) tickets.push(ticket);
  });
  return tickets;
}

/** These visitors leave again before the next round, so that the line keeps its length. */
async function joinNs(): Promise<number> {
  const joined: Ticket[] = [];
  const ns = await nsEach(async () => {
    joined.push(placeOf(await engine.join(ROOM)));
  });
  await many(joined.length, async () => engine.leave(joined.pop()!));
  return ns;
}

function checkInNs(): Promise<number> {
  return nsEach(async () => {
    placeOf(await engine.checkIn(kept[asked++ % kept.length]!));
  });
}

async function nsEach(work: () => Promise<void>): Promise<number> {
  const from = process.hrtime.bigint();
  await many(CALLS, work);
  return Number(process.hrtime.bigint() - from) / CALLS;
}

/** Repeats a call `count` times, `AT_ONCE` at a time. */
async function many(times: number, work: () => Promise<void>): Promise<void> {
  let left = times;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function placeOf(answer: { readonly kind: string } | Waiting | Entered): Ticket {
  if (answer.kind !== "waiting") throw new Error(`someone who should wait was told ${answer.kind}`);
  return (answer as Waiting).ticket;
}
