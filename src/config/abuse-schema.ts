/**
 * A room's settings against abuse: how many places one address or network may ask for, a place only at the second
 * contact, proof of work, and tickets bound to the browser or network they were given to. All of it is off by default.
 */
import { z } from "zod";
import { choice, count, isTrue, setting } from "./kinds.ts";
import { type Finding, formatPath, type Path } from "./problem.ts";
import type { Known } from "./salvage.ts";

export const JOINS_PER_MINUTE_MAX = 100_000;
/** About seventeen million hashes: ten seconds of work for a computer, minutes for an old phone. */
export const WORK_BITS_MAX = 24;

const joins = () => setting(count({ min: 1, max: JOINS_PER_MINUTE_MAX }), null);
const bits = (usual: number) => setting(count({ min: 1, max: WORK_BITS_MAX }), usual);

const proofOfWorkSchema = z.strictObject({
  easiest: bits(12).describe(
    "How hard the work is while few join, in bits: each further bit doubles the work. 12 is not noticed.",
  ),
  hardest: bits(20).describe(
    "The hardest the work gets, in bits: 20 takes a computer about a second and an old phone ten. At least `easiest`.",
  ),
  joinsPerSecond: setting(count({ min: 1, max: 1_000_000 }), 50).describe(
    "Up to this many joins per second the work stays at `easiest`; each doubling of them adds one bit.",
  ),
});

export const abuseSchema = z.strictObject({
  joinsPerMinutePerAddress: joins().describe(
    "The most visitors from one IP address (IPv6: one /64) that may join per minute; after a quiet minute the same number may join at once. Many people can share an address. Behind a proxy this needs `trustedProxies`, or all visitors have the proxy's address. null: no such limit.",
  ),
  joinsPerMinutePerNetwork: joins().describe(
    "The same for a network: an IPv4 /24 or an IPv6 /48. At least `joinsPerMinutePerAddress`. null: no such limit.",
  ),
  entryDelay: setting(isTrue(), false).describe(
    "true: a newcomer gets a place only at the second contact, a second after the first. Browsers come back by themselves; clients that keep no cookies never get a place.",
  ),
  proofOfWork: setting(proofOfWorkSchema, null).describe(
    "A small computation that a newcomer's browser does before it gets a place, harder the more people join. Visitors without JavaScript cannot join then. null: none.",
  ),
  bindTickets: setting(choice(["none", "userAgent", "network"]), "none").describe(
    "Tickets and passes are valid only in the browser (`userAgent`) or the network (`network`) they were given to. Visitors whose browser is updated, or who change from Wi-Fi to mobile, lose their place.",
  ),
});

export type AbuseSettings = z.output<typeof abuseSchema>;

/** Problems between these settings. */
export function checkAbuse(abuse: Known<AbuseSettings>, path: Path): Finding[] {
  return [...checkJoins(abuse, path), ...checkWork(abuse, path)];
}

function checkJoins(abuse: Known<AbuseSettings>, path: Path): Finding[] {
  const { joinsPerMinutePerAddress: address, joinsPerMinutePerNetwork: network } = abuse;
  if (address == null || network == null || network >= address) return [];
  const at = [...path, "joinsPerMinutePerNetwork"];
  const message = `${formatPath(at)} is ${network}, which is less than joinsPerMinutePerAddress, ${address}`;
  const hint = "One address could never use its own limit. It should be at least as high.";
  return [{ code: "conflict", path: at, at: "value", message, hint }];
}

function checkWork({ proofOfWork: work }: Known<AbuseSettings>, path: Path): Finding[] {
  if (work?.easiest === undefined || work.hardest === undefined || work.hardest >= work.easiest) return [];
  const at = [...path, "proofOfWork", "hardest"];
  const message = `${formatPath(at)} is ${work.hardest}, which is less than easiest, ${work.easiest}`;
  return [{ code: "conflict", path: at, at: "value", message, hint: "It should be at least easiest." }];
}
