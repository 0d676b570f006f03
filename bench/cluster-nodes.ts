/** A cluster of node processes on this machine, which share all its cores with each other and with the users. */
import type { Counts } from "../src/core/engine.ts";
import { eventually } from "../src/testing/cli/eventually.ts";
import { type Child, startOneOfMany } from "./child.ts";
import type { NodeQuestion } from "./servers/answer-parent.ts";

interface Ready {
  /** Where users come. */
  readonly port: number;
  /** Where the other nodes reach it. */
  readonly address: string;
}

export interface ClusterScene {
  readonly server: "cluster-node" | "cluster-gateway";
  readonly count: number;
  /** The room's. */
  readonly slots: number;
}

export class ClusterNodes {
  readonly #nodes: readonly Child<Ready>[];

  private constructor(nodes: readonly Child<Ready>[]) {
    this.#nodes = nodes;
  }

  /** Starts them all, and waits until all know each other. */
  static async start({ server, count, slots }: ClusterScene): Promise<ClusterNodes> {
    const startNode = (founder: string) => startOneOfMany<Ready>(server, [founder, String(slots)]);
    const first = await startNode("");
    const others = await Promise.all(Array.from({ length: count - 1 }, () => startNode(first.ready.address)));
    const nodes = new ClusterNodes([first, ...others]);
    await eventually(`${count} nodes know each other`, async () =>
      (await nodes.#askAll<number>("members")).every((members) => members === count),
    );
    return nodes;
  }

  get ports(): readonly number[] {
    return this.#nodes.map(({ ready }) => ready.port);
  }

  /** The room's counts, as one of them knows them. */
  counts(): Promise<Counts> {
    return this.#nodes[0]!.ask("counts");
  }

  /** Processor time of all of them so far. */
  async spentUs(): Promise<number> {
    const spent = await this.#askAll<NodeJS.CpuUsage>("spent");
    return spent.reduce((sum, { user, system }) => sum + user + system, 0);
  }

  /** Gives the room this many slots. */
  async setSlots(slots: number): Promise<void> {
    await this.#askAll({ slots });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }

  #askAll<Answer>(question: NodeQuestion): Promise<Answer[]> {
    return Promise.all(this.#nodes.map((node) => node.ask<Answer>(question)));
  }
}
