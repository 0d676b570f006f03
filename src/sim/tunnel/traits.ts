/**
 * The kinds of visitors, and what one of a kind will do. Everything is drawn when a visitor is created, from dice of their own,
 * so one visitor more or less changes nothing for the others.
 *
 *   patient     checks in when told, enters when it is their turn
 *   impatient   gives up after a while, or does not use their turn
 *   vanishing   is away for a while, longer than they are waited for, and comes back
 *   replaying   shows the ticket at several nodes at once, and again when the visit is over
 *   moving      goes to another node each time
 *   idling      checks in when told and never enters, until their place is forfeited
 *   forging     makes up tickets and passes
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
  /** Index of the first station they come to. null: any. */
  readonly station: number | null;
  /** How long they wait before they give up. null: for ever. */
  readonly patienceMs: number | null;
  readonly away: { readonly afterMs: number; readonly forMs: number } | null;
  /** How many other stations they show everything to. */
  readonly replays: number;
  readonly isMoving: boolean;
  /** Goes on checking in instead of using a turn. */
  readonly isIdling: boolean;
  /** Learns of their turn as soon as their node does. */
  readonly isListening: boolean;
  /** From learning of their turn to entering. null: they do not enter. */
  readonly reactionMs: number | null;
  readonly stayMs: number;
  /** Leaves explicitly; the others let their place or pass expire. */
  readonly isPolite: boolean;
  /** Renews the pass while on the site, so a stay may be longer than a session. */
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

/** Draws what a visitor will do. The dice are thrown equally often for every kind. */
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

/** A visitor who waits at one node and leaves explicitly, for experiments without draws. */
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

/** Draws a kind, by weight. */
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

/** True for visitors who must be admitted in the end, whatever happens. */
export function isWanting({ patienceMs, reactionMs, kind }: Traits): boolean {
  return patienceMs === null && reactionMs !== null && kind !== "forging";
}

/** True for visitors who are never away of their own accord, so that the order holds for them. */
export function isSteady(traits: Traits): boolean {
  return isWanting(traits) && traits.away === null;
}
