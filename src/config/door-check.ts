/**
 * Checks between the settings of a door. They hold for the room, and once more for each of its events, where the room's
 * settings have the event's in their place: there a check runs only when the event writes something that it looks at,
 * so that one mistake of the room is not told again for each event.
 */
import { checkAbuse } from "./abuse-schema.ts";
import { checkDoorCapabilities, type LineKind } from "./capability-check.ts";
import { type Finding, formatPath, type Path } from "./problem.ts";
import type { Known } from "./salvage.ts";
import type { RoomSettings } from "./schema.ts";
import { formatDuration } from "./units.ts";

export type KnownRoom = Known<RoomSettings>;
type Key = keyof RoomSettings;

export interface Checked {
  /** Where the settings are written. */
  readonly path: Path;
  /** What to call it: "room main", "event sale of room main". */
  readonly who: string;
  /** False for what an event leaves to its room. */
  readonly isWritten: (key: Key) => boolean;
  /** Where the room's line lives. */
  readonly lineKind: LineKind;
}

interface DoorCheck {
  /** What it looks at. */
  readonly keys: readonly Key[];
  readonly check: (room: KnownRoom, checked: Checked) => Finding[];
}

const DOOR_CHECKS: readonly DoorCheck[] = [
  { keys: ["totalActiveUsers", "newUsersPerMinute", "queueingMethod", "closed"], check: checkLimits },
  { keys: ["claimWindow", "ticketTtl"], check: atMostTicketTtl("claimWindow") },
  { keys: ["lapseAfter", "ticketTtl"], check: atMostTicketTtl("lapseAfter") },
  { keys: ["drained"], check: notWithDrained("paused") },
  { keys: ["drained"], check: notWithDrained("queueAll") },
  { keys: ["drained"], check: notWithDrained("closed") },
  { keys: ["privilegedOnly", "lanes"], check: checkPrivileged },
  { keys: ["fillNoShows"], check: notWithBudget },
  { keys: ["fillNoShows", "queueingMethod"], check: checkDoorCapabilities },
  { keys: ["standby"], check: checkStandby },
  { keys: ["page"], check: checkPage },
  {
    keys: ["abuse"],
    check: ({ abuse }, { path }) => (abuse ? checkAbuse(abuse, [...path, "abuse"]) : []),
  },
];

const DOOR_CAUTIONS: readonly DoorCheck[] = [
  {
    keys: ["totalActiveUsers", "newUsersPerMinute", "sessionDuration", "enabledOriginCommands"],
    check: rateAboveCapacity,
  },
];

/** Problems between the settings of one door. */
export function checkDoor(room: KnownRoom, checked: Checked): Finding[] {
  return findings(DOOR_CHECKS, room, checked);
}

/** What is allowed between the settings of one door and seldom meant. */
export function doorCautions(room: KnownRoom, checked: Checked): Finding[] {
  return findings(DOOR_CAUTIONS, room, checked);
}

function findings(checks: readonly DoorCheck[], room: KnownRoom, checked: Checked): Finding[] {
  return checks
    .filter(({ keys }) => keys.some(checked.isWritten))
    .flatMap(({ check }) => check(room, checked));
}

/** Where nobody waits by intention, or a shared capacity counts, a room may do without limits of its own. */
function checkLimits(room: KnownRoom, { path, who }: Checked): Finding[] {
  if (room.totalActiveUsers !== null || room.newUsersPerMinute !== null) return [];
  if (room.queueingMethod === "passthrough" || room.closed || room.budget !== null) return [];
  const message = `${who} has neither totalActiveUsers nor newUsersPerMinute, so it would never make anyone wait`;
  return [{ code: "no-limit", path, at: "key", message, hint: "Set one of them, or both." }];
}

const MINUTE_MS = 60_000;

/**
 * Those let in within a minute are all still there at its end when a visit lasts at least that long, so a rate above
 * the capacity comes about only where visits are shorter, or where the origin or the visitors end them. Nothing breaks
 * by it: the capacity holds.
 */
