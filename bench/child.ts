/** Servers under measurement run in processes of their own; they print one line of JSON when they are ready. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

/**
 * On a machine with more than one core the server gets one to itself and this process another, where the system can do
 * that: a scheduler that moves them about costs more, and more unevenly, than what is measured.
 */
const SERVER_CORE = "0";
const CLIENT_CORE = "1";
const canPin = spawnSync("taskset", ["-c", "-p", CLIENT_CORE, String(process.pid)]).status === 0;

/** For a third process: it gets the remaining cores, or both where there are no others. */
export function unpin(pid: number): void {
  const first = cpus().length > 2 ? 2 : 0;
  if (canPin) spawnSync("taskset", ["-a", "-c", "-p", `${first}-${cpus().length - 1}`, String(pid)]);
}

/** For a server that is no child of `startChild`. */
export function pinToServerCore(pid: number): void {
  if (canPin) spawnSync("taskset", ["-a", "-c", "-p", SERVER_CORE, String(pid)]);
}

/** Compiled code, cached for the next start. */
const COMPILED = fileURLToPath(new URL("../node_modules/.cache/fairgate-bench", import.meta.url));

export interface Child<Ready> {
  readonly ready: Ready;
  /** Asks the child something and waits for its answer. */
  ask<Answer>(question: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts `bench/servers/<name>` and waits until it is ready. */
export function startChild<Ready>(
  name: string,
  args: readonly string[] = [],
  execArgv: readonly string[] = [],
): Promise<Child<Ready>> {
  return start({ name, args, execArgv, cores: SERVER_CORE, environment: {} });
}

/** The same for one of many that start together: it may use all cores, and they share one cache of compiled code. */
export function startOneOfMany<Ready>(name: string, args: readonly string[]): Promise<Child<Ready>> {
  const environment = { NODE_COMPILE_CACHE: COMPILED };
  return start({ name, args, execArgv: [], cores: `0-${cpus().length - 1}`, environment });
}

interface Start {
  readonly name: string;
  readonly args: readonly string[];
  readonly execArgv: readonly string[];
  readonly cores: string;
  readonly environment: Readonly<Record<string, string>>;
}

async function start<Ready>({ name, args, execArgv, cores, environment }: Start): Promise<Child<Ready>> {
  const script = fileURLToPath(new URL(`./servers/${name}.ts`, import.meta.url));
  const node = [process.execPath, ...execArgv, script, ...args];
  const [command = "", ...rest] = canPin ? ["taskset", "-c", cores, ...node] : node;
  const env = { ...process.env, ...environment };
  const child = spawn(command, rest, { stdio: ["ignore", "inherit", "inherit", "ipc"], env });
  const ready = await answerOf<Ready>(child);
  return {
    ready,
    ask: (question) => {
      const answer = answerOf(child);
      child.send(question as object);
      return answer as Promise<never>;
    },
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.kill("SIGKILL");
      }),
  };
}

function answerOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a bench server ended with ${code}`));
    child.once("exit", onExit);
    child.once("message", (message) => {
      child.off("exit", onExit);
      resolve(message as T);
    });
  });
}
