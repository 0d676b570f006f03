/**
 * The play before a Redis: three gateways in front of one line, a crowd that asks any of them, and a fault in the
 * middle. The books are those of the crash test: they stand outside, and know nothing of gateways or of Redis.
 *
 *   the first gateway, which takes the lease ─▶ the others ─▶ a crowd, until there is a line ─▶ the fault
 *   ─▶ newcomers for a while longer ─▶ what is over is shown once more ─▶ everyone gets in
 */
import assert from "node:assert/strict";
import { seededFraction } from "../../src/sim/hand-world.ts";
import { eventually, GIVE_UP_MS } from "../../src/testing/cli/eventually.ts";
import { Control, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { Asker, Askers, pause } from "../crash/ask.ts";
import { Books, type Summary, type Violation } from "../crash/books.ts";
import { Crowd } from "../crash/crowd.ts";
import { Gate } from "../crash/gate.ts";
import { GuestBook } from "../crash/guest-book.ts";

export const TERMS = {
  ...{ capacity: 16, sessionMs: 8_000, lapseAfterMs: 10_000 },
  ...{ ticketTtlMs: 40_000, claimWindowMs: 21_000 },
};
/**
 * A place outlasts what is broken here, also where several plays share a slow machine. Nobody is told to stay away for
 * longer than half a ticket's life, and a turn lasts longer than that: whoever comes back as told does not miss theirs.
 */
const ROOM = {
  totalActiveUsers: TERMS.capacity,
  sessionDuration: `${TERMS.sessionMs}ms`,
  lapseAfter: `${TERMS.lapseAfterMs}ms`,
  claimWindow: `${TERMS.claimWindowMs}ms`,
  ticketTtl: `${TERMS.ticketTtlMs}ms`,
};
const GATEWAYS = 3;
const ARRIVALS_PER_SECOND = 20;
const AT_ONCE_MAX = 50;
/** Visitors present when the fault comes: a full site, and a line before it. */
const ABOUT_MIN = 40;
/** A visitor without an answer for this long asks another gateway. */
const PATIENCE_MS = 1_500;
const COUNT_EVERY_MS = 250;
/** So long after it is well again every gateway has heard which visits have ended; newcomers come all the while. */
const AFTERWARDS_MS = 2_500;
/** On a busy machine another gateway may hear so late of a visit that has just ended. */
const SPREAD_MAX_MS = 5_000;

export interface FaultPlan {
  /** Settings of the Redis, for each of the gateways. */
  readonly redis: object | ((gateway: number) => object);
  readonly seed: number;
  readonly gateways?: number;
  /** How long the last visitors may take once nobody new comes. */
  readonly drainMs?: number;
  /** What is done before the crowd comes. */
  readonly before?: (gates: readonly Gate[]) => Promise<void>;
}

export interface Scene {
  /** The first had the lease when the crowd came, since it was alone. */
  readonly gates: readonly Gate[];
  readonly crowd: Crowd;
  /** To be called at a kill: every place that somebody holds is at stake. */
  atStake(): void;
  /** Visitors seen on the site so far, by its own book. */
  seen(): number;
}

export interface FaultOutcome extends Summary {
  /** The most names at once by the site's own book. */
  readonly highestAtOrigin: number;
  /** Visitors who could not go on, and why; the books have the reason where there is one. */
  readonly failures: readonly string[];
  /** Turns that nobody used: mostly of places whose holder never heard of them. */
  readonly missedTurns: number;
  /** Since the beginning: when there was a line, when the fault was over, and when everyone was through. */
  readonly seconds: readonly number[];
}

export async function faultPlay(
  plan: FaultPlan,
  fault: (scene: Scene) => Promise<void>,
): Promise<FaultOutcome> {
  const seconds: number[] = [];
  const from = Date.now();
  const tick = () => seconds.push((Date.now() - from) / 1_000);
  await using parts = new AsyncDisposableStack();
  const site = parts.use(await GuestBook.open());
  const gates = await startGates(plan, site.address, parts);
  await plan.before?.(gates);
  const books = new Books(TERMS);
  const fraction = seededFraction(plan.seed);
  const crowd = new Crowd({
    addresses: gates.map(({ address }) => address),
    ...{ books, fraction, patienceMs: PATIENCE_MS },
    ...{ sessionMs: TERMS.sessionMs, spreadMs: gates.length > 1 ? SPREAD_MAX_MS : 0 },
    ...{ arrivalsPerSecond: ARRIVALS_PER_SECOND, atOnceMax: AT_ONCE_MAX },
  });
  parts.defer(() => crowd.close());
  const stopCounting = countAlways(gates, books, fraction);
  parts.defer(stopCounting);
  const seen = () => site.stays.size;
  await eventually("there is a line", () => crowd.about >= ABOUT_MIN && seen() >= TERMS.capacity);
  tick();
  const atStake = () => books.note({ kind: "killed", at: Date.now() });
  await fault({ gates, crowd, atStake, seen });
  tick();
  for (const { controlAddress } of gates)
    await eventually("every gateway is well again", async () =>
      fetch(`${controlAddress}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  await pause(AFTERWARDS_MS);
  await crowd.showAgain();
  await eventually("many have been in", () => books.passes > 2 * TERMS.capacity);
  const failure = await crowd.drain(plan.drainMs ?? GIVE_UP_MS).then(
    () => [],
    (cause: unknown) => [String(cause)],
  );
  tick();
  await stopCounting();
  return {
    ...books.close(Date.now()),
    highestAtOrigin: site.highestAtOnce(),
    failures: [...crowd.failures.map(String), ...failure],
    missedTurns: (await new Control(gates[0]!.controlAddress, TOKEN).counts()).totals.missedTurns,
    seconds,
  };
}

/** What may be out of order after a fault. */
export interface Disorder {
  /** Pairs the wrong way round, of all. */
  readonly tauBelow: number;
  /** True where someone whose turn went loose unheard may wait while a later one is in. */
  readonly mayBeOvertaken: boolean;
}

/** What every play must come to, whatever the fault was. Without `disorder`, the order is exact. */
export function assertKept(outcome: FaultOutcome, disorder?: Disorder): void {
  const { violations, failures, ...numbers } = outcome;
  const said = JSON.stringify(numbers);
  const isAllowed = disorder !== undefined && numbers.tau < disorder.tauBelow;
  const isExcused = ({ wrong }: Violation) =>
    isAllowed && (wrong === "wrong order" || (wrong === "overtaken" && disorder.mayBeOvertaken));
  assert.deepEqual(
    violations.filter((violation) => !isExcused(violation)),
    [],
  );
  assert.deepEqual(failures, [], said);
  assert.ok(isAllowed || numbers.tau === 0, said);
  assert.equal(numbers.placesKept, numbers.placesAtStake, said);
  assert.ok(numbers.placesAtStake > 0 && numbers.passes > 2 * numbers.capacity, said);
  assert.ok(numbers.highestAtOrigin <= numbers.capacity, said);
}

async function startGates(plan: FaultPlan, origin: string, parts: AsyncDisposableStack): Promise<Gate[]> {
  const gates: Gate[] = [];
  for (let i = 0; i < (plan.gateways ?? GATEWAYS); i++) {
    const redis = typeof plan.redis === "function" ? plan.redis(i) : plan.redis;
    gates.push(parts.use(await Gate.make({ origin, room: ROOM, dataFolder: null, redis })));
  }
  const [first, ...others] = gates;
  await first!.start();
  await Promise.all(others.map((gate) => gate.start()));
  return gates;
}

/** Has any gateway count who is on the site, again and again; returns the way to stop. */
function countAlways(gates: readonly Gate[], books: Books, fraction: () => number): () => Promise<void> {
  const askers = gates.map(({ controlAddress }) => new Asker(controlAddress, 1, PATIENCE_MS));
  const asker = new Askers(askers, fraction);
  let isOpen = true;
  const work = (async () => {
    for (; isOpen; await pause(COUNT_EVERY_MS)) {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const answer = await asker.ask({ method: "GET", path: "/rooms/main", headers });
      if (answer?.status !== 200) continue;
      const { onSite, admitted } = answer.json.counts as { onSite: number; admitted: number };
      books.note({ kind: "counted", askedAt: answer.askedAt, at: answer.at, onSite, admitted });
    }
  })();
  return async () => {
    isOpen = false;
    await work;
    asker.close();
  };
}
