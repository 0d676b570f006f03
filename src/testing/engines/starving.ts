/**
 * The property that turns which nobody uses do not starve those behind: the same honest visitors get in at no less than
 * half the speed with idle ones among them as without, for any share of idle ones up to nine tenths, wherever these stand
 * and whatever they do when their turn is over. Time is moved by hand.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DEFAULT_RULES, type RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import { handWorld } from "../../sim/hand-world.ts";
import { type EngineUnderTest, ROOM } from "./conformance-stage.ts";

/** As often as the engines turn their doors. */
const STEP_MS = 200;
/** Honest visitors come this many steps after they could, at the most, and idle ones check in as rarely. */
const STEPS_BETWEEN_LOOKS = 3;
const STEPS_BETWEEN_CHECK_INS = 18;
/** The first turns, in which it is learned how many are not used, do not count: six of ten seconds, one after the other. */
const LEARNING_MS = 60_000;
const NEVER_MS = 4 * 3_600_000;

interface Siege {
  readonly rules: Partial<RoomRules>;
  /** Idle visitors to each honest one. */
  readonly idlePerHonest: number;
  readonly where: "front" | "mixed" | "back";
  /** Once a turn is missed or the place is lost: come back with the ticket, or join anew. */
  readonly after: "return" | "join";
}

const STAYING = { disableSessionRenewal: true, lapseAfterMs: 600_000 };

const sieges: fc.Arbitrary<Siege> = fc
  .record({
    limit: fc.oneof(
      fc.integer({ min: 20, max: 120 }).map((newUsersPerMinute) => ({ newUsersPerMinute })),
      fc.integer({ min: 1, max: 10 }).map((totalActiveUsers) => ({ totalActiveUsers })),
      fc
        .tuple(fc.integer({ min: 20, max: 120 }), fc.integer({ min: 2, max: 30 }))
        .map(([newUsersPerMinute, totalActiveUsers]) => ({ newUsersPerMinute, totalActiveUsers })),
    ),
    claimWindowMs: fc.constantFrom(10_000, 24_000, 60_000, 120_000),
    sessionDurationMs: fc.constantFrom(15_000, 60_000),
    idlePerHonest: fc.constantFrom(0.5, 1, 2, 4, 8.5),
    where: fc.constantFrom("front", "mixed", "back"),
    after: fc.constantFrom("return", "join"),
  })
  .map(({ limit, claimWindowMs, sessionDurationMs, ...how }) => ({
    rules: { ...limit, claimWindowMs, sessionDurationMs, ...STAYING },
    ...how,
  }));

/** Where a turn is worth most and an idle place costs most: one slot, short visits, and all idle places at the front. */
const WORST: readonly Siege[] = [
  { limit: { totalActiveUsers: 1 }, sessionDurationMs: 15_000 },
  { limit: { newUsersPerMinute: 20, totalActiveUsers: 2 }, sessionDurationMs: 15_000 },
  { limit: { newUsersPerMinute: 30 }, sessionDurationMs: 60_000 },
].map(({ limit, sessionDurationMs }) => ({
  rules: { ...limit, claimWindowMs: 10_000, sessionDurationMs, ...STAYING },
  ...{ idlePerHonest: 8.5, where: "front", after: "return" },
}));

export interface Size {
  /** Sieges of all kinds, beside the worst ones. */
  readonly runs: number;
  readonly honest: number;
}

/** Declares the property for one engine. */
export function starvingTests(subject: EngineUnderTest, { runs, honest }: Size): void {
  const name =
    "visitors who use their turns get in at no less than half their rate, however many others do not";
  test(`${subject.name} engine: ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(sieges, async (siege) => {
        const alone = await timeToGetIn(subject, { ...siege, idlePerHonest: 0 }, honest);
        const besieged = await timeToGetIn(subject, siege, honest);
        assert.ok(
          besieged <= 2 * alone + LEARNING_MS,
          `${besieged / 1_000} s with idle ones, ${alone / 1_000} s without`,
        );
      }),
      { numRuns: runs + WORST.length, examples: WORST.map((siege): [Siege] => [siege]) },
    );
  });
}

/** How long it takes until every honest visitor is in. */
async function timeToGetIn(subject: EngineUnderTest, siege: Siege, count: number): Promise<number> {
  const world = { ...handWorld(), timers: { every: () => () => {}, after: () => () => {} } };
  const engine = await subject.make(world);
  const startedAt = world.clock.now();
  try {
    await engine.configure(ROOM, { ...DEFAULT_RULES, ...siege.rules, queueAll: true });
    const join = async (): Promise<Ticket | null> => {
      const answer = await engine.join(ROOM);
      return answer.kind === "waiting" ? answer.ticket : null;
    };
    const [honest, idle]: [Ticket[], Ticket[]] = [[], []];
    for (const isIdle of arrivals(siege, count)) (isIdle ? idle : honest).push((await join())!);
    await engine.configure(ROOM, { ...DEFAULT_RULES, ...siege.rules });
    for (let step = 0; honest.length > 0; step++) {
      assert.ok(world.clock.now() < startedAt + NEVER_MS, `${honest.length} never got in`);
      world.pass(STEP_MS);
      await engine.admit(ROOM);
      await haunt(engine, idle, siege, join, step);
      if (step % STEPS_BETWEEN_LOOKS > 0) continue;
      // Honest pages hear of their turn within a second; they come in the order of the line, or nearly so.
      for (const ticket of honest.slice(0, 12))
        if ((await engine.enter(ticket)).kind === "entered") honest.splice(honest.indexOf(ticket), 1);
    }
    return world.clock.now() - startedAt;
  } finally {
    await engine.close();
  }
}

/** True for an idle one, in the order of arrival. */
function arrivals({ idlePerHonest, where }: Siege, honest: number): boolean[] {
  const idle = Math.round(honest * idlePerHonest);
  if (where === "front") return [...Array(idle).fill(true), ...Array(honest).fill(false)];
  if (where === "back") return [...Array(honest).fill(false), ...Array(idle).fill(true)];
  const all: boolean[] = [];
  for (let i = 0; i < honest; i++) {
    const due = Math.round((i + 1) * idlePerHonest) - Math.round(i * idlePerHonest);
    all.push(...Array(due).fill(true), false);
  }
  return all;
}

/** Idle ones check in now and then, never enter, and come again when they have lost their place. */
async function haunt(
  engine: { checkIn(ticket: Ticket): unknown },
  idle: Ticket[],
  { after }: Siege,
  join: () => Promise<Ticket | null>,
  step: number,
): Promise<void> {
  for (const [i, ticket] of idle.entries()) {
    if ((step + i) % STEPS_BETWEEN_CHECK_INS !== 0) continue;
    const answer = (await engine.checkIn(ticket)) as { kind: string; ticket?: Ticket };
    if (answer.kind === "waiting" && after === "return") idle[i] = answer.ticket!;
    if (answer.kind === "refused" || (after === "join" && answer.ticket && answer.ticket.missedTurns > 0))
      idle[i] = (await join()) ?? ticket;
  }
}
