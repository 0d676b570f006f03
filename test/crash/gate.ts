/**
 * The gateway under test: `fairgate run` as a process of its own, on the same ports and in the same folder in each of its lives,
 * so that visitors who come back find it again.
 */
import { Child, type Ended } from "../../src/testing/cli/child.ts";
import { GIVE_UP_MS } from "../../src/testing/cli/eventually.ts";
import { MAIN, ownFolder, SECRET, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { freePort } from "../../src/testing/free-port.ts";
import { Asker, pause } from "./ask.ts";

const ASK_EVERY_MS = 10;
const START_MAX_MS = GIVE_UP_MS;

export interface GateOptions {
  readonly origin: string;
  /** Settings of the room, as in the file. */
  readonly room: Readonly<Record<string, string | number | boolean>>;
  /** null: stores nothing, to see that the checks notice. */
  readonly dataFolder: string | null;
  /** Settings of the Redis that has the line. Without them the line is in the gateway. */
  readonly redis?: object;
}

export interface StartOptions {
  /** A command that starts it, such as `taskset -c 0`. */
  readonly through?: readonly string[];
}

export class Gate {
  readonly address: string;
  readonly controlAddress: string;
  readonly #args: readonly string[];
  readonly #folder: ReturnType<typeof ownFolder>;
  #child: Child | null = null;

  static async make(options: GateOptions): Promise<Gate> {
    return new Gate(options, await freePort(), await freePort());
  }

  private constructor(options: GateOptions, port: number, controlPort: number) {
    this.address = `http://127.0.0.1:${port}`;
    this.controlAddress = `http://127.0.0.1:${controlPort}`;
    const room = Object.entries(options.room).map(([name, value]) => `    ${name}: ${value}\n`);
    const redis = options.redis ? `redis: ${JSON.stringify(options.redis)}\n` : "";
    // All visitors of a play come from one address.
    this.#folder = ownFolder({
      "fairgate.yaml": `listen: 127.0.0.1:${port}\ncontrol:\n  listen: 127.0.0.1:${controlPort}\nlog:\n  level: warn
limits:\n  newcomersPerAddressMax: null
origin:\n  addresses: [${options.origin}]\n${redis}rooms:\n  main:\n${room.join("")}`,
    });
    const data = options.dataFolder === null ? [] : ["--data", options.dataFolder];
    this.#args = ["run", "--config", `${this.#folder.path}/fairgate.yaml`, ...data];
  }

  /** Starts a life. It may not answer yet. */
  spawn({ through = [] }: StartOptions = {}): Child {
    const [command = "", ...args] = [...through, process.execPath, MAIN, ...this.#args];
    this.#child = new Child(command, args, {
      environment: { FAIRGATE_SECRET: SECRET, FAIRGATE_CONTROL_TOKEN: TOKEN },
    });
    return this.#child;
  }

  /** Starts a life and waits for its first answer. Returns how many milliseconds that took. */
  async start(options: StartOptions = {}): Promise<number> {
    const from = performance.now();
    const child = this.spawn(options);
    const state = { isOver: false };
    void child.ended.then(() => {
      state.isOver = true;
    });
    const asker = new Asker(this.address, 1);
    try {
      while (!(await asker.ask({ method: "GET", path: "/.fairgate/main/board" }))) {
        if (state.isOver) throw new Error(`the gateway does not start:\n${child.out}\n${child.err}`);
        if (performance.now() - from > START_MAX_MS)
          throw new Error(`the gateway does not answer:\n${child.out}\n${child.err}`);
        await pause(ASK_EVERY_MS);
      }
    } finally {
      asker.close();
    }
    return performance.now() - from;
  }

  /** Sends any signal, such as SIGSTOP, without waiting for its effect. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Ends it by kill -9 or another signal. */
  async end(signal: NodeJS.Signals = "SIGKILL"): Promise<Ended> {
    if (!this.#child) throw new Error("the gateway was never started");
    return this.#child.end(signal);
  }

  /** The output of this life. */
  get printed(): string {
    return `${this.#child?.out ?? ""}${this.#child?.err ?? ""}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child?.[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}
