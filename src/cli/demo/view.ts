/**
 * The line in the terminal, live: the addresses, a block of numbers and the latest news, drawn over themselves. Into a file or
 * a pipe the addresses are written once, and then a plain line now and then.
 */
import type { Counts } from "../../core/engine.ts";
import { bar, clipped, sparkline } from "../operate/columns.ts";
import { OtherScreen, type Window } from "../operate/other-screen.ts";

const HISTORY_MAX = 300;
const MINUTE = 60;
const BAR_COLUMNS = 24;
const LABEL_COLUMNS = 13;
const VALUE_COLUMNS = 14;
const NEWS_MAX = 30;
const FOOT = "  Ctrl-C stops everything.";

export interface DemoScene {
  readonly counts: Counts;
  readonly limits: { totalActiveUsers: number; newUsersPerMinute: number };
  /** How many seconds someone who joins now may expect to wait. */
  readonly waitSeconds: { low: number; high: number } | null;
}

/** A file or pipe has no size. */
export type DemoWindow = Window & Pick<NodeJS.WriteStream, "isTTY">;

/** Is shown a scene every second. */
export class DemoView {
  readonly #out: DemoWindow;
  readonly #screen: OtherScreen | null;
  readonly #opening: readonly string[];
  readonly #scenes: DemoScene[] = [];
  readonly #news: string[] = [];
  #seconds = 0;
  #wasFull = false;

  /** `opening`: what is said above the numbers. */
  constructor(out: DemoWindow, opening: readonly string[]) {
    this.#out = out;
    this.#opening = opening;
    this.#screen = out.isTTY ? new OtherScreen(out) : null;
    if (this.#screen === null) out.write(`\n${opening.join("\n")}\n\n${FOOT}\n\n`);
    else this.#screen.onResize(() => this.#draw());
    this.#draw();
  }

  show(scene: DemoScene): void {
    this.#scenes.push(scene);
    if (this.#scenes.length > HISTORY_MAX) this.#scenes.shift();
    // Every ten seconds in the first minute, then every minute.
    const every = this.#seconds < MINUTE ? 10 : MINUTE;
    if (this.#screen === null && this.#seconds % every === every / 2)
      this.#out.write(`${plainLine(scene)}\n`);
    this.#seconds++;
    const { counts, limits } = scene;
    if (!this.#wasFull && counts.waiting > 0 && counts.onSite + counts.admitted >= limits.totalActiveUsers) {
      this.#wasFull = true;
      this.tell("the site is full: from now on, somebody gets in when somebody leaves");
    }
    this.#draw();
  }

  /** Adds a sentence to the news; they are shown where there is space, the latest first. */
  tell(sentence: string): void {
    const at = `${Math.floor(this.#seconds / 60)}:${String(this.#seconds % 60).padStart(2, "0")}`;
    this.#news.unshift(`  ${at.padStart(5)}  ${sentence}`);
    if (this.#news.length > NEWS_MAX) this.#news.pop();
  }

  /** Leaves the terminal as it was. */
  close(): void {
    this.#screen?.close();
  }

  #draw(): void {
    const screen = this.#screen;
    if (screen === null) return;
    const numbers =
      this.#scenes.length === 0 ? [] : ["", ...block(this.#scenes, screen.columns), "", ...this.#news];
    const lines = [...this.#opening, ...numbers].slice(0, Math.max(0, screen.rows - 2));
    screen.draw([...lines, "", FOOT].map((line) => clipped(line, screen.columns)));
  }
}

function block(scenes: readonly DemoScene[], columns: number): string[] {
  const { counts, limits, waitSeconds } = scenes.at(-1)!;
  const { totals } = counts;
  const onSite = counts.onSite + counts.admitted;
  const letIn = letInLately(scenes);
  const waiting = scenes.map((scene) => scene.counts.waiting);
  return [
    row("waiting", String(counts.waiting), sparkline(waiting, columns - LABEL_COLUMNS - VALUE_COLUMNS - 3)),
    row(
      "on site",
      `${onSite} of ${limits.totalActiveUsers}`,
      bar(onSite, limits.totalActiveUsers, BAR_COLUMNS),
    ),
    row(
      "let in",
      String(letIn),
      `${bar(letIn, limits.newUsersPerMinute, BAR_COLUMNS)}  last minute; ${limits.newUsersPerMinute} at most`,
    ),
    row("wait", waitText(waitSeconds), "for someone who joins now"),
    row("fairness", fairness(counts), "let in in the order they joined"),
    row(
      "so far",
      `${totals.joined} joined`,
      `${totals.entered} let in, ${totals.left} left again, ${totals.missedTurns} missed their turn`,
    ),
  ];
}

function plainLine({ counts, limits, waitSeconds }: DemoScene): string {
  return `waiting ${counts.waiting} · on site ${counts.onSite + counts.admitted} of ${limits.totalActiveUsers} · ${counts.totals.entered} let in so far · wait ${waitText(waitSeconds)} · fairness ${fairness(counts)}`;
}

function row(label: string, value: string, more: string): string {
  return `  ${label.padEnd(LABEL_COLUMNS)}${value.padEnd(VALUE_COLUMNS)}${more}`;
}

/** Turns given within the last minute, or since the start. */
function letInLately(scenes: readonly DemoScene[]): number {
  const admitted = ({ counts }: DemoScene) => counts.totals.admitted;
  const before = scenes.at(-1 - MINUTE);
  return admitted(scenes.at(-1)!) - (before ? admitted(before) : 0);
}

function waitText(seconds: DemoScene["waitSeconds"]): string {
  if (!seconds) return "not known";
  if (seconds.high < 1) return "none";
  const [low, high] = [Math.round(seconds.low), Math.round(seconds.high)];
  return low === high ? `${low} s` : `${low} to ${high} s`;
}

function fairness(counts: Counts): string {
  return `${((1 - counts.unfairness) * 100).toFixed(2)} %`;
}
