/**
 * One picture of `fairgate watch`: rooms with their bars, the origins, and what went wrong with asking. It fits the terminal,
 * whatever its size: where the rooms do not fit in full each has one line, and where even those do not, some are left out. Pure.
 */
import { countText } from "../../sim/what-if/words.ts";
import { bar, clipped, columnsOf, fitted, sparkline } from "./columns.ts";
import type { Overview, RoomRow } from "./overview.ts";
import { ofLimit, originLines, waitWords } from "./status-text.ts";

const COLUMNS_MIN = 20;
const ROWS_MIN = 4;
const ORIGINS_SHOWN_MAX = 4;
const LABEL_COLUMNS = 11;
const VALUE_COLUMNS = 28;
const BAR_COLUMNS_MAX = 60;
/** Lines of a room in full, the empty one below it included. */
const ROOM_LINES = 6;
const FOOT = " q or Ctrl-C leaves; nothing is changed by watching";

export interface WatchScene {
  readonly at: string;
  /** The time of day. */
  readonly time: string;
  readonly overview: Overview;
  /** Why the last question was not answered; the overview is then of before. */
  readonly trouble: string | null;
  /** How many waited in each room at each look, the latest last. */
  readonly history: ReadonlyMap<string, readonly number[]>;
  /** How many were let in within the last minute, or since watching began. */
  readonly letIn: ReadonlyMap<string, number>;
  readonly columns: number;
  readonly rows: number;
}

export interface FrameLine {
  readonly text: string;
  readonly look: "plain" | "bold" | "dim" | "alert";
}

/** The lines of the picture: no more than there are rows, none wider than the columns. */
export function watchFrame(scene: WatchScene): FrameLine[] {
  const columns = Math.max(COLUMNS_MIN, scene.columns);
  const rows = Math.max(ROWS_MIN, scene.rows);
  const { rooms, origins } = scene.overview;
  const below = [
    ...originLines(origins)
      .slice(0, ORIGINS_SHOWN_MAX)
      .map((text): FrameLine => ({ text: ` ${text}`, look: text.endsWith("under way") ? "plain" : "alert" })),
    { text: FOOT, look: "dim" } as const,
  ];
  const head = [title(scene, columns), scene.trouble ? line(` ${scene.trouble}`, "alert") : line("")];
  const space = Math.max(1, rows - head.length - below.length);
  const full = rooms.length * ROOM_LINES <= space;
  const body = full ? rooms.flatMap((room) => inFull(room, scene, columns)) : briefly(scene, space, columns);
  const all = [...head, ...body, ...below].slice(0, rows);
  return all.map(({ text, look }) => ({ text: clipped(text, columns), look }));
}

function line(text: string, look: FrameLine["look"] = "plain"): FrameLine {
  return { text, look };
}

function title({ at, time, overview }: WatchScene, columns: number): FrameLine {
  const left = clipped(` Fairgate ${overview.version} at ${at}`, columns - time.length - 2);
  return line(left + " ".repeat(Math.max(1, columns - columnsOf(left) - time.length - 1)) + time, "bold");
}

function inFull(room: RoomRow, { history, letIn: all }: WatchScene, columns: number): FrameLine[] {
  const barColumns = Math.min(BAR_COLUMNS_MAX, columns - LABEL_COLUMNS - VALUE_COLUMNS - 3);
  const row = (label: string, value: string, more: string) =>
    line(`   ${label.padEnd(LABEL_COLUMNS)}${fitted(value, VALUE_COLUMNS)}${more}`);
  const { usersMax, perMinuteMax } = room;
  const letIn = all.get(room.name) ?? 0;
  const taken = room.onSite + room.turns;
  return [
    line(` ${room.name}  ${stateOf(room)}`, isHeld(room) ? "alert" : "bold"),
    row("waiting", countText(room.waiting), sparkline(history.get(room.name) ?? [], barColumns)),
    row("on site", ofLimit(taken, usersMax), usersMax === null ? "" : bar(taken, usersMax, barColumns)),
    row(
      "let in",
      `${ofLimit(letIn, perMinuteMax)}, last minute`,
      perMinuteMax === null ? "" : bar(letIn, perMinuteMax, barColumns),
    ),
    row("a newcomer", room.waiting > 0 || isHeld(room) ? `waits ${waitWords(room)}` : "waits not at all", ""),
    line(""),
  ];
}

/** A line for each room, as many as fit. */
function briefly({ overview: { rooms }, history }: WatchScene, space: number, columns: number): FrameLine[] {
  const shown = rooms.length <= space ? rooms : rooms.slice(0, Math.max(0, space - 1));
  const more = rooms.length - shown.length;
  const lines = shown.map((room) => {
    const users = ofLimit(room.onSite + room.turns, room.usersMax);
    const start = ` ${fitted(room.name, 16)} ${fitted(room.state, 9)}${fitted(countText(room.waiting), 9, "right")} waiting${fitted(users, 16, "right")} on site  `;
    const spark = sparkline(history.get(room.name) ?? [], Math.max(0, columns - columnsOf(start) - 1));
    return line(start + spark, isHeld(room) ? "alert" : "plain");
  });
  return more === 0
    ? lines
    : [...lines, line(` and ${countText(more)} more: fairgate watch ROOM shows one`, "dim")];
}

function stateOf({ state, event }: RoomRow): string {
  return event === null ? state : `${state}, event ${event}`;
}

function isHeld({ state }: RoomRow): boolean {
  return state === "paused" || state === "closed";
}
