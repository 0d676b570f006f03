/**
 * The line in the terminal, live: the addresses and one block of numbers, drawn over themselves. Into a file or a pipe the
 * addresses are written once, and then a plain line now and then.
 */
import type { Board } from "../../core/board.ts";
import type { Counts } from "../../core/engine.ts";
import { bar, clipped, sparkline } from "../operate/columns.ts";
import { OtherScreen } from "../operate/other-screen.ts";

const HISTORY_MAX = 300;
const BAR_COLUMNS = 24;
const LABEL_COLUMNS = 12;
const VALUE_COLUMNS = 16;
const PLAIN_EVERY = 5;

export interface DemoScene {
  readonly board: Board;
  readonly counts: Counts;
  readonly limits: { totalActiveUsers: number; newUsersPerMinute: number };
  /** How many seconds someone who joins now may expect to wait. */
  readonly waitSeconds: { low: number; high: number } | null;
}

export class DemoView {
  readonly #out: NodeJS.WriteStream;
  readonly #screen: OtherScreen | null;
  readonly #opening: string;
  readonly #history: number[] = [];
  #latest: DemoScene | null = null;
  #shown = 0;

  /** `opening`: what is said above the numbers. */
  constructor(out: NodeJS.WriteStream, opening: string) {
    this.#out = out;
    this.#opening = opening;
    this.#screen = out.isTTY ? new OtherScreen(out) : null;
    if (this.#screen === null) out.write(opening);
    else this.#screen.onResize(() => this.#draw());
    this.#draw();
  }

  show(scene: DemoScene): void {
    this.#history.push(scene.counts.waiting);
    if (this.#history.length > HISTORY_MAX) this.#history.shift();
    this.#latest = scene;
    if (this.#screen === null && this.#shown++ % PLAIN_EVERY === 0) this.#out.write(`${plainLine(scene)}\n`);
    this.#draw();
  }

  /** Leaves the terminal as it was. */
  close(): void {
    this.#screen?.close();
  }

  #draw(): void {
    const screen = this.#screen;
    if (screen === null) return;
    const numbers = this.#latest === null ? [] : block(this.#latest, this.#history, screen.columns);
    screen.draw([...this.#opening.split("\n"), ...numbers].map((line) => clipped(line, screen.columns)));
  }
}

function block(scene: DemoScene, history: readonly number[], columns: number): string[] {
  const { counts, limits } = scene;
  const onSite = counts.onSite + counts.admitted;
  const { totals } = counts;
  return [
    row("waiting", String(counts.waiting), sparkline(history, columns - LABEL_COLUMNS - VALUE_COLUMNS - 3)),
    row(
      "on site",
      `${onSite} of ${limits.totalActiveUsers}`,
      bar(onSite, limits.totalActiveUsers, BAR_COLUMNS),
    ),
    row(
      "admitted",
      `${Math.round(counts.ratePerMinute)} a minute`,
      bar(counts.ratePerMinute, limits.newUsersPerMinute, BAR_COLUMNS),
    ),
    row("wait", waitText(scene), "for someone who joins now"),
    row("fairness", fairness(counts), "let in in the order they joined, lately"),
    row("so far", `${totals.joined} joined`, `${totals.entered} entered, ${totals.left} left again`),
    row("", "", `${totals.lapsed} wandered off, ${totals.missedTurns} missed their turn`),
  ];
}

function plainLine(scene: DemoScene): string {
  const { counts, limits } = scene;
  return `waiting ${counts.waiting} · on site ${counts.onSite + counts.admitted} of ${limits.totalActiveUsers} · admitted ${Math.round(counts.ratePerMinute)} a minute · wait ${waitText(scene)} · fairness ${fairness(counts)}`;
}

function row(label: string, value: string, more: string): string {
  return `  ${label.padEnd(LABEL_COLUMNS)}${value.padEnd(VALUE_COLUMNS)}${more}`;
}

/** The wait of someone who joins now, in words. */
export function waitText({ waitSeconds }: DemoScene): string {
  if (!waitSeconds) return "unknown";
  return waitSeconds.high < 1
    ? "none"
    : `${Math.round(waitSeconds.low)} to ${Math.round(waitSeconds.high)} s`;
}

function fairness(counts: Counts): string {
  return `${((1 - counts.unfairness) * 100).toFixed(2)} %`;
}
