/** The metrics of rooms: the state of each line now, and its totals since the engine started. */
import type { LaneCounts, Totals } from "../core/engine.ts";
import { ROOM_STATES } from "./room-shapes.ts";
import { addCounter, addGauge, type Sample, type Scrape } from "./scrape.ts";
import type { RoomSnapshot, Snapshot } from "./snapshot.ts";

/** Name after `fairgate_room_`, help, and the value; null where a room has none. */
type Row = readonly [name: string, help: string, value: (room: RoomSnapshot) => number | null];

const MINUTE_S = 60;

const NOW: readonly Row[] = [
  ["waiting_visitors", "Living tickets in the line.", ({ counts }) => counts.waiting],
  [
    "admitted_visitors",
    "Turns given and not yet used, for which a slot is reserved.",
    ({ counts }) => counts.admitted,
  ],
  [
    "loose_turns",
    "Turns that may still be used, for which no slot is reserved any more.",
    ({ counts }) => counts.looseTurns,
  ],
  ["on_site_visitors", "Visitors on the site.", ({ counts }) => counts.onSite],
  ["lapsed_visitors", "Places kept for visitors who stopped checking in.", ({ counts }) => counts.lapsed],
  [
    "admissions_per_second",
    "Visitors admitted per second, as expected now.",
    ({ counts }) => counts.ratePerMinute / MINUTE_S,
  ],
  [
    "unfairness_ratio",
    "Share of pairs lately admitted in another order than they joined. 0 is perfect.",
    ({ counts }) => counts.unfairness,
  ],
  [
    "told_waits_inside_ratio",
    "Share of the waits told in the past hour that came true within the range told. 0.8 is right.",
    ({ counts }) => counts.waitAccuracy?.inside ?? null,
  ],
  [
    "told_waits_close_ratio",
    "Share of the waits over two minutes told in the past hour whose middle was within 30 percent.",
    ({ counts }) => counts.waitAccuracy?.close ?? null,
  ],
  ["paused", "1 while the room is paused by its settings.", ({ settings }) => Number(settings.paused)],
  [
    "active_users_max",
    "The totalActiveUsers as set, where there is one.",
    ({ settings }) => settings.totalActiveUsers,
  ],
  [
    "new_users_per_second_max",
    "The newUsersPerMinute as set, per second, where there is one.",
    ({ settings }) => settings.newUsersPerMinute && settings.newUsersPerMinute / MINUTE_S,
  ],
  [
    "effective_active_users_max",
    "The totalActiveUsers in force, where there is one: the settings', an event's, or less by the adaptive loop.",
    ({ counts }) => counts.limits.totalActiveUsers,
  ],
  [
    "effective_new_users_per_second_max",
    "The newUsersPerMinute in force, per second, where there is one.",
    ({ counts }) => counts.limits.newUsersPerMinute && counts.limits.newUsersPerMinute / MINUTE_S,
  ],
  [
    "active",
    "0 while the room is on standby without a line, else 1.",
    ({ counts }) => Number(counts.isActive),
  ],
  ["no_show_ratio", "Smoothed share of turns that nobody used.", ({ counts }) => counts.noShows],
];

const total = (key: keyof Totals) => (room: RoomSnapshot) => room.counts.totals[key];

const SINCE_START: readonly Row[] = [
  ["joined_total", "Newcomers.", total("joined")],
  ["straight_through_total", "Newcomers who went straight through.", total("straightThrough")],
  ["admitted_total", "Turns given, and newcomers who went straight through.", total("admitted")],
  ["entered_total", "Visits begun.", total("entered")],
  ["lapsed_total", "Times a waiting visitor stopped checking in.", total("lapsed")],
  ["returned_total", "Times a lapsed visitor came back.", total("returned")],
  ["missed_turns_total", "Turns nobody used in time.", total("missedTurns")],
  ["forfeited_total", "Places lost by missed turns.", total("forfeited")],
  ["left_total", "Places and visits given up.", total("left")],
  ["expired_total", "Visits that expired.", total("expired")],
  ["revoked_total", "Visits ended by the operator or the origin.", total("revoked")],
  [
    "waited_seconds_total",
    "Seconds waited by everyone admitted, added up.",
    ({ counts }) => counts.totals.waitedMs / 1_000,
  ],
];

/** Adds every room's metrics to the scrape. */
export function addRoomMetrics(scrape: Scrape): void {
  for (const row of NOW) addGauge(scrape, filled(row));
  for (const row of SINCE_START) addCounter(scrape, filled(row));
  addStates(scrape);
  addLanes(scrape);
}

/** One series per state, as OpenMetrics does for a set of states, so that no series ends when a room changes. */
function addStates(scrape: Scrape): void {
  addGauge(scrape, {
    name: "fairgate_room_state",
    help: "1 for the state the room is in, 0 for the others.",
    labelNames: ["room", "state"],
    samples: ({ rooms }) =>
      rooms.flatMap(({ name, counts }) =>
        ROOM_STATES.map((state) => ({
          labels: { room: name, state },
          value: Number(counts.state === state),
        })),
      ),
  });
}

function addLanes(scrape: Scrape): void {
  const perLane = (value: (lane: LaneCounts) => number) => ({
    labelNames: ["room", "lane"],
    samples: ({ rooms }: Snapshot) =>
      rooms.flatMap(({ name, counts }) =>
        counts.lanes.map((lane) => ({ labels: { room: name, lane: lane.name }, value: value(lane) })),
      ),
  });
  addGauge(scrape, {
    name: "fairgate_room_lane_waiting_visitors",
    help: "Living tickets in each lane of the line.",
    ...perLane(({ waiting }) => waiting),
  });
  addCounter(scrape, {
    name: "fairgate_room_lane_admitted_total",
    help: "Visitors admitted from each lane.",
    ...perLane(({ admitted }) => admitted),
  });
}

function filled([name, help, value]: Row) {
  const samples = ({ rooms }: Snapshot) => rooms.flatMap((room) => sample(room, value(room)));
  return { name: `fairgate_room_${name}`, help, labelNames: ["room"], samples };
}

function sample({ name }: RoomSnapshot, value: number | null): Sample[] {
  return value === null ? [] : [{ labels: { room: name }, value }];
}
