/** What an engine needs of a room's settings, under the names that `core` uses. */
import { laneNumber } from "../core/lanes.ts";
import { lingerMs } from "../core/pass.ts";
import type {
  AdaptiveRules,
  BudgetRules,
  DoorRules,
  EventRules,
  LanesRules,
  RoomRules,
  StandbyRules,
} from "../core/rules.ts";
import type { BudgetSettings, EventSettings, RoomSettings } from "./schema.ts";
import { settingsDuring } from "./settings-during.ts";

/** What a room's rules need besides its own settings. */
export interface RulesContext {
  /** The capacities that rooms share, by name. */
  readonly budgets: Readonly<Record<string, BudgetSettings>>;
  /** 32 bytes in hexadecimal for the draw of an event; always the same for the same event, and nobody can guess it. */
  seedOf(room: string, event: string, startAt: number): string;
}

/** The room's settings as rules for its engine. */
export function toRules(name: string, room: RoomSettings, context: RulesContext): RoomRules {
  return {
    ...doorRules(room),
    relaxed: room.line === "relaxed" ? { shards: room.shards, peek: room.peek } : null,
    budget: budgetRules(room, context.budgets),
    events: room.events
      .filter((event) => !event.suspended)
      .map((event) => eventRules(event, room, context.seedOf(name, event.name, event.eventStartTime)))
      .sort((a, b) => a.startAt - b.startAt),
  };
}

function doorRules(room: RoomSettings): DoorRules {
  return {
    totalActiveUsers: room.totalActiveUsers,
    newUsersPerMinute: room.newUsersPerMinute,
    queueingMethod: room.queueingMethod,
    paused: room.paused,
    queueAll: room.queueAll,
    drained: room.drained,
    closed: room.closed,
    privilegedOnly: room.privilegedOnly,
    lanes: lanesRules(room),
    fillNoShows: room.fillNoShows,
    standby: room.standby && standbyRules(room.standby),
    adaptive: room.adaptive && adaptiveRules(room.adaptive),
    sessionDurationMs: room.sessionDuration,
    disableSessionRenewal: room.disableSessionRenewal,
    formGraceMs: room.formGrace,
    lingerMs: lingerMs(room.connectionGrace),
    claimWindowMs: room.claimWindow,
    missedTurnsMax: room.missedTurnsMax,
    lapseAfterMs: room.lapseAfter,
    ticketTtlMs: room.ticketTtl,
    pollBudgetPerSecond: room.pollBudget,
    show: room.show,
    message: room.message,
  };
}

/** The lanes of a room, or of a room during an event. */
export function lanesRules({ lanes, laneOrder, othersShare }: RoomSettings): LanesRules {
  const named = Object.entries(lanes).map(([name, { share, privileged }]) => ({
    number: laneNumber(name),
    name,
    share,
    isPrivileged: privileged,
  }));
  return { order: laneOrder, othersShare, named };
}

function standbyRules(standby: NonNullable<RoomSettings["standby"]>): StandbyRules {
  const { originLatency, quietFor, ...rest } = standby;
  return { ...rest, originLatencyMs: originLatency, quietForMs: quietFor };
}

function adaptiveRules(adaptive: NonNullable<RoomSettings["adaptive"]>): AdaptiveRules {
  const { latency, ...rest } = adaptive;
  return { ...rest, latencyMs: latency };
}

function budgetRules(room: RoomSettings, budgets: RulesContext["budgets"]): BudgetRules | null {
  const { budget: name, guaranteed } = room;
  if (name === null) return null;
  const budget = Object.hasOwn(budgets, name) ? budgets[name] : undefined;
  if (!budget) throw new Error(`there is no budget ${name}; the settings were not checked`);
  return { name, totalActiveUsers: budget.totalActiveUsers, guaranteed };
}

function eventRules(event: EventSettings, room: RoomSettings, seed: string): EventRules {
  return {
    name: event.name,
    prequeueAt: event.prequeueStartTime,
    startAt: event.eventStartTime,
    endAt: event.eventEndTime,
    isShuffled: event.shuffleAtEventStart,
    seed,
    rules: doorRules(settingsDuring(room, event)),
  };
}
