/**
 * The answer in a sentence, and what to do about it: which setting kept people waiting. Both follow from the findings alone: the
 * limit is the reason that the door itself gave for most of the time that people waited.
 */
import { PRESENCE_GRACE_MS } from "../../core/pass.ts";
import { type DoorRules, isHeld } from "../../core/rules.ts";
import { type CrowdOptions, NOTICE_MAX_MS } from "./crowd-plan.ts";
import type { Findings } from "./findings.ts";
import { counted, countText, shareWords, spanWords } from "./words.ts";

const MINUTE_MS = 60_000;

/** The outcome in a sentence. */
export function verdictOf(findings: Findings): string {
  const { people, line, waits, crowd } = findings;
  const entered = people.straightThrough + people.afterWaiting;
  if (entered === 0) return nobodyIn(findings);
  if (people.turnedAway > 0) {
    const gone = `${countText(people.turnedAway)} of ${countText(crowd.size)} are turned away`;
    return `${gone}; ${countText(entered)} are in after ${spanWords(line.lastEnteredMs!)}.`;
  }
  if (people.stillWaiting > 0) {
    const left = `After ${spanWords(findings.endedMs)} ${countText(people.stillWaiting)} are still waiting`;
    return `${left}; ${countText(entered)} are in. The line is never longer than ${countText(line.longest)}.`;
  }
  if (people.afterWaiting === 0 && line.longest === 0)
    return `Nobody waits: ${everybody(findings)} goes straight through.`;
  const half = `half wait longer than ${spanWords(waits.p50Ms!)}`;
  const some =
    waits.p50Ms! > 0
      ? half
      : `${shareWords(people.afterWaiting / entered)} wait, for ${spanWords(waits.maxMs!)} at most`;
  const end = `${capital(everybody(findings))} is in after ${spanWords(line.lastEnteredMs!)}`;
  return `${end}; ${some}; the line is never longer than ${countText(line.longest)}.`;
}

/** The limit that kept people waiting, and what would change it; null when none did. */
export function limitOf(findings: Findings): string | null {
  const { "site full": full = 0, rate = 0 } = findings.reasons;
  if (full === 0 && rate === 0) return null;
  return full >= rate ? slotsLimit(findings) : rateLimit(findings);
}

function slotsLimit({ capacity, crowd, rules, admissions, reasons }: Findings): string {
  const slots = capacity.slots ?? 0;
  const takenMs = slotMs(rules, crowd);
  const perMinute = slots / (takenMs / MINUTE_MS);
  const name = slots === rules.totalActiveUsers ? "totalActiveUsers" : "budget";
  const which = `The setting ${name} (${countText(slots)}) is what limits, for ${shareWords(reasons["site full"] ?? 0)} of the time that people wait.`;
  const flow = `A slot is taken for ${spanWords(takenMs)} on average, so ${counted(slots, "slot")} let in about ${countText(perMinute)} a minute`;
  const { limitPerMinute } = admissions;
  const beside =
    limitPerMinute !== null && limitPerMinute > perMinute
      ? `, below newUsersPerMinute (${countText(limitPerMinute)})`
      : "";
  return `${which} ${flow}${beside}.${idleWords(rules, crowd, takenMs)}`;
}

/** How much of a slot's time is unused. */
function idleWords(rules: DoorRules, { leave }: CrowdOptions, takenMs: number): string {
  const idleMs = (1 - leave) * rules.sessionDurationMs;
  if (rules.disableSessionRenewal || idleMs < takenMs / 4) return "";
  const idle = `${spanWords(idleMs)} of that is after the last request, until the pass has run out`;
  return ` ${idle}: a shorter sessionDuration, or a site that ends visits, lets more in.`;
}

function rateLimit({ capacity, admissions, reasons }: Findings): string {
  const limit = `newUsersPerMinute (${countText(admissions.limitPerMinute ?? 0)})`;
  const which = `The setting ${limit} is what limits, for ${shareWords(reasons.rate ?? 0)} of the time that people wait.`;
  const most = `At most ${counted(capacity.peak, "visitor")} are on the site at once`;
  if (capacity.slots === null) return `${which} ${most}; there is no totalActiveUsers to hold them back.`;
  return `${which} ${most}, ${shareWords(capacity.peak / capacity.slots)} of totalActiveUsers (${countText(capacity.slots)}).`;
}

/** How long a slot is taken on average, from the turn until it is free again. */
export function slotMs(rules: DoorRules, { stayMs, leave }: CrowdOptions): number {
  const { sessionDurationMs: session, disableSessionRenewal } = rules;
  // Exponential stays, cut off at the session's end if there is one.
  const cutMs = stayMs === 0 ? 0 : stayMs * (1 - Math.exp(-session / stayMs));
  const leavingMs = disableSessionRenewal ? cutMs : stayMs;
  const silentMs = (disableSessionRenewal ? session : stayMs + session) + PRESENCE_GRACE_MS;
  return NOTICE_MAX_MS / 2 + leave * leavingMs + (1 - leave) * silentMs;
}

function nobodyIn({ rules, people, crowd }: Findings): string {
  const [reason] = Object.keys(people.turnedAwayBecause);
  if (rules.closed) return "Nobody gets in: the room is closed.";
  if (people.turnedAway === crowd.size) return `Nobody gets in: all are turned away (${reason}).`;
  if (isHeld(rules)) {
    const setting = rules.paused ? "paused" : "queueAll";
    return `Nobody gets in: ${setting} is set, and ${countText(people.stillWaiting)} wait for its end.`;
  }
  return `Nobody gets in; ${countText(people.stillWaiting)} are still waiting when the run ends.`;
}

function everybody({ people }: Findings): string {
  return people.gaveUp + people.noShow > 0 ? "everybody who stays" : "everybody";
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
