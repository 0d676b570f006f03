/**
 * The line in the terminal, live. In a real terminal one small block is drawn over itself; into a file or a pipe, a
 * plain line now and then.
 */
import type { Board } from "../../core/board.ts";
import type { Counts } from "../../core/engine.ts";

const HISTORY_MAX = 48;
const BARS = " ▁▂▃▄▅▆▇█";
const PLAIN_EVERY = 5;

export interface DemoScene {
  readonly board: Board;
  readonly counts: Counts;
  readonly limits: { totalActiveUsers: number; newUsersPerMinute: number };
  /** Seconds someone who joins now may expect. */
  readonly waitSeconds: { low: number; high: number } | null;
}

export class DemoView {
  readonly #out: NodeJS.WriteStream;
  readonly #history: number[] = [];
  #drawn = 0;
  #shown = 0;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  show(scene: DemoScene): void {
    this.#history.push(scene.counts.waiting);
    if (this.#history.length > HISTORY_MAX) this.#history.shift();
    if (!this.#out.isTTY) {
      if (this.#shown++ % PLAIN_EVERY === 0) this.#out.write(`${plainLine(scene)}\n`);
      return;
    }
    const lines = block(scene, this.#history);
    if (this.#drawn > 0) this.#out.write(`\x1b[${this.#drawn}A`);
    this.#out.write(lines.map((line) => `\x1b[2K${line}\n`).join(""));
    this.#drawn = lines.length;
  }
}

function block(scene: DemoScene, history: readonly number[]): string[] {
  const { counts, limits } = scene;
  return [
    "",
    row("waiting", String(counts.waiting), sparkline(history)),
    row(
      "on site",
      `${counts.onSite + counts.admitted} of ${limits.totalActiveUsers}`,
      gauge(counts.onSite + counts.admitted, limits.totalActiveUsers),
    ),
    row(
      "admitted",
      `${Math.round(counts.ratePerMinute)} a minute`,
      gauge(counts.ratePerMinute, limits.newUsersPerMinute),
    ),
    row("wait", waitText(scene), "for someone who joins now"),
    row(
      "fairness",
      fairness(counts),
      `order of joining against order of admission, last ${Math.min(1_000, counts.totals.admitted)}`,
    ),
    row(
      "so far",
      `${counts.totals.joined} joined`,
      `${counts.totals.entered} entered, ${counts.totals.lapsed} wandered off, ${counts.totals.missedTurns} missed their turn`,
    ),
    "",
  ];
}

function plainLine(scene: DemoScene): string {
  const { counts, limits } = scene;
  return `waiting ${counts.waiting} · on site ${counts.onSite + counts.admitted} of ${limits.totalActiveUsers} · admitted ${Math.round(counts.ratePerMinute)} a minute · wait ${waitText(scene)} · fairness ${fairness(counts)}`;
}

function row(label: string, value: string, more: string): string {
  return `  ${label.padEnd(10)}${value.padEnd(16)}\x1b[2m${more}\x1b[0m`;
}

function waitText({ waitSeconds }: DemoScene): string {
  if (!waitSeconds) return "unknown";
  return waitSeconds.high < 1
    ? "none"
    : `${Math.round(waitSeconds.low)} to ${Math.round(waitSeconds.high)} s`;
}

function fairness(counts: Counts): string {
  return `${((1 - counts.unfairness) * 100).toFixed(2)} %`;
}

function gauge(value: number, max: number): string {
  const filled = Math.max(0, Math.min(24, Math.round((value / max) * 24)));
  return `${"█".repeat(filled)}${"░".repeat(24 - filled)}`;
}

function sparkline(values: readonly number[]): string {
  const max = Math.max(1, ...values);
  return values.map((value) => BARS[Math.round((value / max) * (BARS.length - 1))]).join("");
}
