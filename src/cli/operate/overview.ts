/**
 * What the control address tells of the rooms, read with care: an answer that lacks a number, or has a text in its place, is
 * of no Fairgate, or of another version. Texts are made fit for a terminal here, once.
 */
import { safeText } from "../../config/problem.ts";
import { isRecord } from "../../config/salvage.ts";
import { askControl, type ControlCall, somethingElse } from "./ask-control.ts";
import type { ControlPlace } from "./find-control.ts";

const NAME_CHARACTERS_MAX = 40;
const TEXT_CHARACTERS_MAX = 300;
const ROOMS_MAX = 10_000;
const TOTALS = [
  "joined",
  "straightThrough",
  "admitted",
  "entered",
  "lapsed",
  "missedTurns",
  "left",
  "expired",
] as const;

export interface OriginRow {
  readonly origin: string;
  readonly address: string;
  readonly isUp: boolean;
  readonly trouble: string | null;
  readonly inFlight: number;
}

export interface LaneRow {
  readonly name: string;
  readonly waiting: number;
}

export interface RoomRow {
  readonly name: string;
  readonly state: string;
  readonly event: string | null;
  readonly waiting: number;
  /** Visitors on the site, and those whose turn has come and who have a slot kept. */
  readonly onSite: number;
  readonly turns: number;
  readonly lapsed: number;
  readonly ratePerMinute: number;
  readonly unfairness: number;
  readonly noShows: number;
  /** Share of the waits told in the past hour that came true within the range told; null: none was compared. */
  readonly toldWaitsInside: number | null;
  /** Seconds that a newcomer waits; null: nobody can say. */
  readonly newcomerWait: { readonly low: number; readonly high: number } | null;
  readonly usersMax: number | null;
  readonly perMinuteMax: number | null;
  readonly lanes: readonly LaneRow[];
  readonly remarks: readonly { readonly at: number; readonly text: string }[];
  readonly totals: Readonly<Record<(typeof TOTALS)[number], number>>;
}

export interface Overview {
  readonly version: string;
  readonly rooms: readonly RoomRow[];
  readonly origins: readonly OriginRow[];
  /** What was sent, for programs. */
  readonly answer: unknown;
}

/** All rooms and origins. Throws `NotDone`. */
export async function askOverview(
  place: ControlPlace,
  options: Pick<ControlCall, "answerMaxMs"> = {},
): Promise<Overview> {
  const answer = await askControl(place, { method: "GET", path: "/rooms", ...options });
  const overview = readOverview(answer);
  if (overview === null) throw somethingElse(place);
  return overview;
}

/** Null: it has another form. */
export function readOverview(answer: unknown): Overview | null {
  if (!isRecord(answer) || !Array.isArray(answer.rooms) || answer.rooms.length > ROOMS_MAX) return null;
  const origins: unknown[] = Array.isArray(answer.origins) ? answer.origins : [];
  try {
    const version = answer.version === undefined ? "" : text(answer.version);
    return { version, rooms: answer.rooms.map(room), origins: origins.map(origin), answer };
  } catch (cause) {
    if (cause instanceof Misfit) return null;
    throw cause;
  }
}

class Misfit extends Error {}

function room(value: unknown): RoomRow {
  const { name, state, newcomerWait, counts: all } = fields(value);
  const counts = fields(all);
  const limits = fields(counts.limits);
  const totals = fields(counts.totals);
  const list = (of: unknown): unknown[] => (Array.isArray(of) ? of : []);
  return {
    name: text(name, NAME_CHARACTERS_MAX),
    state: text(state, NAME_CHARACTERS_MAX),
    event: counts.event == null ? null : text(counts.event, NAME_CHARACTERS_MAX),
    waiting: number(counts.waiting),
    onSite: number(counts.onSite),
    turns: number(counts.admitted),
    lapsed: number(counts.lapsed),
    ratePerMinute: number(counts.ratePerMinute),
    unfairness: number(counts.unfairness),
    noShows: number(counts.noShows),
    toldWaitsInside: counts.waitAccuracy == null ? null : number(fields(counts.waitAccuracy).inside),
    newcomerWait: newcomerWait == null ? null : range(newcomerWait),
    usersMax: limit(limits.totalActiveUsers),
    perMinuteMax: limit(limits.newUsersPerMinute),
    lanes: list(counts.lanes).map((lane) => {
      const { name, waiting } = fields(lane);
      return { name: text(name, NAME_CHARACTERS_MAX), waiting: number(waiting) };
    }),
    remarks: list(counts.remarks).map((remark) => {
      const { at, text: words } = fields(remark);
      return { at: instant(at), text: text(words) };
    }),
    totals: Object.fromEntries(TOTALS.map((key) => [key, number(totals[key])])) as RoomRow["totals"],
  };
}

function origin(value: unknown): OriginRow {
  const { origin, address, isUp, trouble, inFlight } = fields(value);
  return {
    origin: text(origin, NAME_CHARACTERS_MAX),
    address: text(address),
    isUp: isUp === true,
    trouble: trouble == null ? null : text(trouble, NAME_CHARACTERS_MAX),
    inFlight: number(inFlight),
  };
}

function range(value: unknown): RoomRow["newcomerWait"] {
  const { low, high } = fields(value);
  return { low: number(low), high: number(high) };
}

function fields(value: unknown): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw new Misfit();
}

function number(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new Misfit();
}

function instant(value: unknown): number {
  const at = number(value);
  if (Number.isFinite(new Date(at).getTime())) return at;
  throw new Misfit();
}

function limit(value: unknown): number | null {
  return value === null ? null : number(value);
}

function text(value: unknown, charactersMax = TEXT_CHARACTERS_MAX): string {
  if (typeof value === "string") return safeText(value, charactersMax);
  throw new Misfit();
}
