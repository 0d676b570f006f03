/**
 * What kinds of visitors there are, and what one of a kind will do, all drawn when they are made and from dice of their
 * own: so one visitor more or less changes nothing for the others.
 *
 *   patient     checks in when told, enters when it is their turn
 *   impatient   gives up after a while, or lets their turn go by
 *   vanishing   is away for a while in the middle, longer than they are waited for, and comes back
 *   replaying   shows the ticket at several nodes at once, and again when the visit is over
 *   moving      goes to another node each time
 *   idling      checks in when told and never enters, until their place is forfeited
 *   forging     makes tickets and passes up
 */
import { between, type Dice, oneOf, type Range } from "./dice.ts";

export const VISITOR_KINDS = [
  "patient",
  "impatient",
  "vanishing",
  "replaying",
  "moving",
  "idling",
  "forging",
] as const;
export type VisitorKind = (typeof VISITOR_KINDS)[number];

export interface Traits {
  readonly kind: VisitorKind;
  /** Index of the station they come to first. null: any. */
  readonly station: number | null;
  /** How long they wait before they give up. null: as long as it takes. */
  readonly patienceMs: number | null;
  readonly away: { readonly afterMs: number; readonly forMs: number } | null;
  /** How many other stations everything is shown to. */
  readonly replays: number;
  readonly isMoving: boolean;
  /** Goes on checking in when it is their turn, instead of using it. */
  readonly isIdling: boolean;
  /** Hears of their turn as soon as the node they wait at does. */
  readonly isListening: boolean;
  /** From hearing of their turn to entering. null: they do not enter. */
  readonly reactionMs: number | null;
  readonly stayMs: number;
  /** Says so when they leave; the others let their place or pass run out. */
  readonly isPolite: boolean;
  /** Keeps the pass alive while on the site, so a stay may be longer than a session. */
  readonly isRenewing: boolean;
}

export interface Habits {
  readonly stayMs: Range;
  readonly sessionMs: number;
  readonly lapseAfterMs: number;
  readonly isRenewing: boolean;
}

const REACTION_MS: Range = { from: 50, to: 1_500 };
const PATIENCE_MS: Range = { from: 2_000, to: 30_000 };
const AWAY_AFTER_MS: Range = { from: 500, to: 8_000 };
const REPLAYS_MAX = 2;

/** What this visitor will do. The dice are thrown equally often for every kind. */
export function traitsOf(kind: VisitorKind, dice: Dice, habits: Habits): Traits {
  const patienceMs = between(dice, PATIENCE_MS);
  const afterMs = between(dice, AWAY_AFTER_MS);
  const forMs = between(dice, { from: 0.5 * habits.lapseAfterMs, to: 3 * habits.lapseAfterMs });
  const replays = 1 + Math.floor(dice() * REPLAYS_MAX);
  const isListening = dice() < 0.5;
  const isNoShow = dice() < 0.5;
  const reactionMs = between(dice, REACTION_MS);
  const stayMs = between(dice, habits.stayMs);
  const isPolite = dice() < 0.7;
  return {
    kind,
    station: null,
    patienceMs: kind === "impatient" ? patienceMs : null,
    away: kind === "vanishing" ? { afterMs, forMs } : null,
    replays: kind === "replaying" ? replays : 0,
    isMoving: kind === "moving",
    isIdling: kind === "idling",
    isListening,
    reactionMs: kind === "idling" || (kind === "impatient" && isNoShow) ? null : reactionMs,
    stayMs: habits.isRenewing ? stayMs : Math.min(stayMs, 0.9 * habits.sessionMs),
    isPolite,
    isRenewing: habits.isRenewing,
  };
}

/** Somebody who waits at one node as long as it takes and leaves in order, for experiments that draw nothing. */
export function patientAt(station: number, stayMs: number): Traits {
  return {
    kind: "patient",
    station,
    patienceMs: null,
    away: null,
    replays: 0,
    isMoving: false,
    isIdling: false,
    isListening: true,
    reactionMs: 0,
    stayMs,
    isPolite: true,
    isRenewing: false,
  };
}

/** A kind, by weight. */
export function kindOf(dice: Dice, shares: Readonly<Record<VisitorKind, number>>): VisitorKind {
  const present = VISITOR_KINDS.filter((kind) => shares[kind] > 0);
  const total = present.reduce((sum, kind) => sum + shares[kind], 0);
  let left = dice() * total;
  for (const kind of present) {
    left -= shares[kind];
    if (left < 0) return kind;
  }
  return present.at(-1) ?? oneOf(dice, VISITOR_KINDS);
}

/** True for those who must be let in in the end, whatever happens. */
export function isWanting({ patienceMs, reactionMs, kind }: Traits): boolean {
  return patienceMs === null && reactionMs !== null && kind !== "forging";
}

/** True for those who are never away by their own doing, so that the order holds for them. */
export function isSteady(traits: Traits): boolean {
  return isWanting(traits) && traits.away === null;
}
