/**
 * What the office works with. It imports neither gateway nor engines; whoever wires the process hands it a desk. All
 * values are read at the moment they are asked for, so the office keeps no state of its own about rooms or traffic.
 */
import type { Problem } from "../config/problem.ts";
import type { RoomSettings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";

/** What every part of the office is handed. */
export interface Handed {
  readonly desk: Desk;
  readonly world: World;
}

/** What was asked could not be kept on disk, so it was not done. */
export class NotKept extends Error {
  constructor(cause: unknown) {
    super("what was asked could not be kept", { cause });
    this.name = "NotKept";
  }
}

export interface Desk {
  readonly version: string;
  readonly engine: Engine;
  rooms(): readonly string[];
  /** The settings as now in force. */
  room(name: string): RoomSettings | undefined;
  /** Checks like the file does, then puts it in force for all. Throws `NotKept`. */
  change(name: string, change: unknown): Promise<ChangeAnswer>;
  /** Changes that are kept and cannot be used here, and why. */
  unusedChanges(): readonly UnusedChange[];
  /** Those that were taken out of what is kept. */
  asideChanges(): Promise<readonly AsideChange[]>;
  keys(): readonly KeyOnRing[];
  /** Throws `NotKept`. */
  rotateKeys(): Promise<{ readonly id: string }>;
  origins(): readonly OriginState[];
  /** False while starting, draining, or while the engine does not answer. */
  isReady(): Promise<boolean>;
  /** Counters and gauges kept by the gateway, read when metrics are scraped. */
  traffic(): GatewayTraffic;
  /** Null where this process is no node of a cluster. */
  readonly cluster: ClusterDesk | null;
}

/** A change that is kept and not in force here. */
export interface UnusedChange {
  readonly room: string;
  /** The settings that are not used; empty: none of the change is. */
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
  /** An operator's word that a lost node is dead. False when nobody by that name is lost. */
  forget(name: string): boolean;
}

/** The cluster as one node sees it. */
export interface ClusterReport {
  /** The node that was asked. */
  readonly name: string;
  readonly address: string;
  /** Who belongs to it, as all of them agree; null before this node was taken in. */
  readonly view: ClusterView | null;
  /** The node that turns the doors; null while that is not known here. */
  readonly root: string | null;
  /** The neighbour on the way to the root; null when it is here. */
  readonly towardsRoot: string | null;
  /** Counting rounds that this node has led. */
  readonly rounds: number;
  /** From the top of the tree down, each node's children after it. */
  readonly nodes: readonly ClusterNodeReport[];
  /** Those that cannot be reached, and may have visitors of their own. */
  readonly lost: readonly { readonly name: string; readonly address: string }[];
  readonly rooms: Readonly<Record<string, ClusterRoomReport>>;
  /** What an operator should know, in sentences. Empty: all is well. */
  readonly problems: readonly string[];
}

export interface ClusterView {
  readonly version: number;
  /** False in a part that was cut off from most of the others. */
  readonly isMajority: boolean;
  /** True when this node knows all that the others know. */
  readonly isSettled: boolean;
}

export interface ClusterNodeReport {
  readonly name: string;
  readonly address: string;
  readonly state: "alive" | "suspect" | "dead";
  /** The node above it in the tree. */
  readonly parent: string | null;
  /** The node that was asked. */
  readonly isHere: boolean;
  /** What is its own, in all rooms. */
  readonly own: { readonly waiting: number; readonly turns: number; readonly onSite: number };
}

export interface ClusterRoomReport {
  /** At all nodes, as known here. */
  readonly waiting: number;
  /** Of the node that was asked, as all that follows. */
  readonly ownWaiting: number;
  readonly turns: number;
  readonly onSite: number;
  /** Slots that it may give out without asking anyone. */
  readonly spare: number;
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
  /** Whose origin it is: a room's name, or the word for the one at the top. */
  readonly origin: string;
  readonly address: string;
  readonly isUp: boolean;
  /** Why it is not up: nobody can connect, it fails its check, or it fails requests. */
  readonly trouble: OriginTrouble | null;
  readonly inFlight: number;
}

export const ORIGIN_TROUBLES = ["unreachable", "failsCheck", "failing"] as const;
export type OriginTrouble = (typeof ORIGIN_TROUBLES)[number];

export interface GatewayTraffic {
  /** Since the gateway started, by what became of the request. */
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
  /** Newcomers who must come back or do something first. */
  readonly joinsHeld: Readonly<Record<string, number>>;
  readonly turnedAway: Readonly<Record<string, number>>;
  /** What visitors brought to get into a lane, and was not good. */
  readonly lanesRefused: Readonly<Record<string, number>>;
  /** Event streams that were not opened, by what was full. */
  readonly streamsRefused: Readonly<Record<string, number>>;
  /** Requests let past a line, by room and rule: `main: assets`. */
  readonly bypassed: Readonly<Record<string, number>>;
  /** Requests that belong to no visit: `passed` or `refused`. */
  readonly strays: Readonly<Record<string, number>>;
  /** Visitors cut off for being too slow, by what was. */
  readonly slowCut: Readonly<Record<string, number>>;
  /** Requests refused because too many were under way, by whose limit it was. */
  readonly requestsRefused: Readonly<Record<string, number>>;
  /** Since the gateway started. */
  readonly engineFailures: number;
  /** Of visitors; null where this process does not accept them. */
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
 * A histogram. `counts[i]` is how many took at most `boundsSeconds[i]` and more than the bound before it. The bounds
 * rise; those over the last one are in `total`, and a last entry of `counts` for them is not looked at.
 */
export interface ResponseTimes {
  readonly counts: readonly number[];
  readonly boundsSeconds: readonly number[];
  readonly sum: number;
  readonly total: number;
}
