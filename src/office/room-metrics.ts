/** The metrics of rooms: how each line stands now, and what has happened in it since the engine started. */
import type { Totals } from "../core/engine.ts";
import { addCounter, addGauge, type Sample, type Scrape } from "./scrape.ts";
import type { RoomSnapshot, Snapshot } from "./snapshot.ts";

/** Name after `fairgate_room_`, help, and the value; null where a room has none. */
type Row = readonly [name: string, help: string, value: (room: RoomSnapshot) => number | null];

const MINUTE_S = 60;

const NOW: readonly Row[] = [
  ["waiting_visitors", "Living tickets in the line.", ({ counts }) => counts.waiting],
  ["admitted_visitors", "Visitors admitted and not yet entered.", ({ counts }) => counts.admitted],
  ["on_site_visitors", "Visitors on the site.", ({ counts }) => counts.onSite],
  ["lapsed_visitors", "Kept places nobody is waiting for at the moment.", ({ counts }) => counts.lapsed],
  [
    "admissions_per_second",
    "Visitors admitted a second, as expected now.",
    ({ counts }) => counts.ratePerMinute / MINUTE_S,
  ],
  [
    "unfairness_ratio",
    "Share of pairs lately admitted in another order than they joined. 0 is perfect.",
    ({ counts }) => counts.unfairness,
  ],
  ["paused", "1 while nobody is let in by setting.", ({ settings }) => Number(settings.paused)],
  [
    "active_users_max",
    "The set totalActiveUsers, where there is one.",
    ({ settings }) => settings.totalActiveUsers,
  ],
  [
    "new_users_per_second_max",
    "The set newUsersPerMinute as a second's worth, where there is one.",
    ({ settings }) => settings.newUsersPerMinute && settings.newUsersPerMinute / MINUTE_S,
  ],
];

const total = (key: keyof Totals) => (room: RoomSnapshot) => room.counts.totals[key];

const SINCE_START: readonly Row[] = [
  ["joined_total", "Newcomers.", total("joined")],
  ["straight_through_total", "Newcomers who met no line.", total("straightThrough")],
  ["admitted_total", "Visitors let in.", total("admitted")],
  ["entered_total", "Visits begun.", total("entered")],
  ["lapsed_total", "Times a waiting visitor stopped checking in.", total("lapsed")],
  ["returned_total", "Times a lapsed visitor came back.", total("returned")],
  ["missed_turns_total", "Turns nobody used in time.", total("missedTurns")],
  ["left_total", "Places and visits given up.", total("left")],
  ["expired_total", "Visits that ran out.", total("expired")],
  ["revoked_total", "Visits ended by the operator.", total("revoked")],
  [
    "waited_seconds_total",
    "Seconds waited by everyone admitted, added up.",
    ({ counts }) => counts.totals.waitedMs / 1_000,
  ],
];

/** Adds every room's metrics to what is scraped. */
export function addRoomMetrics(scrape: Scrape): void {
  for (const row of NOW) addGauge(scrape, filled(row));
  for (const row of SINCE_START) addCounter(scrape, filled(row));
}

function filled([name, help, value]: Row) {
  const samples = ({ rooms }: Snapshot) => rooms.flatMap((room) => sample(room, value(room)));
  return { name: `fairgate_room_${name}`, help, labelNames: ["room"], samples };
}

function sample({ name }: RoomSnapshot, value: number | null): Sample[] {
  return value === null ? [] : [{ labels: { room: name }, value }];
}
