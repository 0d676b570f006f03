/**
 * An operator's what-if: what such a crowd would come to with these rules. The same question has the same answer, to the last
 * digit.
 */
import type { RoomRules } from "../../core/rules.ts";
import { phaseAt } from "../../core/schedule.ts";
import { type CrowdOptions, planCrowd } from "./crowd-plan.ts";
import { type RunProgress, runCrowd } from "./crowd-run.ts";
import { type Findings, findingsOf } from "./findings.ts";
import { playedRules } from "./played-rules.ts";

/** An ordinary day, for runs without a date. */
const SOME_DAY_AT = Date.UTC(2026, 5, 1, 10);

export interface WhatIf {
  readonly room: string;
  readonly rules: RoomRules;
  /** The other rooms of the same budget. */
  readonly neighbours?: ReadonlyMap<string, RoomRules>;
  readonly crowd: CrowdOptions;
  /** When the first visitors arrive. Null: no particular day, and no events. */
  readonly at?: number | null;
  /** Further notes for the reader. */
  readonly notes?: readonly string[];
  readonly onProgress?: (progress: RunProgress) => void;
}

/** Runs it. Takes seconds for a crowd of fifty thousand. */
export function whatIf(question: WhatIf): Findings {
  const { room, crowd, at = null, notes = [], onProgress } = question;
  const played = playedRules(question.rules, at !== null);
  const startAt = at ?? SOME_DAY_AT;
  const phase = phaseAt(played.rules, startAt);
  const event = phase.event && {
    name: phase.event.name,
    opensMs: Math.max(0, phase.event.startAt - startAt),
    isShuffled: phase.event.isShuffled,
  };
  const record = runCrowd({
    room,
    rules: played.rules,
    neighbours: question.neighbours ?? new Map(),
    plan: planCrowd(crowd),
    startAt,
    seed: crowd.seed,
    onProgress,
  });
  const asked = { room, crowd, rules: phase.rules, event, notes: [...notes, ...played.notes] };
  return findingsOf(asked, record);
}
