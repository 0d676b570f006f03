/**
 * The play: a crowd, an operator and a gateway that is killed with -9 again and again at random instants, sometimes while it is
 * still starting. The books say what came of it. The test plays a short one, the bench a long one.
 */
import { seededFraction } from "../../src/sim/hand-world.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ownFolder } from "../../src/testing/cli/fairgate.ts";
import { pause } from "./ask.ts";
import { Books, type Summary } from "./books.ts";
import { Crowd } from "./crowd.ts";
import { Gate } from "./gate.ts";
import { GuestBook } from "./guest-book.ts";
import { Operator } from "./operator.ts";

/**
 * A ticket outlasts a gateway that takes very long to start again; the claim window is longer than anybody stays away as told.
 */
const TERMS = {
  ...{ capacity: 16, sessionMs: 8_000, lapseAfterMs: 10_000 },
  ...{ ticketTtlMs: 24_000, claimWindowMs: 13_000 },
};
/** This share of the gateway's lives is ended while it is still starting. */
const KILLED_WHILE_STARTING = 0.15;
const STARTING_MS = 500;

export interface Plan {
  readonly kills: number;
  readonly seed: number;
  /** How long a life lasts once it answers. */
  readonly lifeMs: { readonly low: number; readonly high: number };
  /** A life goes on until this is true, however slow the machine is. */
  readonly isRipe?: (so: { readonly kills: number; readonly crowd: Crowd; readonly books: Books }) => boolean;
  /** A pass's lifetime; longer than a restart takes where what is over is to be accepted again. */
  readonly sessionMs?: number;
  readonly arrivalsPerSecond: number;
  /** Nobody arrives while this many are about. */
  readonly atOnceMax: number;
  /** How long the last visitors may take once nobody new arrives. */
  readonly drainMs: number;
  /** False: it stores nothing, and the books must show it. */
  readonly keepsData: boolean;
  readonly through?: readonly string[];
  readonly progress?: (text: string) => void;
}

export interface Outcome extends Summary {
  /** The most visitors on the site at once, by the site's own book. */
  readonly highestAtOrigin: number;
  readonly restartsMs: readonly number[];
  /** Visitors who could not go on, and why; explained by the books where they can. */
  readonly failures: readonly string[];
  readonly seconds: number;
}

export async function play(plan: Plan): Promise<Outcome> {
  const from = Date.now();
  using data = ownFolder();
  await using site = await GuestBook.open();
  const dataFolder = plan.keepsData ? data.path : null;
  const terms = { ...TERMS, sessionMs: plan.sessionMs ?? TERMS.sessionMs };
  await using gate = await Gate.make({ origin: site.address, room: roomOf(terms), dataFolder });
  const { through = [] } = plan;
  await gate.start({ through });
  const books = new Books(terms);
  const fraction = seededFraction(plan.seed);
  const { address } = gate;
  const { sessionMs, capacity } = terms;
  const { arrivalsPerSecond, atOnceMax } = plan;
  const crowd = new Crowd({
    ...{ addresses: [address], books, sessionMs, fraction },
    ...{ arrivalsPerSecond, atOnceMax },
  });
  const operator = new Operator({ address: gate.controlAddress, books, crowd, capacity, fraction });
  const restartsMs: number[] = [];
  const between = ({ low, high }: Plan["lifeMs"]) => low + (high - low) * fraction();
  const kill = async () => {
    await gate.end("SIGKILL");
    books.note({ kind: "killed", at: Date.now() });
  };
  let kills = 0;
  const live = async () => {
    await pause(between(plan.lifeMs));
    await eventually("it is ripe", () => plan.isRipe?.({ kills, crowd, books }) ?? true);
  };
  try {
    while (kills < plan.kills) {
      await live();
      await kill();
      kills++;
      if (kills < plan.kills && fraction() < KILLED_WHILE_STARTING) {
        gate.spawn({ through });
        await pause(fraction() * STARTING_MS);
        await kill();
        kills++;
      }
      restartsMs.push(await gate.start({ through }));
      await operator.count();
      void crowd.showAgain().catch(() => {});
      plan.progress?.(`${kills} of ${plan.kills} kills, ${books.violations.length} violations`);
    }
    await live();
    await operator.finish();
    const failure = await crowd.drain(plan.drainMs).then(
      () => [],
      (cause: unknown) => [String(cause)],
    );
    const summary = books.close(Date.now());
    return {
      ...summary,
      highestAtOrigin: site.highestAtOnce(),
      restartsMs,
      failures: [...crowd.failures.map(String), ...failure],
      seconds: (Date.now() - from) / 1_000,
    };
  } finally {
    operator.close();
    await crowd.close();
  }
}

function roomOf({ capacity, sessionMs, lapseAfterMs, claimWindowMs, ticketTtlMs }: typeof TERMS) {
  return {
    totalActiveUsers: capacity,
    sessionDuration: `${sessionMs}ms`,
    lapseAfter: `${lapseAfterMs}ms`,
    claimWindow: `${claimWindowMs}ms`,
    ticketTtl: `${ticketTtlMs}ms`,
  };
}
