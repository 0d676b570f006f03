/**
 * A program on a terminal: a real one, by `script` of util-linux, and what a person would see on it. Tests
 * read the screen and not the bytes.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { eventually } from "./eventually.ts";
import { ownFolder } from "./fairgate.ts";
import { Terminal } from "./terminal.ts";

/** Why no terminal can be had here; undefined when one can. */
export function whyNoTerminal(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.some((folder) => existsSync(join(folder, "script")))
    ? undefined
    : "there is no script(1) on this machine";
}

export interface ScreenOptions {
  readonly columns: number;
  readonly rows: number;
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const alive = new Set<() => void>();
process.on("exit", () => {
  for (const kill of alive) kill();
});

export class Screen {
  readonly #terminal: Terminal;
  readonly #folder = ownFolder();
  readonly #child: ReturnType<typeof spawn>;
  readonly ended: Promise<void>;
  #isOver = false;

  constructor(command: readonly string[], { columns, rows, cwd, environment }: ScreenOptions) {
    this.#terminal = new Terminal(columns, rows);
    const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const script = `tty > ${this.#folder.path}/tty; echo $$ > ${this.#folder.path}/pid; stty cols ${columns} rows ${rows}; exec ${quoted}`;
    this.#child = spawn("script", ["-qfec", script, "/dev/null"], {
      cwd,
      env: { ...process.env, NO_COLOR: "1", TERM: "xterm-256color", ...environment },
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
    });
    const kill = () => process.kill(-this.#child.pid!, "SIGKILL");
    alive.add(kill);
    this.#child.stdout!.on("data", (bytes: Buffer) => this.#terminal.write(bytes));
    this.ended = new Promise((resolve) => {
      this.#child.once("close", () => {
        alive.delete(kill);
        this.#isOver = true;
        resolve();
      });
    });
  }

  /** What is on the screen now, without spaces at the ends of lines. */
  text(): string {
    return this.#terminal.text();
  }

  /** True while the program draws on the other screen. */
  get isOtherScreen(): boolean {
    return this.#terminal.isOther;
  }

  /** Waits until the screen matches, and gives what is on it. */
  async shows(pattern: RegExp): Promise<string> {
    return eventually(
      () => `the screen shows ${pattern}:\n${this.text()}`,
      () => {
        const text = this.text();
        if (!pattern.test(text) && this.#isOver)
          throw new Error(`ended without showing ${pattern}:\n${text}`);
        return pattern.test(text) && text;
      },
    );
  }

  type(keys: string): void {
    this.#child.stdin!.write(keys);
  }

  /** Makes the window another size, as a person would with the mouse. */
  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
    const tty = readFileSync(`${this.#folder.path}/tty`, "utf8").trim();
    execFileSync("stty", ["-F", tty, "cols", String(columns), "rows", String(rows)]);
  }

  /** Sends a signal to the program itself. */
  kill(signal: NodeJS.Signals): void {
    process.kill(Number(readFileSync(`${this.#folder.path}/pid`, "utf8")), signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOver) process.kill(-this.#child.pid!, "SIGKILL");
    await this.ended;
    this.#folder[Symbol.dispose]();
  }
}
