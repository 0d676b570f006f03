/**
 * What one run will be like, drawn from its seed: nodes, visitors, capacity, faults and their strength. A seed belongs to one of
 * a few kinds of plan, since what can be promised depends on the faults.
 *
 * Explicit options replace what was drawn and change nothing else, so that a failing plan can be reduced step by step. `planOf`
 * with the same options always gives the same plan.
 */
import { DEFAULT_RULES, type RoomRules } from "../../core/rules.ts";
import type { OrderTerms } from "./checks/order.ts";
import { between, type Dice, diceOf, oneOf, type Range, wholeBetween } from "./dice.ts";
import { FAULT_KINDS, FAULTS, type Fault, type FaultBounds, type FaultKind } from "./fault-kinds.ts";
import { type Habits, VISITOR_KINDS, type VisitorKind } from "./traits.ts";

const WEATHER: readonly FaultKind[] = [
  "loss",
  "duplication",
  "reorder",
  "visitorLoss",
  "skew",
  "spike",
  "slow",
];
const SPLITS: readonly FaultKind[] = ["partition", "oneWay", "clog"];
const CRASHES: readonly FaultKind[] = ["crash", "crashForGood", "jump"];

/** Clocks differ by up to 50 ms, and the news of a turn takes a few messages. */
const CALM: OrderTerms = { disorderMs: 150, overtakingMaxMs: 2_500, isWhole: true };
/** Spikes and stalls take up to some seconds; messages are lost and sent again. */
const STORMY: OrderTerms = { disorderMs: 1_000, overtakingMaxMs: 5_000, isWhole: true };
/** Nothing is promised for visitors who were disturbed. */
const IN_QUIET_ONLY: OrderTerms = { ...STORMY, isWhole: false };

/** The faults of each kind of plan, and what is promised about the order. */
export const PLAN_KINDS = {
  calm: { faults: ["skew"], order: CALM },
  weather: { faults: WEATHER, order: STORMY },
  splits: { faults: [...WEATHER, ...SPLITS], order: STORMY },
  crashes: { faults: [...WEATHER, ...CRASHES], order: STORMY },
  growth: { faults: [...WEATHER, "add", "leave", "crash"], order: STORMY },
  everything: { faults: FAULT_KINDS.filter((kind) => kind !== "restartAll"), order: IN_QUIET_ONLY },
  forgetful: { faults: [...WEATHER, "restartAll"], order: IN_QUIET_ONLY },
  /** An unreachable node is taken for dead at once: parts overlap, as stated. */
  hasty: { faults: [...WEATHER, "partition", "crash"], order: IN_QUIET_ONLY },
} as const satisfies Readonly<Record<string, PlanShape>>;

interface PlanShape {
  readonly faults: readonly FaultKind[];
  readonly order: OrderTerms;
}

export type PlanKind = keyof typeof PLAN_KINDS;

/** Options that a caller may set. */
export interface PlanOptions {
  readonly seed: number;
  readonly kind?: PlanKind;
  readonly nodes?: number;
  readonly visitors?: number;
  /** How long visitors arrive and faults happen. */
  readonly seconds?: number;
  /** Faults, single incidents ("crash.2") and visitor kinds to leave out. */
  readonly without?: readonly string[];
  /** The rule that the nodes break; the plan stays the same. */
  readonly canary?: string | null;
}

export interface Plan {
  readonly seed: number;
  readonly kind: PlanKind;
  readonly nodes: number;
  readonly visitors: number;
  /** How long visitors arrive and faults happen. */
  readonly spanMs: number;
  /** More arrive at the beginning than later. */
  readonly isRush: boolean;
  readonly rules: RoomRules & { readonly totalActiveUsers: number };
  readonly habits: Habits;
  readonly crowd: Readonly<Record<VisitorKind, number>>;
  readonly delayMs: Range;
  readonly visitorDelayMs: Range;
  /** null: switched off, or not drawn. */
  readonly faults: Readonly<Record<FaultKind, Fault | null>>;
  /** Names of incidents to leave out. */
  readonly without: readonly string[];
  readonly reclaimAfterMs: number | null;
  readonly order: OrderTerms;
}

const NODES: Range = { from: 1, to: 8 };
const VISITORS: Range = { from: 20, to: 500 };
const SPAN_MS: Range = { from: 15_000, to: 60_000 };
const SESSION_MS: Range = { from: 10_000, to: 30_000 };
/** Some leave before all nodes know that they came. */
const STAY_MS: Range = { from: 20, to: 10_000 };
/** How long it should take until everyone has been admitted, as a share of the time in which they arrive. */
const DRAIN_SHARE: Range = { from: 0.6, to: 2.5 };
/** A share of the rate that capacity alone would give: it limits some plans, and not others. */
const RATE_SHARE: Range = { from: 0.5, to: 1.5 };
const FAULT_CHANCE = 0.6;
const KIND_CHANCE = 0.7;
/** Longer than a session, the grace of a pass and any cut. */
const RECLAIM_LATE_MS = 45_000;

/** Koopmans' goal (section 2.2). */
export const TAU_MAX = 0.005;

