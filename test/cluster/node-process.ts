/**
 * One node of a cluster as a process of its own: `fairgate run` with a settings file, on the same ports and under the
 * same name in each of its lives.
 */
import type { ClusterReport } from "../../src/office/desk.ts";
import type { Ended } from "../../src/testing/cli/child.ts";
import {
  Control,
  type LogLine,
  ownFolder,
  type Run,
  startRun,
  TOKEN,
} from "../../src/testing/cli/fairgate.ts";
import { freePort } from "../../src/testing/free-port.ts";
import type { Network } from "./network.ts";

const LAST_WORDS_MAX = 2_000;

export interface NodeOptions {
  readonly name: string;
  readonly origin: string;
  /** Settings of the room, as in the file. */
  readonly room: object;
  /** The network between it and the others. Without one they reach it directly. */
  readonly network?: Network;
}

export class NodeProcess {
  readonly name: string;
  /** The address for visitors. */
  readonly address: string;
  /** The address for the other nodes. */
  readonly peerAddress: string;
  readonly control: Control;
  readonly #ports: Ports;
  readonly #options: NodeOptions;
  readonly #folder = ownFolder();
  #run: Run | null = null;

  static async make(options: NodeOptions): Promise<NodeProcess> {
    const ports = { listen: await freePort(), control: await freePort(), peers: await freePort() };
    const peerAddress = (await options.network?.address(ports.peers)) ?? `127.0.0.1:${ports.peers}`;
    return new NodeProcess(options, ports, peerAddress);
  }

  private constructor(options: NodeOptions, ports: Ports, peerAddress: string) {
    this.name = options.name;
    this.address = `http://127.0.0.1:${ports.listen}`;
    this.control = new Control(`http://127.0.0.1:${ports.control}`, TOKEN);
    this.peerAddress = peerAddress;
    this.#ports = ports;
    this.#options = options;
  }

  /** Starts a life that asks these nodes to let it join, or creates a cluster; resolves once it serves visitors. */
  async start(join: readonly NodeProcess[] = []): Promise<void> {
    const { listen, control, peers } = this.#ports;
    const { origin, room, name } = this.#options;
    const settings = {
      origin: { addresses: [origin] },
      cluster: {
        ...{ name, listen: `127.0.0.1:${peers}`, advertise: this.peerAddress },
        join: join.map(({ peerAddress }) => peerAddress),
      },
      rooms: { main: room },
    };
    // JSON is YAML.
    this.#folder.write("fairgate.yaml", JSON.stringify(settings));
    const addresses = ["--listen", `127.0.0.1:${listen}`, "--control-listen", `127.0.0.1:${control}`];
    this.#run = await startRun(["--config", `${this.#folder.path}/fairgate.yaml`, ...addresses]);
  }

  /** The cluster as this node sees it. */
  async report(): Promise<ClusterReport> {
    return (await this.control.ask<ClusterReport>("GET", "/cluster")).body;
  }

  /** What this life has logged. */
  log(): LogLine[] {
    return this.#run?.log() ?? [];
  }

  /** The last output of this life outside its log: why it ended, if it did so by itself. */
  lastWords(): string {
    return this.#run?.child.err.slice(-LAST_WORDS_MAX) ?? "";
  }

  /** Ends it by kill -9 or another signal. Behind a network it cannot be started again: its address is gone. */
  async end(signal: NodeJS.Signals): Promise<Ended> {
    if (!this.#run) throw new Error(`${this.name} was never started`);
    const ended = await this.#run.child.end(signal);
    await this.#options.network?.unplug(this.peerAddress);
    return ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run?.[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

interface Ports {
  readonly listen: number;
  readonly control: number;
  readonly peers: number;
}
