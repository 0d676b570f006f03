/** What Redis tells of a room, as the figures that boards and counts are made of. */
import { limitsAt } from "../../core/adaptive.ts";
import type { AdjusterMemo } from "../../core/adjuster.ts";
import type { WaitPoint } from "../../core/board.ts";
import { seedHash } from "../../core/draw.ts";
import { NO_TOTALS, type Totals } from "../../core/engine.ts";
import { type Speed, waitAt } from "../../core/eta.ts";
import type { Turn } from "../../core/fairness.ts";
import type { RoomFigures } from "../../core/room-view.ts";
import { type EventRules, isHeld, type RoomRules } from "../../core/rules.ts";
import { phaseAt } from "../../core/schedule.ts";
import type { WaitCurve } from "../../core/wait-curve.ts";

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
  readonly doubt: string;
  readonly totals: Readonly<Record<string, string>>;
  readonly lanes: readonly LaneLook[];
  readonly draws?: readonly DrawLook[];
  /** Sequence and time of the latest admissions. */
  readonly recent?: string;
  /** What standby and the adaptive loop remember, as JSON. */
  readonly memo?: string;
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

/** For a room that Redis has not told of yet. */
export function emptyLook(now: number): Look {
  const nobody = { waiting: 0, admitted: 0, looseTurns: 0, onSite: 0, lapsed: 0, noShows: 0 };
  return { now, ...nobody, share: 1, isAwake: false, perMs: "0", doubt: "0", totals: {}, lanes: [] };
}

export function figuresOf(name: string, roomRules: RoomRules, look: Look): RoomFigures {
  const { now, waiting, admitted, looseTurns, onSite, lapsed, noShows, share } = look;
  const phase = phaseAt(roomRules, now);
  const isLowered = share !== 1 && phase.rules.adaptive !== null;
  const rules = isLowered ? { ...phase.rules, ...limitsAt(phase.rules, share) } : phase.rules;
  const lanes = new Map(look.lanes.map((lane) => [lane.lane, lane]));
  const speed = { perMs: Number(look.perMs), doubt: Number(look.doubt) };
  return {
    ...{ name, now, roomRules, rules, phase, waiting, admitted, looseTurns, onSite, lapsed, noShows },
    isActive: phase.rules.standby === null || look.isAwake,
    remarks: memoOf(look)?.remarks ?? [],
    totals: totalsOf(look),
    pace: {
      perMs: () => speed.perMs,
    },
    waitCurve: () => (isHeld(rules) ? null : curveAt(speed, now)),
    waitAccuracy: () => null,
    waitingIn: (lane) => lanes.get(lane)?.waiting ?? 0,
    sequenceAt: (lane, rank) => sequenceAt(lanes.get(lane), rank),
    highestAdmitted: (lane) => Number(lanes.get(lane)?.highest ?? 0),
    admittedIn: (lane) => lanes.get(lane)?.admitted ?? 0,
    recent: () => turnsIn(look.recent ?? ""),
    announce: (event) => announced(look, event),
  };
}

function curveAt(speed: Speed, madeAt: number): WaitCurve | null {
  const points: WaitPoint[] = [];
  for (let ahead = 0; ahead < 20_000_000; ahead = Math.max(ahead + 1, Math.round(ahead * 1.5))) {
    const wait = waitAt(speed, ahead);
    if (!wait) return null;
    points.push([ahead, wait.low, wait.middle, wait.high]);
  }
  return { madeAt, points };
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
