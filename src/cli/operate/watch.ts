/**
 * `fairgate watch`: the rooms of a running Fairgate, live, on a terminal of any size from 80 columns up. It draws on the
 * terminal's other screen, so that what was there before is there again afterwards, however it ends. With `--json` it prints
 * a line each second instead, for programs.
 */
import type { Command } from "commander";
import { jsonLine } from "../json-text.ts";
import { operate, type Printed, withControl } from "./commands.ts";
import type { ControlFlags, ControlPlace } from "./find-control.ts";
import { NotDone } from "./not-done.ts";
import { OtherScreen } from "./other-screen.ts";
import { askOverview, type Overview } from "./overview.ts";
import { timeOfDay } from "./readable-log.ts";
import { type FrameLine, watchFrame } from "./watch-frame.ts";

const LOOK_EVERY_MS = 1_000;
const ANSWER_MAX_MS = 5_000;
const MINUTE_MS = 60_000;
const HISTORY_MAX = 600;
const CTRL_C = "\x03";
const LOOKS: Readonly<Record<FrameLine["look"], string>> = {
  plain: "",
  bold: "\x1b[1m",
  dim: "\x1b[2m",
  alert: "\x1b[33m",
};

/** The command, under one that the program has made for it. */
export function watchCommand(command: Command): Command {
  return withControl(command)
    .description("Show the rooms of a running Fairgate, live.")
    .argument("[room]", "only this room")
    .action((room: string | undefined, flags: ControlFlags) =>
      operate(flags, (place) => watch(place, room ?? null, flags.json === true)),
    );
}

async function watch(place: ControlPlace, only: string | null, isJson: boolean): Promise<Printed | null> {
  const { stdout } = process;
  if (!isJson && stdout.isTTY !== true) {
    const words =
      "`watch` needs a terminal: `fairgate status` prints once, and `fairgate watch --json` a line each second.";
    throw new NotDone(words, 2);
  }
  // What cannot be reached is said before anything is drawn.
  const first = chosen(await askOverview(place), only);
  // The reader has gone.
  stdout.on("error", () => process.exit(0));
  if (isJson) return printLines(place, only, first);
  const screen = new WatchScreen(place.at, first);
  screen.open();
  setInterval(async () => {
    if (screen.isAsking) return;
    screen.isAsking = true;
    try {
      screen.take(chosen(await askOverview(place, { answerMaxMs: ANSWER_MAX_MS }), only));
    } catch (cause) {
      if (!(cause instanceof NotDone)) throw cause;
      screen.complain(cause.message);
    }
    screen.isAsking = false;
  }, LOOK_EVERY_MS);
  return null;
}

async function printLines(place: ControlPlace, only: string | null, first: Overview): Promise<null> {
  const print = ({ answer, rooms }: Overview) => {
    const { rooms: all, ...rest } = answer as { rooms: { name?: unknown }[] };
    const wanted = all.filter(({ name }) => rooms.some((room) => room.name === name));
    process.stdout.write(jsonLine({ at: Date.now(), ...rest, rooms: wanted }));
  };
  for (let next = first; ; next = chosen(await askOverview(place), only)) {
    print(next);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Only the named room. Throws `NotDone`, listing the existing rooms, when there is none by that name. */
function chosen(overview: Overview, only: string | null): Overview {
  const rooms = overview.rooms.filter(({ name }) => only === null || name === only);
  if (rooms.length > 0 || only === null) return { ...overview, rooms };
  const names = overview.rooms.slice(0, 20).map(({ name }) => name);
  throw new NotDone(`There is no such room. There are: ${names.join(", ")}.`, 2);
}

/** The picture on this process's terminal. */
class WatchScreen {
  readonly #at: string;
  readonly #screen = new OtherScreen(process.stdout);
  readonly #history = new Map<string, number[]>();
  readonly #admitted = new Map<string, { at: number; total: number }[]>();
  readonly #isColour = process.env.NO_COLOR === undefined;
  #overview: Overview;
  #trouble: string | null = null;
  #isOpen = false;
  isAsking = false;

  constructor(at: string, first: Overview) {
    this.#at = at;
    this.#overview = first;
    this.take(first);
  }

  open(): void {
    const { stdin } = process;
    this.#isOpen = true;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(0));
    this.#screen.onResize(() => this.#draw());
    if (stdin.isTTY) {
      // Keys would show on the picture otherwise.
      stdin.setRawMode(true);
      process.on("exit", () => stdin.setRawMode(false));
      stdin.on("data", (keys: Buffer) => {
        if (/[qQ]/.test(keys.toString()) || keys.includes(CTRL_C)) process.exit(0);
      });
    }
    this.#draw();
  }

  take(overview: Overview): void {
    this.#overview = overview;
    this.#trouble = null;
    const now = Date.now();
    for (const { name, waiting, totals } of overview.rooms) {
      const looks = (this.#admitted.get(name) ?? []).filter(({ at }) => now - at <= MINUTE_MS);
      this.#admitted.set(name, [...looks, { at: now, total: totals.admitted }]);
      const values = this.#history.get(name) ?? [];
      values.push(waiting);
      if (values.length > HISTORY_MAX) values.shift();
      this.#history.set(name, values);
    }
    this.#draw();
  }

  complain(words: string): void {
    this.#trouble = words;
    this.#draw();
  }

  #letIn(): Map<string, number> {
    const rooms = [...this.#admitted].map(
      ([name, looks]) => [name, looks.at(-1)!.total - looks[0]!.total] as const,
    );
    return new Map(rooms);
  }

  #draw(): void {
    if (!this.#isOpen) return;
    const { columns, rows } = this.#screen;
    const lines = watchFrame({
      ...{ at: this.#at, time: timeOfDay(new Date()), overview: this.#overview, trouble: this.#trouble },
      ...{ history: this.#history, letIn: this.#letIn(), columns, rows },
    });
    const paint = ({ text, look }: FrameLine) =>
      this.#isColour && LOOKS[look] !== "" ? `${LOOKS[look]}${text}\x1b[0m` : text;
    this.#screen.draw(lines.map(paint));
  }
}
