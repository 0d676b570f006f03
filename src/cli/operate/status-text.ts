/** What `fairgate status` prints: all rooms as a table of 80 columns, or one room in full. Pure. */
import { countText, shareWords } from "../../sim/what-if/words.ts";
import { fitted } from "./columns.ts";
import type { OriginRow, Overview, RoomRow } from "./overview.ts";

const NO_LIMIT = "no limit";
/** Units of a wait in seconds, each up to twice the next. */
const UNITS = [
  [1, "s"],
  [60, "min"],
  [3_600, "h"],
  [86_400, "d"],
] as const;
const ROOMS_SHOWN_MAX = 200;
const ORIGINS_SHOWN_MAX = 20;
const REMARKS_SHOWN_MAX = 5;
const LABEL_COLUMNS = 13;

/** Why an origin is not up, as people say it. */
const TROUBLE: Readonly<Record<string, string>> = {
  unreachable: "DOWN: nobody can connect to it",
  failsCheck: "DOWN: it fails its health check",
  failing: "RESTING: its requests fail",
};

/** All rooms, then the origins. */
export function overviewText({ rooms, origins }: Overview, headline: string): string {
  const rows = rooms.slice(0, ROOMS_SHOWN_MAX).map(row);
  const more = rooms.length - rows.length;
  const head = cells(["room", "state", "waiting", "on site", "let in a min", "  newcomer waits"]);
  const others = more > 0 ? [`and ${countText(more)} more`] : [];
  return [headline, "", head, ...rows, ...others, "", ...originLines(origins)].join("\n").concat("\n");
}

function row(room: RoomRow): string {
  const name = room.event === null ? room.name : `${room.name} (${room.event})`;
  const onSite = ofLimit(room.onSite + room.turns, room.usersMax);
  // Without a line nobody knows how fast it would move.
  const rate = room.waiting > 0 ? ofLimit(room.ratePerMinute, room.perMinuteMax) : limitOf(room.perMinuteMax);
  return cells([name, room.state, countText(room.waiting), onSite, rate, `  ${waitWords(room)}`]);
}

function cells([name, state, ...numbers]: readonly string[]): string {
  const [waiting, onSite, rate, wait] = numbers as [string, string, string, string];
  const right = (text: string, columns: number) => fitted(text, columns, "right");
  return `${fitted(name!, 16)} ${fitted(state!, 9)}${right(waiting, 9)}${right(onSite, 15)}${right(rate, 14)}${wait}`;
}

/** `190 of 200`, or `190, no limit`. */
export function ofLimit(value: number, limit: number | null): string {
  return limit === null ? `${countText(value)}, ${NO_LIMIT}` : `${countText(value)} of ${countText(limit)}`;
}

function limitOf(limit: number | null): string {
  return limit === null ? NO_LIMIT : countText(limit);
}

/** What somebody who joins now may expect, as the waiting page tells it. */
export function waitWords({ state, waiting, newcomerWait }: RoomRow): string {
  if (state === "paused" || state === "closed" || state === "prequeue") return `while ${state}`;
  if (waiting === 0) return "not at all";
  return newcomerWait === null ? "unknown" : rangeWords(newcomerWait);
}

/** `12 to 50 min` */
function rangeWords({ low, high }: NonNullable<RoomRow["newcomerWait"]>): string {
  const next = UNITS.findIndex(([seconds]) => high < 2 * seconds);
  const [seconds, unit] = UNITS.at(next < 0 ? -1 : Math.max(0, next - 1))!;
  const [from, to] = [Math.round(low / seconds), Math.max(1, Math.round(high / seconds))];
  if (from === 0) return `up to ${countText(to)} ${unit}`;
  return from === to ? `about ${countText(to)} ${unit}` : `${countText(from)} to ${countText(to)} ${unit}`;
}

/** A line for each address of an origin. */
export function originLines(origins: readonly OriginRow[]): string[] {
  const names = new Set(origins.map(({ origin }) => origin));
  return origins.slice(0, ORIGINS_SHOWN_MAX).map(({ origin, address, isUp, trouble, inFlight }) => {
    const whose = names.size > 1 ? ` (${origin})` : "";
    const is = isUp ? `up, ${countText(inFlight)} under way` : (TROUBLE[trouble ?? ""] ?? "DOWN");
    return `origin ${address}${whose}: ${is}`;
  });
}

function mostWords(limit: number | null): string {
  return limit === null ? NO_LIMIT : `at most ${countText(limit)}`;
}

function toldWords(inside: number | null): string {
  return inside === null
    ? "none to compare in the past hour"
    : `${shareWords(inside)} came true in the past hour; 80% is right`;
}

/** One room, a line for each thing that is known of it. */
export function roomText(room: RoomRow, message: string): string {
  const { totals } = room;
  const lines: (readonly [string, string])[] = [
    ["state", room.event === null ? room.state : `${room.state}, event ${room.event}`],
    ["waiting", `${countText(room.waiting)}; a newcomer waits ${waitWords(room)}`],
    [
      "on site",
      `${countText(room.onSite)}, and ${countText(room.turns)} on their way in; ${mostWords(room.usersMax)}`,
    ],
    [
      "let in",
      `${mostWords(room.perMinuteMax)}${room.perMinuteMax === null ? "" : " a minute"}${room.waiting > 0 ? `; now ${countText(room.ratePerMinute)} a minute` : ""}`,
    ],
    ["away", `${countText(room.lapsed)} places are kept for visitors who do not check in`],
    ["no-shows", `${shareWords(room.noShows)} of turns lately`],
    ["told waits", toldWords(room.toldWaitsInside)],
    ["order", `${shareWords(1 - room.unfairness)} let in as they joined, lately`],
    ["message", message === "" ? "none" : message],
    [
      "since start",
      `${countText(totals.joined)} joined, ${countText(totals.straightThrough)} of them without a line`,
    ],
    [
      "",
      `${countText(totals.entered)} entered, ${countText(totals.left)} left, ${countText(totals.expired)} ran out`,
    ],
    [
      "",
      `${countText(totals.lapsed)} times someone stopped checking in, ${countText(totals.missedTurns)} missed turns`,
    ],
    ...(room.lanes.length > 1
      ? room.lanes.map(
          ({ name, waiting }, i) =>
            [i === 0 ? "lanes" : "", `${name}: ${countText(waiting)} waiting`] as const,
        )
      : []),
    ...room.remarks
      .slice(-REMARKS_SHOWN_MAX)
      .map(
        ({ at, text }, i) =>
          [i === 0 ? "lately" : "", `${new Date(at).toISOString().slice(11, 19)} ${text}`] as const,
      ),
  ];
  return `room ${room.name}\n${lines.map(([label, text]) => `  ${label.padEnd(LABEL_COLUMNS)}${text}\n`).join("")}`;
}
