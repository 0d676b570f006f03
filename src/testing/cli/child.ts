/**
 * A program started by a test: its output and its exit. Held with `await using`, it never outlives the test.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { GIVE_UP_MS } from "./eventually.ts";

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Most of a short command's time is compiling; a test run starts dozens of them. */
const COMPILED = fileURLToPath(new URL("../../../node_modules/.cache/fairgate-tests", import.meta.url));

const alive = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

export class Child {
  /** Standard output and standard error so far. */
  out = "";
  err = "";
  readonly ended: Promise<Ended>;
  readonly #process: ChildProcess;
  #onNews: (() => void)[] = [];
  #isOver = false;

  constructor(command: string, args: readonly string[], options: ChildOptions = {}) {
    this.#process = spawn(command, args, {
      cwd: options.cwd,
      env: withoutOurs(options.environment ?? {}),
      stdio: ["ignore", "pipe", "pipe"],
    });
    alive.add(this.#process);
    this.#process.stdout!.setEncoding("utf8").on("data", (text: string) => this.#hear("out", text));
    this.#process.stderr!.setEncoding("utf8").on("data", (text: string) => this.#hear("err", text));
    this.ended = new Promise((resolve, reject) => {
      this.#process.once("error", reject);
      this.#process.once("close", (code, signal) => {
        alive.delete(this.#process);
        this.#isOver = true;
        this.#tell();
        resolve({ code, signal });
      });
    });
  }

  /** Waits until standard output and error together match. Fails when the program ends first. */
  async prints(pattern: RegExp, giveUpMs = GIVE_UP_MS): Promise<RegExpExecArray> {
    const endAt = Date.now() + giveUpMs;
    for (;;) {
      const found = pattern.exec(this.out + this.err);
      if (found) return found;
      if (this.#isOver) throw new Error(`the program ended without printing ${pattern}:\n${this.#all()}`);
      if (Date.now() > endAt) throw new Error(`the program does not print ${pattern}:\n${this.#all()}`);
      await this.#news(endAt - Date.now());
    }
  }

  get pid(): number {
    return this.#process.pid!;
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Sends the signal and waits for the end. */
  async end(signal: NodeJS.Signals): Promise<Ended> {
    this.kill(signal);
    return this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOver) await this.end("SIGKILL");
  }

  #all(): string {
    return `${this.out}\n${this.err}`;
  }

  #hear(stream: "out" | "err", text: string): void {
    this[stream] += text;
    this.#tell();
  }

  #tell(): void {
    const waiting = this.#onNews;
    this.#onNews = [];
    for (const go of waiting) go();
  }

  #news(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs + 1);
      this.#onNews.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** This process's environment without settings of Fairgate, of the test runner and of an npm around it. */
function withoutOurs(own: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const isOurs = /^(FAIRGATE_|NODE_TEST|npm_(package|lifecycle|command|execpath|config_local_prefix))/;
  const kept = Object.entries(process.env).filter(([name]) => !isOurs.test(name));
  return { ...Object.fromEntries(kept), NO_COLOR: "1", NODE_COMPILE_CACHE: COMPILED, ...own };
}