/** Everything that `without` can name, apart from single incidents. */
export const SWITCHES: readonly string[] = [
  ...FAULT_KINDS,
  ...VISITOR_KINDS.filter((kind) => kind !== "patient"),
];

export function planOf(options: PlanOptions): Plan {
  const { seed } = options;
  const without = new Set(options.without ?? []);
  const dice = diceOf(seed, "plan");
  const drawnKind = oneOf(dice, Object.keys(PLAN_KINDS) as PlanKind[]);
  const drawnNodes = wholeBetween(dice, NODES);
  const drawnVisitors = wholeBetween(dice, VISITORS);
  const drawnSpanMs = Math.round(between(dice, SPAN_MS));
  const isRush = dice() < 0.5;
  const kind = options.kind ?? drawnKind;
  const visitors = options.visitors ?? drawnVisitors;
  const spanMs = options.seconds === undefined ? drawnSpanMs : options.seconds * 1_000;
  const faults = faultsOf(seed, kind, without);
  const habits = habitsOf(dice, faults);
  return {
    seed,
    kind,
    nodes: options.nodes ?? drawnNodes,
    visitors,
    spanMs,
    isRush,
    rules: rulesOf(dice, habits, { visitors, spanMs }),
    habits,
    crowd: crowdOf(seed, without),
    delayMs: delayOf(dice),
    visitorDelayMs: { from: 2, to: 40 },
    faults,
    without: [...without],
    reclaimAfterMs: kind === "hasty" ? 0 : faults.crashForGood ? RECLAIM_LATE_MS : null,
    order: PLAN_KINDS[kind].order,
  };
}

function faultsOf(seed: number, kind: PlanKind, without: ReadonlySet<string>): Plan["faults"] {
  const possible: readonly FaultKind[] = PLAN_KINDS[kind].faults;
  const entries = FAULT_KINDS.map((name): [FaultKind, Fault | null] => {
    const dice = diceOf(seed, "fault", name);
    const isDrawn = dice() < FAULT_CHANCE || name === "restartAll";
    const fault = faultOf(dice, FAULTS[name]);
    return [name, isDrawn && possible.includes(name) && !without.has(name) ? fault : null];
  });
  return Object.fromEntries(entries) as Plan["faults"];
}

function faultOf(dice: Dice, { share, times, forMs, sizeMs }: FaultBounds): Fault {
  const nothing: Range = { from: 0, to: 0 };
  return {
    share: between(dice, share ?? nothing),
    times: wholeBetween(dice, times ?? nothing),
    forMs: forMs ?? nothing,
    sizeMs: between(dice, sizeMs ?? nothing),
  };
}

/**
 * Passes are renewed only where every node hears of it in time: a visitor who renews in one part of a split cluster keeps a slot
 * that the other part does not know of.
 */
function habitsOf(dice: Dice, faults: Plan["faults"]): Habits {
  const sessionMs = Math.round(between(dice, SESSION_MS));
  const isWilling = dice() < 0.5;
  const lapseAfterMs = Math.round(between(dice, { from: 5_000, to: 15_000 }));
  const isTorn = [...SPLITS, ...CRASHES, "restartAll" as const].some((kind) => faults[kind] !== null);
  return { stayMs: STAY_MS, sessionMs, lapseAfterMs, isRenewing: isWilling && !isTorn };
}

function rulesOf(
  dice: Dice,
  { stayMs, sessionMs, lapseAfterMs, isRenewing }: Habits,
  { visitors, spanMs }: { visitors: number; spanMs: number },
): Plan["rules"] {
  const drainMs = spanMs * between(dice, DRAIN_SHARE);
  // Visitors who let their pass expire hold a slot for a whole session; about a third do.
  const heldMs = 0.7 * ((stayMs.from + stayMs.to) / 2) + 0.3 * sessionMs;
  const totalActiveUsers = Math.max(1, Math.ceil((visitors * heldMs) / drainMs));
  const perMinute = Math.ceil((visitors / drainMs) * 60_000 * between(dice, RATE_SHARE));
  const newUsersPerMinute = dice() < 0.25 ? Math.max(perMinute, 10) : null;
  const claimWindowMs = Math.round(between(dice, { from: 15_000, to: 30_000 }));
  return {
    ...DEFAULT_RULES,
    totalActiveUsers,
    newUsersPerMinute,
    sessionDurationMs: sessionMs,
    disableSessionRenewal: !isRenewing,
    claimWindowMs,
    lapseAfterMs,
  };
}

function crowdOf(seed: number, without: ReadonlySet<string>): Plan["crowd"] {
  const entries = VISITOR_KINDS.map((kind): [VisitorKind, number] => {
    const dice = diceOf(seed, "kind", kind);
    const isDrawn = dice() < KIND_CHANCE;
    const weight = between(dice, { from: 0.2, to: 1 });
    if (kind === "patient") return [kind, 1 + 2 * weight];
    return [kind, isDrawn && !without.has(kind) ? weight * (kind === "forging" ? 0.1 : 0.5) : 0];
  });
  return Object.fromEntries(entries) as Plan["crowd"];
}

function delayOf(dice: Dice): Range {
  const from = between(dice, { from: 0.2, to: 20 });
  return { from, to: from * between(dice, { from: 1.1, to: 3 }) };
}
