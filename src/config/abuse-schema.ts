/**
 * A room's settings against abuse: how many places one address or network may ask for, a place only at the second
 * contact, work to be done for it, and tickets that only the browser or network they were given to may use. All of it
 * is off unless it is set.
 */
import { z } from "zod";
import { choice, count, isTrue } from "./kinds.ts";
import { type Finding, formatPath, type Path } from "./problem.ts";
import type { Known } from "./salvage.ts";

export const JOINS_PER_MINUTE_MAX = 100_000;
/** Some seventeen million hashes: a computer is busy for ten seconds with them, an old telephone for minutes. */
export const WORK_BITS_MAX = 24;

const joins = () => count({ min: 1, max: JOINS_PER_MINUTE_MAX }).nullable().prefault(null);
const bits = () => count({ min: 1, max: WORK_BITS_MAX });

const proofOfWorkSchema = z.strictObject({
  easiest: bits()
    .prefault(12)
    .describe("How hard it is while few join, in bits: each bit more is twice the work. 12 is not noticed."),
  hardest: bits()
    .prefault(20)
    .describe(
      "How hard it gets at most: 20 keeps a computer busy for about a second and an old telephone for ten. At least `easiest`.",
    ),
  joinsPerSecond: count({ min: 1, max: 1_000_000 })
    .prefault(50)
    .describe("Up to this many joins a second it stays easiest; each doubling of them is one bit more."),
});

export const abuseSchema = z.strictObject({
  joinsPerMinutePerAddress: joins().describe(
    "The most visitors from one address (with IPv6, one /64) that may join per minute; after a quiet minute as many again at once. Many people can share an address. Behind a proxy this needs `trustedProxies`, or everybody has the proxy's address. null: no such limit.",
  ),
  joinsPerMinutePerNetwork: joins().describe(
    "The same for a whole network: an IPv4 /24 or an IPv6 /48. At least `joinsPerMinutePerAddress`.",
  ),
  entryDelay: isTrue()
    .prefault(false)
    .describe(
      "true: a newcomer gets a place only at the second contact, a second after the first. Browsers come back by themselves; programs that keep nothing never get a place.",
    ),
  proofOfWork: proofOfWorkSchema
    .nullable()
    .prefault(null)
    .describe(
      "A small task that a newcomer's browser solves before it gets a place, harder the more people join. Visitors without JavaScript cannot join then. null: none.",
    ),
  bindTickets: choice(["none", "userAgent", "network"])
    .prefault("none")
    .describe(
      "Tickets and passes are good only in the browser (`userAgent`) or the network (`network`) they were given to. People whose browser is updated, or who go from home to the street, lose their place by it.",
    ),
});

export type AbuseSettings = z.output<typeof abuseSchema>;

/** Problems between these settings. */
export function checkAbuse(abuse: Known<AbuseSettings>, path: Path): Finding[] {
  return [...checkBudgets(abuse, path), ...checkWork(abuse, path)];
}

function checkBudgets(abuse: Known<AbuseSettings>, path: Path): Finding[] {
  const { joinsPerMinutePerAddress: address, joinsPerMinutePerNetwork: network } = abuse;
  if (address == null || network == null || network >= address) return [];
  const at = [...path, "joinsPerMinutePerNetwork"];
  const message = `${formatPath(at)} is ${network}, which is less than joinsPerMinutePerAddress, ${address}`;
  const hint = "One address could never use what it has. It should be at least as much.";
  return [{ code: "conflict", path: at, at: "value", message, hint }];
}

function checkWork({ proofOfWork: work }: Known<AbuseSettings>, path: Path): Finding[] {
  if (work?.easiest === undefined || work.hardest === undefined || work.hardest >= work.easiest) return [];
  const at = [...path, "proofOfWork", "hardest"];
  const message = `${formatPath(at)} is ${work.hardest}, which is less than easiest, ${work.easiest}`;
  return [{ code: "conflict", path: at, at: "value", message, hint: "It should be at least easiest." }];
}
