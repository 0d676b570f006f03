/**
 * Checks of a room's events: their times, their names, that no two are on at once, and that the room's settings with an
 * event's in their place are good ones. What has passed already is no problem: files live longer than events.
 */
import { overlapping } from "../core/schedule.ts";
import type { LineKind } from "./capability-check.ts";
import { checkShares, noSuchLane } from "./check-lanes.ts";
import { type Checked, checkDoor, type KnownRoom } from "./door-check.ts";
import { type Finding, formatPath, type Path } from "./problem.ts";
import type { EventSettings } from "./schema.ts";
import { settingsDuring } from "./settings-during.ts";
import { formatDuration, formatInstant } from "./units.ts";

/** In a shorter event nobody could be admitted and enter. */
const EVENT_MIN_MS = 10_000;

/** Problems with the events of one room. */
export function checkEvents(room: KnownRoom, path: Path, lineKind: LineKind): Finding[] {
  const events = room.events ?? [];
  return [
    ...sameNames(events, path),
    ...events.flatMap((event, index) => {
      const at = [...path, "events", index];
      return [...checkTimes(event, at), ...checkOverrides(room, event, { path: at, lineKind })];
    }),
    ...checkOverlap(events, path),
  ];
}

function sameNames(events: readonly EventSettings[], path: Path): Finding[] {
  return events.flatMap(({ name }, index): Finding[] => {
    if (events.findIndex((event) => event.name === name) === index) return [];
    const at = [...path, "events", index, "name"];
    const message = `${formatPath(at)} is "${name}", which is the name of an event before it`;
    const hint = "Each event of a room should have a name of its own: its draw is known by it.";
    return [{ code: "conflict", path: at, at: "value", message, hint }];
  });
}

function checkTimes(event: EventSettings, path: Path): Finding[] {
  return [...checkSpan(event, path), ...checkShuffle(event, path)];
}

function checkSpan(event: EventSettings, path: Path): Finding[] {
  return [...checkLength(event, path), ...checkPrequeue(event, path)];
}

function checkLength({ eventStartTime: start, eventEndTime: end }: EventSettings, path: Path): Finding[] {
  if (end >= start + EVENT_MIN_MS) return [];
  const at = [...path, "eventEndTime"];
  const problem = { code: "conflict", path: at, at: "value" } as const;
  const name = formatPath(at);
  if (end < start) {
    const message = `${name} is ${formatInstant(end)}, which is before eventStartTime, ${formatInstant(start)}`;
    return [{ ...problem, message, hint: "An event should end after it starts." }];
  }
  const message = `${name} is ${formatDuration(end - start)} after eventStartTime`;
  return [{ ...problem, message, hint: `An event should last at least ${formatDuration(EVENT_MIN_MS)}.` }];
}

function checkPrequeue(event: EventSettings, path: Path): Finding[] {
  const { prequeueStartTime: prequeue, eventStartTime: start } = event;
  if (prequeue === null || prequeue < start) return [];
  const at = [...path, "prequeueStartTime"];
  const message = `${formatPath(at)} is ${formatInstant(prequeue)}, which is not before eventStartTime, ${formatInstant(start)}`;
  const hint = "People should have time to gather before the start; without it, take prequeueStartTime out.";
  return [{ code: "conflict", path: at, at: "value", message, hint }];
}

function checkShuffle({ shuffleAtEventStart, prequeueStartTime }: EventSettings, path: Path): Finding[] {
  if (!shuffleAtEventStart || prequeueStartTime !== null) return [];
  const at = [...path, "shuffleAtEventStart"];
  const message = `${formatPath(at)} is true and there is no prequeue, so there would be nobody to draw among`;
  const hint = "Set prequeueStartTime to when people may begin to gather, or take shuffleAtEventStart out.";
  return [{ code: "conflict", path: at, at: "value", message, hint }];
}

/** Problems of the room as it would be during the event; those of the room itself are reported with the room. */
function checkOverrides(
  room: KnownRoom,
  event: EventSettings,
  { path, lineKind }: Pick<Checked, "path" | "lineKind">,
): Finding[] {
  const unknown = unknownLanes(room, event, path);
  const during = settingsDuring(room, event);
  const of = path.length > 3 ? ` of room ${path[1]}` : "";
  const checked: Checked = {
    path,
    who: `event ${event.name}${of}`,
    isWritten: (key) => Object.hasOwn(event, key),
    lineKind,
  };
  const areSharesKnown = event.lanes && room.lanes && unknown.length === 0;
  const shares = areSharesKnown ? checkShares(during, [...path, "lanes"]) : [];
  return [...unknown, ...checkDoor(during, checked), ...shares];
}

function unknownLanes({ lanes }: KnownRoom, event: EventSettings, path: Path): Finding[] {
  if (!lanes) return [];
  return Object.keys(event.lanes ?? {})
    .filter((name) => !Object.hasOwn(lanes, name))
    .map((name): Finding => {
      const { message, hint } = noSuchLane(name, Object.keys(lanes));
      const at = [...path, "lanes", name];
      return { code: "conflict", path: at, at: "key", message: `${formatPath(at)}: ${message}`, hint };
    });
}

function checkOverlap(events: readonly EventSettings[], path: Path): Finding[] {
  const spans = events
    .filter((event) => !event.suspended && checkSpan(event, path).length === 0)
    .map((event) => ({
      event,
      prequeueAt: event.prequeueStartTime,
      startAt: event.eventStartTime,
      endAt: event.eventEndTime,
    }));
  const [first, second] = overlapping(spans) ?? [];
  if (!first || !second) return [];
  const { name, prequeueStartTime: prequeue, eventStartTime: start } = second.event;
  const begins =
    prequeue === null
      ? `starts at ${formatInstant(start)}`
      : `has its prequeue from ${formatInstant(prequeue)}`;
  const ends = `${first.event.name} ends at ${formatInstant(first.endAt)}`;
  const message = `events ${first.event.name} and ${name} are on at once: ${ends}, ${name} ${begins}`;
  const hint = "One should end before the next begins, its prequeue included; or suspend one of them.";
  const key = prequeue === null ? "eventStartTime" : "prequeueStartTime";
  const at = [...path, "events", events.indexOf(second.event), key];
  return [{ code: "conflict", path: at, at: "value", message, hint }];
}