function rateAboveCapacity(room: KnownRoom, { path }: Checked): Finding[] {
  const { totalActiveUsers: users, newUsersPerMinute: rate, sessionDuration } = room;
  if (!users || !rate || rate <= users) return [];
  if (sessionDuration === undefined || sessionDuration < MINUTE_MS) return [];
  if (!room.enabledOriginCommands || room.enabledOriginCommands.includes("revoke")) return [];
  const at = [...path, "newUsersPerMinute"];
  const message = `${formatPath(at)} is ${rate}, which is more than totalActiveUsers, ${users}: more would be let in each minute than fit`;
  const hint = `No more than ${users} are let in each minute, unless visitors leave before one is over (sessionDuration is ${formatDuration(sessionDuration)}).`;
  return [{ code: "caution", path: at, at: "value", message, hint }];
}

function atMostTicketTtl(key: "claimWindow" | "lapseAfter"): DoorCheck["check"] {
  return (room, { path }) => {
    const ttl = room.ticketTtl;
    const value = room[key];
    if (ttl === undefined || value === undefined || value <= ttl) return [];
    const at = [...path, key];
    const message = `${formatPath(at)} is ${formatDuration(value)}, which is longer than ticketTtl, ${formatDuration(ttl)}`;
    return [{ code: "conflict", path: at, at: "value", message, hint: "It should be at most ticketTtl." }];
  };
}

/** In an event only where it writes both, or a room could not be paused for the sake of an event next month. */
function notWithDrained(key: "paused" | "queueAll" | "closed"): DoorCheck["check"] {
  return (room, { path, who, isWritten }) => {
    if (!room.drained || !room[key] || !isWritten(key)) return [];
    const message = `${who} has both ${key} and drained: one lets nobody in, the other everybody`;
    return [{ code: "conflict", path: [...path, "drained"], at: "key", message, hint: "Keep one of them." }];
  };
}

function notWithBudget({ fillNoShows, budget }: KnownRoom, { path }: Checked): Finding[] {
  if (!fillNoShows || budget == null) return [];
  const at = [...path, "fillNoShows"];
  const message = `${formatPath(at)} is true in a room with a budget, ${budget}`;
  const hint = "Turns on top can be given only by a room that has its capacity to itself. Keep one of them.";
  return [{ code: "conflict", path: at, at: "value", message, hint }];
}

function checkPrivileged({ privilegedOnly, lanes }: KnownRoom, { path }: Checked): Finding[] {
  if (!privilegedOnly || !lanes) return [];
  const isThereOne = Object.values(lanes).some((lane) => lane?.privileged !== false);
  if (isThereOne) return [];
  const at = [...path, "privilegedOnly"];
  const message = `${formatPath(at)} is true and no lane is privileged, so nobody would be let in`;
  return [
    { code: "conflict", path: at, at: "value", message, hint: "Write privileged: true in one of the lanes." },
  ];
}

function checkStandby({ standby }: KnownRoom, { path }: Checked): Finding[] {
  if (!standby) return [];
  const { requestsPerSecond, activeUsers, originLatency, originErrors } = standby;
  const isNone = [requestsPerSecond, activeUsers, originLatency, originErrors].every(
    (value) => value === null,
  );
  if (!isNone) return [];
  const at = [...path, "standby"];
  const message = `${formatPath(at)} has no threshold, so the line would never start`;
  const hint = "Set at least one of requestsPerSecond, activeUsers, originLatency and originErrors.";
  return [{ code: "conflict", path: at, at: "key", message, hint }];
}

function checkPage({ page }: KnownRoom, { path }: Checked): Finding[] {
  if (!page?.customPageHtml || !page.customPageFile) return [];
  const at = [...path, "page", "customPageFile"];
  const message = `${formatPath([...path, "page"])} has both customPageHtml and customPageFile`;
  return [{ code: "conflict", path: at, at: "key", message, hint: "Keep one of them." }];
}
