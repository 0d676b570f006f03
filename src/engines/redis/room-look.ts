/** What Redis tells of a room, as the figures that boards and counts are made of. */
import { limitsAt } from "../../core/adaptive.ts";
import type { AdjusterMemo } from "../../core/adjuster.ts";
import { seedHash } from "../../core/draw.ts";
import { NO_TOTALS, type Totals } from "../../core/engine.ts";
import type { Turn } from "../../core/fairness.ts";
import type { RoomFigures } from "../../core/room-view.ts";
import type { RoomWaits } from "../../core/room-waits.ts";
import type { DoorRules, EventRules, RoomRules } from "../../core/rules.ts";
import { phaseAt } from "../../core/schedule.ts";
import type { WaitAccuracy } from "../../core/told-waits.ts";

/** What the function `look` gives. Sequences are texts, since JSON there has 14 digits. */
export interface Look {
  readonly now: number;
  readonly waiting: number;
  readonly admitted: number;
  readonly looseTurns: number;
  readonly onSite: number;
  readonly lapsed: number;
  readonly share: number;
  readonly isAwake: boolean;
  readonly noShows: number;
  readonly perMs: string;
  readonly totals: Readonly<Record<string, string>>;
  readonly lanes: readonly LaneLook[];
  readonly draws?: readonly DrawLook[];
  /** Sequence and time of the latest admissions. */
  readonly recent?: string;
  /** What standby and the adaptive loop remember, as JSON. */
  readonly memo?: string;
  /** How good the waits told were, as JSON. */
  readonly waitAccuracy?: string;
}

interface LaneLook {
  readonly lane: number;
  readonly waiting: number;
  readonly admitted: number;
  readonly highest?: string;
  /** Ranks and sequences, alternating. Lua encodes an empty list as an empty object. */
  readonly marks: readonly (number | string)[] | Record<string, never>;
}

/** A draw as it is kept. */
export interface DrawLook {
  readonly event: string;
  readonly number: number;
  readonly seed: string;
  readonly seedHash: string;
  readonly startAt: number;
  readonly drawnAt?: number;
  /** The name of its pool. */
  readonly pool: number;
  readonly size: number;
}

/** The figures of a room in Redis, whose line is known at some ranks only. */
export interface MarkedFigures extends RoomFigures {
  rankNear(lane: number, rank: number): number | null;
}

/** For a room that Redis has not told of yet. */
export function emptyLook(now: number): Look {
  const nobody = { waiting: 0, admitted: 0, looseTurns: 0, onSite: 0, lapsed: 0, noShows: 0 };
  return { now, ...nobody, share: 1, isAwake: false, perMs: "0", totals: {}, lanes: [] };
}

/** `waits`: those worked out by this gateway, if it does that. */
export function figuresOf(name: string, roomRules: RoomRules, look: Look, waits?: RoomWaits): MarkedFigures {
  const { now, waiting, admitted, looseTurns, onSite, lapsed, noShows, share } = look;
  const phase = phaseAt(roomRules, now);
  const rules = loweredBy(share, phase.rules);
  const lanes = new Map(look.lanes.map((lane) => [lane.lane, lane]));
  return {
    ...{ name, now, roomRules, rules, phase, waiting, admitted, looseTurns, onSite, lapsed, noShows },
    isActive: phase.rules.standby === null || look.isAwake,
    remarks: memoOf(look)?.remarks ?? [],
    totals: totalsOf(look),
    pace: { perMs: () => Number(look.perMs) },
    waitCurve: (lane) => waits?.curve(rules, lane, now) ?? null,
    waitAccuracy: () => JSON.parse(look.waitAccuracy ?? "null") as WaitAccuracy | null,
    waitingIn: (lane) => lanes.get(lane)?.waiting ?? 0,
    sequenceAt: (lane, rank) => sequenceAt(lanes.get(lane), rank),
    rankNear: (lane, rank) => rankNear(lanes.get(lane), rank),
    highestAdmitted: (lane) => Number(lanes.get(lane)?.highest ?? 0),
    admittedIn: (lane) => lanes.get(lane)?.admitted ?? 0,
    recent: () => turnsIn(look.recent ?? ""),
    announce: (event) => announced(look, event),
  };
}

const lowered = new WeakMap<DoorRules, { readonly share: number; readonly rules: DoorRules }>();

/** The rules with this share of their limits: the same object each time, since rules that change end comparisons. */
function loweredBy(share: number, rules: DoorRules): DoorRules {
  if (share === 1 || rules.adaptive === null) return rules;
  const known = lowered.get(rules);
  if (known?.share === share) return known.rules;
  const limited = { ...rules, ...limitsAt(rules, share) };
  lowered.set(rules, { share, rules: limited });
  return limited;
}

export function memoOf({ memo }: Look): AdjusterMemo | null {
  return memo === undefined ? null : (JSON.parse(memo) as AdjusterMemo);
}

/** The draw of an event: one whose start was moved before it was drawn stays the same. */
export function drawOf({ draws = [] }: Look, { name, startAt }: EventRules): DrawLook | undefined {
  return draws.find(
    (draw) => draw.event === name && (draw.startAt === startAt || draw.drawnAt === undefined),
  );
}

function rankNear(lane: LaneLook | undefined, rank: number): number | null {
  const marks = (lane?.marks ?? []) as readonly (number | string)[];
  let nearest: number | null = null;
  for (let i = 0; i < marks.length; i += 2) {
    const known = marks[i] as number;
    if (nearest === null || Math.abs(known - rank) < Math.abs(nearest - rank)) nearest = known;
  }
  return nearest;
}

function sequenceAt(lane: LaneLook | undefined, rank: number): number {
  const marks = (lane?.marks ?? []) as readonly (number | string)[];
  for (let i = 0; i < marks.length; i += 2) if (marks[i] === rank) return Number(marks[i + 1]);
  throw new Error(`Redis gave no mark for rank ${rank}`);
}

function totalsOf({ totals }: Look): Totals {
  const known = Object.entries(totals).map(([name, value]) => [name, Number(value)]);
  return { ...NO_TOTALS, ...Object.fromEntries(known) };
}

function turnsIn(recent: string): Turn[] {
  const numbers = recent === "" ? [] : recent.split(" ").map(Number);
  const turns: Turn[] = [];
  for (let i = 0; i < numbers.length; i += 2) turns.push({ joined: numbers[i]!, admitted: numbers[i + 1]! });
  return turns;
}

function announced(look: Look, event: EventRules): { seedHash: string; seed: string | null } {
  const draw = drawOf(look, event);
  // Nothing was heard of Redis yet; the hash that it will have is this one, unless an earlier one was shown there.
  if (!draw) return { seedHash: seedHash(event.seed), seed: null };
  return { seedHash: draw.seedHash, seed: draw.drawnAt === undefined ? null : draw.seed };
}
