/**
 * Clocks. The line goes by the clock of the Redis that holds it, so gateways' own do not matter there; but tickets and
 * passes are dated by gateways, and after a failover the line goes by another server's clock.
 */
import { RedisProblem } from "../../engines/redis/link/problem.ts";
import type { ServerFacts } from "./facts.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

const CAUTION_MS = 2_000;
const PROBLEM_MS = 60_000;
const SET = "Let all machines take their time from the same source (NTP).";

/** The servers' clocks beside ours and beside each other; one verdict for each. */
export function checkClocks(all: readonly ServerFacts[]): DoctorVerdict[] {
  const told = all.filter(({ clockAheadMs }) => typeof clockAheadMs === "number");
  return [...untold(all), ...besideOurs(told), ...besideEachOther(told)];
}

function untold(all: readonly ServerFacts[]): DoctorVerdict[] {
  return all
    .filter(({ clockAheadMs }) => clockAheadMs instanceof RedisProblem)
    .map(({ where }) =>
      about("clock", where).caution(
        "Its clock cannot be seen (TIME is not allowed).",
        "Allow this user +time.",
      ),
    );
}

function besideOurs(told: readonly ServerFacts[]): DoctorVerdict[] {
  const [worst] = told.toSorted((a, b) => Math.abs(ahead(b)) - Math.abs(ahead(a)));
  if (!worst) return [];
  const off = Math.abs(ahead(worst));
  const way = ahead(worst) > 0 ? "ahead of" : "behind";
  if (off <= CAUTION_MS)
    return [about("clock").ok(`No server is more than ${seconds(CAUTION_MS)} off this machine's clock.`)];
  const is = `${seconds(off)} ${way} this machine's clock, by which tickets and passes are dated.`;
  return [byDifference(off, worst.where, is)];
}

function besideEachOther(told: readonly ServerFacts[]): DoctorVerdict[] {
  const sorted = told.toSorted((a, b) => ahead(a) - ahead(b));
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (!first || !last) return [];
  const apart = ahead(last) - ahead(first);
  if (apart <= CAUTION_MS) return [];
  const is = `${seconds(apart)} ahead of the clock of ${first.where}: after a failover the line may stand still for that long.`;
  return [byDifference(apart, last.where, is)];
}

function byDifference(offMs: number, where: string, is: string): DoctorVerdict {
  const clock = about("clock", where);
  return offMs > PROBLEM_MS ? clock.problem(is, SET) : clock.caution(is, SET);
}

function ahead({ clockAheadMs }: ServerFacts): number {
  return clockAheadMs as number;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
