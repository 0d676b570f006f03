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
 * A place outlasts the fault, even where several plays share a slow machine. No visitor is told to stay away for longer than half
 * a ticket's life, and a turn lasts longer than that, so visitors who come back as told do not miss theirs.
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
/** A visitor who gets no answer for this long asks another gateway. */
const PATIENCE_MS = 1_500;
const COUNT_EVERY_MS = 250;
/** This long after the fault is over, every gateway has learned which visits have ended; newcomers keep coming. */
const AFTERWARDS_MS = 2_500;
/** On a busy machine another gateway may learn this late of a visit that has ended. */
const SPREAD_MAX_MS = 5_000;

export interface FaultPlan {
  /** Settings of the Redis, for each of the gateways. */
  readonly redis: object | ((gateway: number) => object);
  readonly seed: number;
  readonly gateways?: number;
  /** How long the last visitors may take once nobody new arrives. */
  readonly drainMs?: number;
  /** Runs before the crowd comes. */
  readonly before?: (gates: readonly Gate[]) => Promise<void>;
}

export interface Scene {
  /** The first has the lease when the crowd comes, since it was alone. */
  readonly gates: readonly Gate[];
  readonly crowd: Crowd;
  /** Marks every place as at stake; called at a kill. */
  atStake(): void;
  /** Visitors seen on the site so far, by the site's own book. */
  seen(): number;
}

export interface FaultOutcome extends Summary {
  /** The most visitors on the site at once, by the site's own book. */
  readonly highestAtOrigin: number;
  /** Visitors who could not go on, and why; explained by the books where they can. */
  readonly failures: readonly string[];
  /** Unused turns: mostly of places whose holders never learned of them. */
  readonly missedTurns: number;
  /** Seconds since the beginning: when there was a line, when the fault was over, and when everyone was through. */
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
  /** The share of pairs in the wrong order. */
  readonly tauBelow: number;
  /** True where a visitor whose turn went loose unheard may wait while a later one is in. */
  readonly mayBeOvertaken: boolean;
}

/** What must hold after every play, whatever the fault was. Without `disorder`, the order is exact. */
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

/** Asks a random gateway for its counts again and again; returns a function that stops it. */
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
