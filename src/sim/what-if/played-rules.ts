/**
 * The operator's rules as a what-if uses them, and sentences about what is left out. A run has no site behind it, so what follows
 * the site's load stands still; and without a date there is no event, so that the same question has the same answer tomorrow.
 */
import type { DoorRules, EventRules, RoomRules } from "../../core/rules.ts";

export interface PlayedRules {
  readonly rules: RoomRules;
  readonly notes: readonly string[];
}

/** `hasDate`: the run takes place at a calendar time, so events count. */
export function playedRules(rules: RoomRules, hasDate: boolean): PlayedRules {
  const events = hasDate ? rules.events : [];
  const played = { ...rules, ...withoutLoad(rules), events: events.map(playedEvent) };
  return { rules: played, notes: notesOn(rules, hasDate) };
}

function playedEvent(event: EventRules): EventRules {
  return { ...event, rules: { ...event.rules, ...withoutLoad(event.rules) } };
}

/** Shows everything: hiding only limits what can be reported here. */
function withoutLoad({ show }: DoorRules): Pick<DoorRules, "standby" | "adaptive" | "show"> {
  return { standby: null, adaptive: null, show: { ...show, ahead: true, behind: true, wait: true } };
}

function notesOn(rules: RoomRules, hasDate: boolean): string[] {
  const all: DoorRules[] = [rules, ...(hasDate ? rules.events.map((event) => event.rules) : [])];
  const some = (isSo: (rules: DoorRules) => boolean) => all.some(isSo);
  const notes: string[] = [];
  if (some(({ standby }) => standby !== null))
    notes.push("standby is left out: the line is taken to be ready from the start.");
  if (some(({ adaptive }) => adaptive !== null))
    notes.push("adaptive is left out: the limits stay as they are set, since there is no site to follow.");
  if (some(({ lanes }) => lanes.named.length > 0))
    notes.push("Everybody comes in the lane of everybody; the other lanes stay empty.");
  if (rules.relaxed)
    notes.push(
      "line: relaxed is played as an exact line; on Redis the order is nearly, not exactly, this one.",
    );
  if (rules.budget)
    notes.push(
      `Nobody comes to the other rooms of the budget ${rules.budget.name}; what they are guaranteed stays theirs.`,
    );
  if (!hasDate && rules.events.length > 0)
    notes.push("The events in the settings are left out; --at with a time or an event's name plays them.");
  return notes;
}
