/**
 * What an honest gateway would tell its visitors: one line, one door, and answers that take their time. It is generated to see
 * whether the books ever accuse wrongly. Each question is asked, decided and answered at three different instants; notes come in
 * the order in which the visitors' side would record them.
 */
import type { Note, Terms } from "./books.ts";

const VISITORS = 12;
const STEPS_MAX = 4_000;
const STEP_MS = 10;
const DELAY_MAX_MS = 60;
const CHECK_IN_MS = 100;

interface Caller {
  readonly guest: number;
  state: "new" | "waiting" | "on site" | "gone";
  sequence: number;
  joinedAt: number;
  admittedAt: number | null;
  /** When they ask next; they ask nothing before the last answer has arrived. */
  freeAt: number;
}

/** `next` removes the visitor who is to be admitted from the line. */
export function honestHistory(
  terms: Terms,
  fraction: () => number,
  next: (line: Caller[]) => Caller | undefined = (line) => line.shift(),
): Note[] {
  const notes: Note[] = [];
  const callers = Array.from({ length: VISITORS }, (_, i) => newCaller(i + 1, fraction()));
  const line: Caller[] = [];
  const decisions: { at: number; decide: () => void }[] = [];
  let sequence = 0;
  let slots = terms.capacity;

  const answer = (caller: Caller, askedAt: number, decidedAt: number) => {
    const at = decidedAt + Math.floor(fraction() * DELAY_MAX_MS);
    caller.freeAt = at + CHECK_IN_MS;
    return { guest: caller.guest, askedAt, at };
  };
  const enter = (caller: Caller, told: ReturnType<typeof answer>) => {
    caller.state = "on site";
    notes.push({ kind: "entered", ...told, expiresInMs: terms.sessionMs });
    const { joinedAt, admittedAt } = caller;
    notes.push({ kind: "served", ...told, visitor: `v${caller.guest}`, joinedAt, admittedAt: admittedAt! });
  };
  const decide = (caller: Caller, askedAt: number, now: number) => {
    const told = answer(caller, askedAt, now);
    if (caller.state === "on site") {
      caller.state = "gone";
      slots++;
      notes.push({ kind: "left", guest: caller.guest, at: told.at, address: "here" });
      return;
    }
    if (caller.state === "new") {
      Object.assign(caller, { state: "waiting", sequence: ++sequence, joinedAt: now });
      if (slots > 0 && line.length === 0) {
        slots--;
        caller.admittedAt = now;
      } else line.push(caller);
    }
    if (caller.admittedAt !== null) return enter(caller, told);
    const place = { sequence: caller.sequence, hasTicket: true, isSentBack: false };
    notes.push({ kind: "placed", ...told, ...place, nextCheckInMs: CHECK_IN_MS });
  };

  for (let step = 0; step < STEPS_MAX && callers.some(({ state }) => state !== "gone"); step++) {
    const now = step * STEP_MS;
    while (slots > 0 && line.length > 0) {
      slots--;
      next(line)!.admittedAt = now;
    }
    for (const caller of callers) {
      if (caller.freeAt > now || caller.state === "gone") continue;
      if (caller.state === "on site") notes.push({ kind: "leaving", guest: caller.guest, at: now });
      const at = now + Math.floor(fraction() * DELAY_MAX_MS);
      caller.freeAt = Number.POSITIVE_INFINITY;
      decisions.push({ at, decide: () => decide(caller, now, at) });
    }
    decisions.sort((a, b) => a.at - b.at);
    while (decisions[0] && decisions[0].at < now + STEP_MS) decisions.shift()!.decide();
  }
  return notes.sort((a, b) => instantOf(a) - instantOf(b));
}

function instantOf(note: Note): number {
  return "at" in note ? note.at : note.askedAt;
}

function newCaller(guest: number, fraction: number): Caller {
  const freeAt = Math.floor(fraction * 500);
  return { guest, state: "new", sequence: 0, joinedAt: 0, admittedAt: null, freeAt };
}
