/**
 * Real Redis processes for tests and benches. Hold one with `await using`, and it ends with the test; forgotten ones end with
 * this process.
 *
 * Ports are this process's own (free-port.ts): a server started at the port of a dead one would be in its way when it restarts.
 * If Redis cannot have one all the same, the next one is tried.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisClient } from "@redis/client";
import { ensureRedis, findRedis } from "../../../scripts/redis.ts";
import { eventually, GIVE_UP_MS } from "../cli/eventually.ts";
import { freePort } from "../free-port.ts";

const PORT_TRIES_MAX = 50;
/** Reached only when a server hangs. */
const COMMAND_MS = 30_000;
const NOTHING_KEPT = ["--save", "", "--appendonly", "no"];
/** Replication begins at once, and a cluster shows a replica to clients after its first replicated command. */
const QUICK_REPLICAS = ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"];

export interface RedisOptions {
  readonly port?: number;
  /** More options as on the command line: `["--maxmemory", "2mb"]`. They win over ours. */
  readonly args?: readonly string[];
  /** Where it keeps its files. Without one, a directory of its own that goes when it is stopped. */
  readonly directory?: string;
  readonly password?: string;
}

const alive = new Set<ChildProcess>();
const ownDirectories = new Set<string>();
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
  for (const directory of ownDirectories) rmSync(directory, { recursive: true, force: true });
});

const PROTOCOL = { RESP: 2 } as const;
/** `createClient` puts a class with every command together for each address, which takes longer than a command. */
const newClient = RedisClient.factory(PROTOCOL);

/** Starts a Redis that keeps nothing on disk unless `args` say so, and waits until it answers. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  ensureRedis();
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "fairgate-redis-"));
  if (options.directory === undefined) ownDirectories.add(directory);
  else mkdirSync(directory, { recursive: true });
  for (let tries = 1; ; tries++) {
    const port = options.port ?? (await freePort());
    const server = new RedisServer({ ...options, port, directory });
    try {
      await server.restart();
      return server;
    } catch (error) {
      const isTaken = options.port === undefined && String(error).includes("Address already in use");
      if (isTaken && tries < PORT_TRIES_MAX) continue;
      await server.stop();
      throw error;
    }
  }
}

/** Starts several at once: all of them, or none. */
export async function startAll(each: readonly RedisOptions[]): Promise<RedisServer[]> {
  const started = await Promise.allSettled(each.map(startRedis));
  const servers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = started.find((one) => one.status === "rejected");
  if (!failed) return servers;
  await stopAll(servers);
  throw failed.reason;
}

/** Stops all at the same time, so that none reacts to the others' end. */
export async function stopAll(servers: readonly RedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
}

/** One Redis process, which may die and come back at the same port with the same files. */
export class RedisServer {
  readonly port: number;
  readonly url: string;
  readonly directory: string;
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;
  #isPaused = false;

  constructor(options: RedisOptions & { readonly port: number; readonly directory: string }) {
    const { port, directory, password, args = [] } = options;
    this.port = port;
    this.directory = directory;
    this.url = `redis://${password === undefined ? "" : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`;
    const secret = password === undefined ? [] : ["--requirepass", password, "--masterauth", password];
    const place = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", directory];
    this.#args = [...place, ...NOTHING_KEPT, ...QUICK_REPLICAS, ...secret, ...args];
  }

  /** The process id; undefined while none runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** False while it is dead or paused. */
  get isRunning(): boolean {
    return this.#child !== undefined && !this.#isPaused;
  }

  /** Everything it printed, over all restarts. */
  get log(): string {
    return existsSync(this.#file("log")) ? readFileSync(this.#file("log"), "utf8") : "";
  }

  /** Ends the process, by `kill -9` unless told otherwise, and waits until it is gone. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (!child) return;
    child.ref();
    const gone = once(child, "exit", { signal: AbortSignal.timeout(GIVE_UP_MS) });
    child.kill(signal);
    // Only SIGKILL reaches a process that is stopped.
    if (this.#isPaused && signal !== "SIGKILL") this.resume();
    await gone.catch((cause: unknown) => {
      throw new Error(`Redis at port ${this.port} did not end by ${signal}`, { cause });
    });
  }

  /** Ends the process and removes its directory, if that was not the caller's. */
  async stop(): Promise<void> {
    await this.kill();
    if (ownDirectories.delete(this.directory)) rmSync(this.directory, { recursive: true, force: true });
  }

  /** SIGSTOP: connections stay open, new ones are accepted by the kernel, and nothing is answered. */
  pause(): void {
    this.#isPaused = true;
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#isPaused = false;
    this.#child?.kill("SIGCONT");
  }

  /** Ends it if it runs, starts it at the same port with the same files, and waits until it answers. */
  async restart(): Promise<void> {
    await this.kill();
    const printedBefore = this.log.length;
    const child = this.#launch();
    try {
      await eventually(`Redis at port ${this.port} answers`, async () => {
        if (this.#child !== child) throw new Error(`Redis at port ${this.port} ended`);
        return this.#answers(child.pid);
      });
    } catch (error) {
      await this.kill();
      throw new Error(`${(error as Error).message}. Its log:\n${this.log.slice(printedBefore)}`);
    }
  }

  /** One command over a connection of its own: works through restarts, fails at once when there is no server. */
  async command(...words: readonly (string | number)[]): Promise<unknown> {
    const client = newClient({
      ...PROTOCOL,
      url: this.url,
      disableClientInfo: true,
      socket: { reconnectStrategy: false, socketTimeout: COMMAND_MS, connectTimeout: COMMAND_MS },
    });
    // A broken connection also fails the command; a client without a listener would end the process.
    client.on("error", () => {});
    try {
      await client.connect();
      return await client.sendCommand(words.map(String));
    } finally {
      if (client.isOpen) client.destroy();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** True once this very process answers: the port may be another server's, which would answer as well. */
  async #answers(pid: number | undefined): Promise<boolean> {
    try {
      if ((await this.command("PING")) !== "PONG") return false;
      return String(await this.command("INFO", "server")).includes(`process_id:${pid}\r\n`);
    } catch {
      return false;
    }
  }

  #file(name: "conf" | "log"): string {
    return join(this.directory, `redis.${name}`);
  }

  #launch(): ChildProcess {
    // With a file of settings, even an empty one, Redis can keep what is changed while it runs (CONFIG REWRITE).
    appendFileSync(this.#file("conf"), "");
    const log = openSync(this.#file("log"), "a");
    const [program, ...words] = [...withThisProcess(), findRedis()!, this.#file("conf"), ...this.#args];
    const child = spawn(program!, words, { stdio: ["ignore", log, log] });
    closeSync(log);
    alive.add(child);
    this.#child = child;
    this.#isPaused = false;
    const forget = () => {
      alive.delete(child);
      if (this.#child === child) this.#child = undefined;
    };
    child.once("exit", forget);
    child.once("error", forget);
    // A server that a test forgot must not keep the test's process alive.
    child.unref();
    return child;
  }
}

/** Command prefix that ends a program together with this process, even after kill -9 (Linux). */
function withThisProcess(): readonly string[] {
  return existsSync("/usr/bin/setpriv") ? ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"] : [];
}
