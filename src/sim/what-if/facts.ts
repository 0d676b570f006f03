/** The findings as rows of text, in sections: used by the terminal's table and the report's tables, so that both say the same. */
import type { DoorReason } from "../../core/engine.ts";
import type { Findings } from "./findings.ts";
import { slotMs } from "./verdict.ts";
import { countText, limitWords, shareWords, spanWords } from "./words.ts";

export interface Section {
  readonly title: string;
  readonly rows: readonly (readonly [label: string, value: string])[];
}

export function questionOf({ room, crowd }: Findings): string {
  const { shape, overMs } = crowd;
  const come = crowd.size === 1 ? "visitor comes" : "visitors come";
  return `What if ${countText(crowd.size)} ${come} to the room ${room} within ${spanWords(overMs)} (${shape})?`;
}

export function factsOf(findings: Findings): Section[] {
  return [
    { title: "Waits of those who got in", rows: waitRows(findings) },
    { title: "Visitors", rows: peopleRows(findings) },
    { title: "The line", rows: lineRows(findings) },
    { title: "Capacity", rows: capacityRows(findings) },
    { title: "Fairness", rows: fairnessRows(findings) },
  ];
}

export function inputsOf(findings: Findings): Section[] {
  return [
    { title: "Settings", rows: settingRows(findings) },
    { title: "Crowd", rows: crowdRows(findings) },
  ];
}

type Rows = Section["rows"];

function waitRows({ waits }: Findings): Rows {
  const words = (ms: number | null) => (ms === null ? "nobody got in" : spanWords(ms));
  return [
    ["half wait at most (p50)", words(waits.p50Ms)],
    ["90% wait at most (p90)", words(waits.p90Ms)],
    ["95% wait at most (p95)", words(waits.p95Ms)],
    ["99% wait at most (p99)", words(waits.p99Ms)],
    ["longest", words(waits.maxMs)],
    ["mean", words(waits.meanMs)],
  ];
}

function peopleRows({ people, crowd }: Findings): Rows {
  const of = (number: number) => `${countText(number)} (${shareWords(number / crowd.size)})`;
  const because = Object.entries(people.turnedAwayBecause).map(([reason, n]) => `${reason} ${countText(n)}`);
  const rows: [string, string, boolean][] = [
    ["straight through", of(people.straightThrough), true],
    ["in after a wait", of(people.afterWaiting), true],
    ["gave up waiting", of(people.gaveUp), people.gaveUp > 0 || crowd.impatient > 0],
    ["did not use their turn", of(people.noShow), people.noShow > 0 || crowd.noShow > 0],
    ["turned away", `${of(people.turnedAway)}: ${because.join(", ")}`, people.turnedAway > 0],
    ["still waiting at the end", of(people.stillWaiting), people.stillWaiting > 0],
  ];
  return rows.filter(([, , isShown]) => isShown).map(([label, value]) => [label, value]);
}

function lineRows({ line, checkIns, endedMs }: Findings): Rows {
  const longest =
    line.longest === 0 ? "no line" : `${countText(line.longest)}, after ${spanWords(line.longestAtMs)}`;
  const empty =
    line.longest === 0
      ? "always"
      : line.emptyAtMs === null
        ? "not within the run"
        : `after ${spanWords(line.emptyAtMs)}`;
  const perSecond = checkIns / Math.max(1, endedMs / 1_000);
  return [
    ["longest", longest],
    ["empty", empty],
    ["check-ins", `${countText(checkIns)} (${countText(perSecond)} a second)`],
  ];
}

const REASON_WORDS: Readonly<Record<DoorReason, string>> = {
  "line empty": "nothing",
  "site full": "the site is full",
  rate: "the rate",
  paused: "paused",
  "not started": "not started yet",
  closed: "closed",
};

function capacityRows({ capacity, admissions, reasons }: Findings): Rows {
  const { slots, peak, mean, fullShare } = capacity;
  const of = (used: number) =>
    slots === null
      ? countText(used)
      : `${countText(used)} of ${countText(slots)} (${shareWords(used / slots)})`;
  const held = Object.entries(reasons)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, share]) => `${REASON_WORDS[reason as DoorReason]} ${shareWords(share)}`);
  const limit =
    admissions.limitPerMinute === null ? "no limit" : `limit ${countText(admissions.limitPerMinute)}`;
  return [
    ["slots taken, peak", of(peak)],
    ["slots taken, mean", of(mean)],
    ["full", slots === null ? "no limit" : `${shareWords(fullShare)} of the time`],
    ["let in a minute, peak", `${countText(admissions.peakPerMinute)} (${limit})`],
    ["let in a minute, mean", `${countText(admissions.meanPerMinute)} (${limit})`],
    ["people wait because of", held.length === 0 ? "nobody waits" : held.join(", ")],
  ];
}

function fairnessRows({ fairness, promise, rules, event }: Findings): Rows {
  const { kendallTau, displacementMax } = fairness;
  const order = kendallTau === 0 ? "0, exactly as they came" : String(kendallTau);
  const isByLot = rules.queueingMethod === "random" || event?.isShuffled === true;
  const lot = isByLot && kendallTau > 0 ? ", by lot as set" : "";
  const { medianRatio, withinRange } = promise;
  return [
    ["out of order (Kendall tau)", `${order}${lot}`],
    ["largest displacement", `${countText(displacementMax)} places`],
    ["wait told on joining", medianRatio === null ? "nobody was told one" : ratioWords(medianRatio)],
    ["waits within the range told", withinRange === null ? "nobody was told one" : shareWords(withinRange)],
  ];
}

function ratioWords(ratio: number): string {
  const times = (value: number) => value.toLocaleString("en", { maximumFractionDigits: 1 });
  if (ratio < 0.9) return `${times(1 / Math.max(ratio, 1e-3))} times too long, at the median`;
  if (ratio > 1.1) return `${times(ratio)} times too short, at the median`;
  return "about right, at the median";
}

function settingRows({ rules, capacity, event }: Findings): Rows {
  const slots = rules.totalActiveUsers;
  const shared =
    capacity.slots !== null && capacity.slots !== slots ? `, ${countText(capacity.slots)} by the budget` : "";
  return [
    ["totalActiveUsers", `${limitWords(slots)}${shared}`],
    ["newUsersPerMinute", limitWords(rules.newUsersPerMinute)],
    ["queueingMethod", rules.queueingMethod],
    [
      "sessionDuration",
      `${spanWords(rules.sessionDurationMs)}${rules.disableSessionRenewal ? ", not renewed" : ""}`,
    ],
    ["claimWindow", `${spanWords(rules.claimWindowMs)}${rules.fillNoShows ? ", with fillNoShows" : ""}`],
    ...(event ? [["event", eventWords(event)] as const] : []),
  ];
}

function eventWords({ name, opensMs }: NonNullable<Findings["event"]>): string {
  return opensMs === 0 ? `${name}, under way` : `${name}, opens after ${spanWords(opensMs)}`;
}

function crowdRows({ crowd, rules }: Findings): Rows {
  return [
    ["visitors", `${countText(crowd.size)}, ${crowd.shape}, within ${spanWords(crowd.overMs)}`],
    ["use the site for", `${spanWords(crowd.stayMs)} on average`],
    ["a slot is taken for", `${spanWords(slotMs(rules, crowd))} on average`],
    ["give up waiting", shareWords(crowd.impatient)],
    ["do not use their turn", shareWords(crowd.noShow)],
    ["say so when they go", shareWords(crowd.leave)],
    ["seed", String(crowd.seed)],
  ];
}
