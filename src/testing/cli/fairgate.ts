/** `fairgate …` from source, as a process of its own. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Counts } from "../../core/engine.ts";
import { Child, type ChildOptions, type Ended } from "./child.ts";
import { GIVE_UP_MS } from "./eventually.ts";

export const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
export const SECRET = "a-secret-for-tests-only-0123456789-abcdef";
export const TOKEN = "a-token-for-tests-only-0123456789-abcdef";
const SECRETS = { FAIRGATE_SECRET: SECRET, FAIRGATE_CONTROL_TOKEN: TOKEN };
const ANYWHERE = ["--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"];

/** One command, run to its end. */
export async function fairgate(args: readonly string[], options: ChildOptions = {}): Promise<Child & Ended> {
  const child = new Child(process.execPath, [MAIN, ...args], options);
  const tooLate = setTimeout(() => child.kill("SIGKILL"), GIVE_UP_MS);
  const ended = await child.ended;
  clearTimeout(tooLate);
  return Object.assign(child, ended);
}

/** `fairgate run`, once it is running. */
export interface Run {
  readonly child: Child;
  readonly address: string;
  readonly control: Control;
  /** Log lines so far, read. */
  log(): LogLine[];
  [Symbol.asyncDispose](): Promise<void>;
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Starts `fairgate run` on free ports, with a secret and a control token, and waits until it listens. */
export async function startRun(args: readonly string[], options: ChildOptions = {}): Promise<Run> {
  const environment = { ...SECRETS, ...options.environment };
  const child = new Child(process.execPath, [MAIN, "run", ...ANYWHERE, ...args], { ...options, environment });
  return running(child);
}

/** A child as a `Run`, once it prints where it listens. */
export async function running(child: Child): Promise<Run> {
  try {
    const line = await child.prints(/^\{.*"fairgate is running".*\}$/m);
    const { listen, control } = JSON.parse(line[0]) as { listen: string; control: string };
    return {
      child,
      address: `http://${listen}`,
      control: new Control(`http://${control}`, TOKEN),
      log: () => readLog(child.out),
      [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
    };
  } catch (cause) {
    await child[Symbol.asyncDispose]();
    throw cause;
  }
}

/** The control address of a running process. */
export class Control {
  readonly address: string;
  readonly #token: string;

  constructor(address: string, token: string) {
    this.address = address;
    this.#token = token;
  }

  /** One call with the token; the status, and the body read as JSON where it is JSON. */
  async ask<T = unknown>(method: string, path: string, body?: object): Promise<ControlAnswer<T>> {
    const answer = await fetch(this.address + path, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json") === true;
    return { status: answer.status, body: isJson ? JSON.parse(text) : null, text };
  }

  async counts(room = "main"): Promise<Counts> {
    return (await this.ask<{ counts: Counts }>("GET", `/rooms/${room}`)).body.counts;
  }
}

export interface ControlAnswer<T> {
  readonly status: number;
  readonly body: T;
  readonly text: string;
}

/** Folders that are not removed yet. */
const folders = new Set<string>();
process.on("exit", () => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

/** A folder of its own for a test, removed when the test or this process ends. */
export function ownFolder(files: Readonly<Record<string, string>> = {}): {
  readonly path: string;
  write(name: string, text: string): void;
  [Symbol.dispose](): void;
} {
  const path = mkdtempSync(join(tmpdir(), "fairgate-test-"));
  folders.add(path);
  const write = (name: string, text: string) => writeFileSync(join(path, name), text);
  for (const [name, text] of Object.entries(files)) write(name, text);
  const remove = () => {
    folders.delete(path);
    rmSync(path, { recursive: true, force: true });
  };
  return { path, write, [Symbol.dispose]: remove };
}

function readLog(out: string): LogLine[] {
  const whole = out.slice(0, out.lastIndexOf("\n") + 1).split("\n");
  return whole.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}
