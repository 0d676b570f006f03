/**
 * The office's only way to the rest of the process. The office imports neither gateway nor engines; assembly passes it a
 * desk. Values are read when they are asked for, so the office keeps no state about rooms or traffic.
 */
import type { Problem } from "../config/problem.ts";
import type { RoomSettings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import type { OrganiserShop } from "../shop/api/organiser-shop.ts";
import type { ClusterReport } from "./cluster-shape.ts";

export type { ClusterNodeReport, ClusterReport, ClusterRoomReport } from "./cluster-shape.ts";

/** What every part of the office is given. */
export interface Handed {
  readonly desk: Desk;
  readonly world: World;
}

/** A request could not be stored, so it was not carried out. */
export class NotKept extends Error {
  constructor(cause: unknown) {
    super("the change could not be stored", { cause });
    this.name = "NotKept";
  }
}

export interface Desk {
  readonly version: string;
  readonly engine: Engine;
  rooms(): readonly string[];
  /** The settings in force. */
  room(name: string): RoomSettings | undefined;
  /** Checks the change as the file would be checked, then puts it in force at all gateways. Throws `NotKept`. */
  change(name: string, change: unknown): Promise<ChangeAnswer>;
  /** Stored changes that cannot be used here, and why. */
  unusedChanges(): readonly UnusedChange[];
  /** Changes that were removed from the store because they could not be used. */
  asideChanges(): Promise<readonly AsideChange[]>;
  shops(): readonly string[];
  shop(name: string): OrganiserShop | undefined;
  keys(): readonly KeyOnRing[];
  /** Throws `NotKept`. */
  rotateKeys(): Promise<{ readonly id: string }>;
  origins(): readonly OriginState[];
  /** False while starting, draining, or while the engine does not answer. */
  isReady(): Promise<boolean>;
  /** The gateway's counters and gauges, read when metrics are scraped. */
  traffic(): GatewayTraffic;
  /** Null where this process is no node of a cluster. */
  readonly cluster: ClusterDesk | null;
}

/** A change that is stored and not in force here. */
export interface UnusedChange {
  readonly room: string;
  /** The settings that are not used; empty: the whole change. */
  readonly settings: readonly string[];
  readonly reason: string;
}

export interface AsideChange extends UnusedChange {
  /** When it was put aside. */
  readonly at: number;
  /** The settings as they were sent, or the text that could not be read. */
  readonly change: unknown;
}

export interface ClusterDesk {
  report(): ClusterReport;
  /** Declares a lost node dead. False when no node by that name is lost. */
  forget(name: string): boolean;
}

export type ChangeAnswer =
  | { readonly ok: true; readonly room: RoomSettings }
  | { readonly ok: false; readonly problems: readonly SettingProblem[] };

/** Without `hint` where there is nothing to add. An empty `path`: the whole change. */
export type SettingProblem = Pick<Problem, "path" | "message"> & Partial<Pick<Problem, "hint">>;

export interface KeyOnRing {
  readonly id: string;
  readonly isSigning: boolean;
  readonly retiresAt: number | null;
}

export interface OriginState {
  /** The room whose origin it is, or `(default)` for the one at the top of the settings. */
  readonly origin: string;
  readonly address: string;
  readonly isUp: boolean;
  /** Why it is not up: it cannot be connected to, fails its check, or fails requests. */
  readonly trouble: OriginTrouble | null;
  readonly inFlight: number;
}

export const ORIGIN_TROUBLES = ["unreachable", "failsCheck", "failing"] as const;
export type OriginTrouble = (typeof ORIGIN_TROUBLES)[number];

export interface GatewayTraffic {
  /** Since the gateway started, by outcome. */
  readonly requests: {
    readonly proxied: number;
    readonly waitingPages: number;
    readonly boards: number;
    readonly checkIns: number;
    readonly joins: number;
    readonly enters: number;
    readonly leaves: number;
    readonly refusedForms: number;
    readonly apiWaits: number;
    readonly problems: number;
  };
  /** Since the gateway started, by reason, here and below. */
  readonly tokensRefused: Readonly<Record<string, number>>;
  /** Newcomers who must come back, or do something first, before they get a place. */
  readonly joinsHeld: Readonly<Record<string, number>>;
  readonly turnedAway: Readonly<Record<string, number>>;
  /** Codes and tokens for a lane that were not accepted. */
  readonly lanesRefused: Readonly<Record<string, number>>;
  /** Event streams that were not opened, by what was full. */
  readonly streamsRefused: Readonly<Record<string, number>>;
  /** Requests let past a line, by room and rule: `main: assets`. */
  readonly bypassed: Readonly<Record<string, number>>;
  /** Requests that belong to no visit: `passed` or `refused`. */
  readonly strays: Readonly<Record<string, number>>;
  /** Calls of visitors and providers to shops that were not carried out, by status or reason. */
  readonly shopRefused: Readonly<Record<string, number>>;
  /** Visitors cut off for being too slow, by what was slow. */
  readonly slowCut: Readonly<Record<string, number>>;
  /** Requests refused because too many were under way, by which limit was reached. */
  readonly requestsRefused: Readonly<Record<string, number>>;
  /** Since the gateway started. */
  readonly engineFailures: number;
  /** Visitors' connections; null where this process does not accept them. */
  readonly connections: {
    readonly open: number;
    readonly max: number;
    readonly refused: Readonly<Record<string, number>>;
    readonly closedIdle: number;
  } | null;
  /** Open now. */
  readonly sseConnections: number;
  /** Since the gateway started. */
  readonly upgrades: number;
  /** Connections closed because their visit was over. */
  readonly connectionsEnded: number;
  readonly originSeconds: ResponseTimes;
}

/**
 * A histogram. `counts[i]` is how many took at most `boundsSeconds[i]` and more than the bound before. The bounds rise;
 * `total` includes what took longer than the last, and a last entry of `counts` for those is ignored.
 */
export interface ResponseTimes {
  readonly counts: readonly number[];
  readonly boundsSeconds: readonly number[];
  readonly sum: number;
  readonly total: number;
}
