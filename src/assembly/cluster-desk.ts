/**
 * One node of a cluster for its operator: whether it has joined, its report, its log lines, and the note by which the other
 * nodes see whether it has the same settings.
 */
import type { ClusterSettings } from "../config/cluster-settings.ts";
import type { World } from "../core/world.ts";
import type { ClusterEngine } from "../engines/cluster/cluster-engine.ts";
import type { NodeStatus } from "../engines/cluster/node-status.ts";
import type { Transport } from "../engines/cluster/wire/transport.ts";
import type { ClusterDesk, ClusterReport } from "../office/desk.ts";
import {
  type NotedSettings,
  SETTINGS_NOTE,
  type SettingsNote,
  settingsDifferences,
  settingsNote,
} from "./cluster-notes.ts";
import { isReplaced, reportOf } from "./cluster-report.ts";
import { ClusterWatch } from "./cluster-watch.ts";

const LOOK_MS = 250;

export interface NodeDeskParts {
  readonly settings: NotedSettings & { readonly cluster: ClusterSettings };
  readonly engine: Pick<ClusterEngine, "forget" | "keep" | "kept"> & {
    /** Counting visits every place, so it is done only for a report. */
    status(isCounted: boolean): NodeStatus;
  };
  readonly transport: Pick<Transport, "address" | "peers">;
  readonly world: World;
}

export class NodeDesk implements ClusterDesk {
  /** Resolves once this node has joined and may take visitors. */
  readonly joined: Promise<void>;
  /** Resolves when another node has taken this one's name, and this one must stop. */
  readonly broken: Promise<Error>;
  readonly #parts: NodeDeskParts;
  readonly #watch: ClusterWatch;
  readonly #stop: () => void;
  #note: SettingsNote;
  #isJoined = false;
  #onJoined: () => void = () => {};
  #onBroken: (problem: Error) => void = () => {};

  constructor(parts: NodeDeskParts) {
    const { settings, world } = parts;
    this.#parts = parts;
    this.#watch = new ClusterWatch(world.log, world.clock.now());
    this.joined = new Promise((resolve) => {
      this.#onJoined = resolve;
    });
    this.broken = new Promise((resolve) => {
      this.#onBroken = resolve;
    });
    this.#note = settingsNote(settings);
    this.#keepNote();
    this.#stop = world.timers.every(LOOK_MS, () => this.#look());
  }

  get isJoined(): boolean {
    return this.#isJoined;
  }

  /** Publishes the note of new settings. */
  note(settings: NotedSettings): void {
    // The cluster's own settings are read once, at the start.
    this.#note = { ...settingsNote(settings), timing: this.#note.timing };
    this.#keepNote();
  }

  report(): ClusterReport {
    const { engine, transport, settings } = this.#parts;
    const { reclaimAfterMs } = settings.cluster;
    const status = engine.status(true);
    return reportOf({
      ...{ status, address: transport.address, reclaimAfterMs },
      ...{ differences: this.#differences(status), wire: this.#wire() },
    });
  }

  forget(name: string): boolean {
    return this.#parts.engine.forget(name);
  }

  close(): void {
    this.#stop();
  }

  #look(): void {
    const { engine, world } = this.#parts;
    const status = engine.status(false);
    if (status.view && status.isSettled && !this.#isJoined) {
      this.#isJoined = true;
      this.#onJoined();
    }
    if (isReplaced(status)) this.#onBroken(new Error(status.problem!));
    this.#watch.look(status, world.clock.now(), {
      differences: this.#differences(status),
      wire: [...this.#wire().values()],
    });
  }

  #keepNote(): void {
    const { engine } = this.#parts;
    engine.keep(SETTINGS_NOTE + engine.status(false).name, this.#note);
  }

  #differences({ view, name }: NodeStatus): string[] {
    const others = (view?.members ?? []).map((member) => member.name).filter((other) => other !== name);
    return settingsDifferences(this.#note, this.#parts.engine.kept(), others);
  }

  #wire(): ReadonlyMap<string, string> {
    const problems = new Map<string, string>();
    for (const { address, isConnected, lastProblem } of this.#parts.transport.peers())
      if (!isConnected && lastProblem !== null) problems.set(address, lastProblem);
    return problems;
  }
}
