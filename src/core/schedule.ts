/**
 * Which rules are in force at an instant. Outside events they are the room's own; from the prequeue's opening to the
 * event's end they are the event's.
 *
 *   room's rules │ prequeue: everyone gathers, nobody goes in │ the event, its own rules │ room's rules
 *            prequeueAt                                    startAt                     endAt
 */
import type { DoorRules, EventRules, RoomRules } from "./rules.ts";

export interface Phase {
  readonly rules: DoorRules;
  /** The event that is on, its prequeue included. */
  readonly event: EventRules | null;
  readonly isPrequeue: boolean;
  /** The awaited opening: the event's start during its prequeue, the next opening while the room is closed. */
  readonly opensAt: number | null;
  /** When the phase ends. */
  readonly until: number;
}

/** The phase a room is in at `now`. */
export function phaseAt(rules: RoomRules, now: number): Phase {
  for (const event of rules.events) {
    if (event.endAt <= now) continue;
    if (event.startAt <= now)
      return { rules: event.rules, event, isPrequeue: false, opensAt: null, until: event.endAt };
    const { prequeueAt, startAt } = event;
    if (prequeueAt !== null && prequeueAt <= now)
      return { rules: event.rules, event, isPrequeue: true, opensAt: startAt, until: startAt };
    const opensAt = rules.closed ? (prequeueAt ?? startAt) : null;
    return { rules, event: null, isPrequeue: false, opensAt, until: prequeueAt ?? startAt };
  }
  return { rules, event: null, isPrequeue: false, opensAt: null, until: Number.POSITIVE_INFINITY };
}

/** The started event whose draw included visitors who joined at `joinedAt`; null for none. */
export function drawnEvent(events: readonly EventRules[], joinedAt: number, now: number): EventRules | null {
  const event = events.find(
    ({ isShuffled, prequeueAt, startAt }) => isShuffled && joinedAt >= prequeueAt! && joinedAt < startAt,
  );
  return event && event.startAt <= now ? event : null;
}

/** The first two events that overlap; null when none do. */
export function overlapping<Event extends Pick<EventRules, "prequeueAt" | "startAt" | "endAt">>(
  events: readonly Event[],
): readonly [Event, Event] | null {
  const sorted = [...events].sort((a, b) => beginning(a) - beginning(b));
  for (const [index, event] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next && beginning(next) < event.endAt) return [event, next];
  }
  return null;
}

function beginning({ prequeueAt, startAt }: Pick<EventRules, "prequeueAt" | "startAt">): number {
  return prequeueAt ?? startAt;
}
