/**
 * A word now and then from a command that takes long, on standard error: nothing in the first second, then
 * how far it is; one line that is written over on a terminal, a line each second elsewhere.
 */
const SILENT_MS = 1_000;
const TERMINAL_EVERY_MS = 100;
const ELSEWHERE_EVERY_MS = 1_000;

export interface ProgressWorld {
  now(): number;
  write(text: string): void;
  readonly isTerminal: boolean;
}

export class Progress {
  readonly #world: ProgressWorld;
  readonly #everyMs: number;
  #nextAt: number;
  #isShown = false;

  constructor(world: ProgressWorld) {
    this.#world = world;
    this.#everyMs = world.isTerminal ? TERMINAL_EVERY_MS : ELSEWHERE_EVERY_MS;
    this.#nextAt = world.now() + SILENT_MS;
  }

  /** Says how far it is, if it is time to. */
  tell(text: string): void {
    const now = this.#world.now();
    if (now < this.#nextAt) return;
    this.#nextAt = now + this.#everyMs;
    this.#isShown = true;
    this.#world.write(this.#world.isTerminal ? `\r\x1b[2K${text}` : `${text}\n`);
  }

  /** Leaves the terminal as it was. */
  end(): void {
    if (this.#isShown && this.#world.isTerminal) this.#world.write("\r\x1b[2K");
    this.#isShown = false;
  }
}

/** On this process's standard error. */
export function progressHere(): Progress {
  return new Progress({
    now: () => performance.now(),
    write: (text) => void process.stderr.write(text),
    isTerminal: process.stderr.isTTY === true,
  });
}

/** Does what waits for others, and tells of it each second. */
export async function whileTelling<T>(text: string, work: () => Promise<T>): Promise<T> {
  const progress = progressHere();
  const timer = setInterval(() => progress.tell(text), TERMINAL_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    progress.end();
  }
}
