/**
 * The waits that a room tells. Every three seconds while there is a line it looks at the room, learns (how long visits last,
 * how long turns are out, who lapses, who comes to which lane), plays the door forward and draws the curve of each lane;
 * whoever asks in between reads the curve. So a check-in costs a few comparisons, and the board can carry the same curve.
 */
import type { WaitPoint, WaitRange } from "./board.ts";
import type { Totals } from "./engine.ts";
import { type DoorPlay, type LineOutlook, playForward, waitCurve, withinRange } from "./forecast.ts";
import { NO_SHOWS_MAX } from "./no-shows.ts";
import type { RoomFigures } from "./room-view.ts";
import { EVERYBODY } from "./rules.ts";
import { type SeenVisit, Stays, type StaysMemo } from "./stays.ts";
import { type NotedPlace, type ToldMemo, ToldWaits, type WaitAccuracy } from "./told-waits.ts";
import { type WaitCurve, waitOn } from "./wait-curve.ts";

/** A room as it is when it is looked at. */
export interface RoomLook
  extends Pick<
    RoomFigures,
    | "now"
    | "roomRules"
    | "rules"
    | "waiting"
    | "admitted"
    | "onSite"
    | "waitingIn"
    | "sequenceAt"
    | "highestAdmitted"
    | "admittedIn"
  > {
  readonly totals: Pick<Totals, "joined" | "straightThrough" | "admitted" | "missedTurns">;
  /** Slots that other rooms of the same budget leave to this one. */
  readonly budgetFree: number;
  /** Those on the site, or the same sample of them each time. */
  visits(): Iterable<SeenVisit>;
  /** The rank nearest to this one whose sequence is known; null: there is none. Not there: all are known. */
  rankNear?(lane: number, rank: number): number | null;
}

export interface WaitsMemo {
  readonly stays: StaysMemo;
  readonly told: ToldMemo;
}

/** Time from one look at a room with a line to the next. */
export const LOOK_MS = 3_000;
const IDLE_LOOK_MS = 6_000;
/** What was learned of turns and lapses fades in this time. */
const TURNS_FADE_MS = 2 * 60_000;
const MISSED_FADE_MS = 5 * 60_000;
/** Prior: no turn missed, with the weight of this many turns. */
const MISSED_GUESS_TURNS = 4;
const LAPSES_FADE_MS = 4 * 60_000;
const JOINS_FADE_MS = 90_000;
const JOINS_GUESS_MS = 5_000;
/** A turn is used within this time before anything is known. */
const FIRM_GUESS_MS = 2_000;
const FIRM_GUESS_TURNS = 5;
/** Prior: nobody lapsed, with the weight of this many people watched for this long. */
const LAPSE_GUESS_MS = 20 * 60_000;
/** A stream of newcomers is expected to go on for as long as it has, and at least for this. */
const COMING_LEAST_MS = 30 * 60_000;
const NOTED_PLACES = 8;
/** A number that jumps is not believed: a wait that is told grows or shrinks at most e times in this long, unless the rules change. */
const SETTLE_MS = 8_000;
/** A shorter wait may change at once. */
const SETTLES_FROM_MS = 20_000;

export class RoomWaits {
  readonly #look: ((now: number) => RoomLook) | null;
  readonly #stays = new Stays();
  readonly #told = new ToldWaits();
  readonly #turns = new FirmTime();
  readonly #missed = new MissedTurns();
  readonly #lapses = new Lapses();
  readonly #joins = new Joins();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lineSince: number | null = null;
  #rules: unknown = null;
  #roomRules: unknown = null;
  /** Undefined: not played since the last look. */
  #play: DoorPlay | null | undefined;
  #outlook: LineOutlook | null = null;
  #seen: RoomLook | null = null;
  #figures: Figures | null = null;
  readonly #curves = new Map<number, WaitCurve>();
  /** The last curve of each lane that was told, under the same rules and in the same line. */
  readonly #toldCurves = new Map<number, WaitCurve>();

  /** `look`: looks at the room when that is due. Without it the owner calls `observe`. */
  constructor(look: ((now: number) => RoomLook) | null = null) {
    this.#look = look;
  }

  /** A turn of the door is over. */
  turn(isLine: boolean, now: number): void {
    if (this.#look && now - this.#lookedAt >= (isLine ? LOOK_MS : IDLE_LOOK_MS))
      this.observe(this.#look(now));
  }

  /** The wait of someone with `ahead` before them in their lane; null: nobody can say. `rules`: those in force. */
  wait(
    rules: unknown,
    { lane, ahead }: { readonly lane: number; readonly ahead: number },
    now: number,
  ): WaitRange | null {
    const curve = this.curve(rules, lane, now);
    return curve && waitOn(curve, ahead);
  }

  /** The curve of a lane, for when somebody waits; null: nobody can say. */
  curve(rules: unknown, lane: number, now: number): WaitCurve | null {
    const hasFormed = this.#seen?.waiting === 0 && now > this.#lookedAt;
    if (this.#look && (rules !== this.#rules || hasFormed || now - this.#lookedAt > 2 * IDLE_LOOK_MS))
      this.observe(this.#look(now));
    return this.#curveOf(lane);
  }

  #curveOf(lane: number): WaitCurve | null {
    const known = this.#curves.get(lane);
    if (known) return known;
    const play = this.#playOf();
    if (!play || !this.#seen) return null;
    const { rules, now, waiting } = this.#seen;
    const points = waitCurve(play, rules, lane, this.#outlook!).map((point) => this.#corrected(point));
    const fresh = rules.queueingMethod === "random" ? anybodysTurn(points, waiting) : points;
    const curve = { madeAt: now, points: settled(fresh, this.#toldCurves.get(lane), now) };
    this.#curves.set(lane, curve);
    this.#toldCurves.set(lane, curve);
    return curve;
  }

  accuracy(now: number): WaitAccuracy | null {
    return this.#told.accuracy(now);
  }

  /** Places have changed hands: what was noted of them is no more. */
  forgetPlaces(): void {
    this.#told.forget();
  }

  memo(): WaitsMemo {
    return { stays: this.#stays.memo(), told: this.#told.memo() };
  }

  restore(memo: WaitsMemo): void {
    this.#stays.restore(memo.stays);
    this.#told.restore(memo.told);
  }

  /** Takes in the room as it is now. */
  observe(seen: RoomLook): void {
    const { now, rules, roomRules } = seen;
    const before = this.#figures;
    const figures = figuresOf(seen);
    this.#seen = seen;
    this.#figures = figures;
    this.#lookedAt = now;
    this.#curves.clear();
    if (this.#rules !== rules || this.#roomRules !== roomRules) this.#told.forget();
    if (this.#rules !== rules || this.#roomRules !== roomRules || seen.waiting === 0)
      this.#toldCurves.clear();
    this.#rules = rules;
    this.#roomRules = roomRules;
    this.#lineSince = seen.waiting > 0 ? (this.#lineSince ?? now) : null;
    this.#stays.look(seen.visits(), rules, now);
    if (before) {
      this.#turns.observe(before, figures);
      this.#missed.observe(before, figures, rules.claimWindowMs);
      this.#lapses.observe(before, figures, rules.lapseAfterMs);
      this.#joins.observe(before, figures);
    }
    this.#play = undefined;
    this.#outlook = {
      lapsePerMs: this.#lapses.perMs,
      waitingIn: (lane) => seen.waitingIn(lane),
      joinsPerMs: (lane) => this.#joins.perMs(lane),
      comingMs: Math.max(COMING_LEAST_MS, now - (this.#lineSince ?? now)),
    };
    this.#compare(seen, now);
  }

  #playOf(): DoorPlay | null {
    if (this.#play !== undefined || !this.#seen) return this.#play ?? null;
    const seen = this.#seen;
    const { meanMs: firmForMs } = this.#turns;
    this.#play = playForward(
      { ...seen, firm: seen.admitted, firmForMs, noShows: this.#missed.share },
      this.#stays,
    );
    return this.#play;
  }

  #corrected([ahead, low, middle, high]: WaitPoint): WaitPoint {
    const width = this.#told.width(middle);
    return withinRange([
      ahead,
      Math.max(0, middle - (middle - low) * width),
      middle,
      middle + (high - middle) * width,
    ]);
  }

  #compare(seen: RoomLook, now: number): void {
    if (seen.rules.queueingMethod === "random") return;
    this.#told.compare((lane) => seen.highestAdmitted(lane), now);
    if (seen.waiting > 0 && this.#told.isDue(now)) this.#told.note(this.#placesToNote(seen), now);
  }

  *#placesToNote(seen: RoomLook): Iterable<NotedPlace> {
    for (const lane of [...seen.rules.lanes.named.map(({ number }) => number), EVERYBODY]) {
      const waiting = seen.waitingIn(lane);
      const curve = this.#curveOf(lane);
      for (let i = 0; i < Math.min(waiting, NOTED_PLACES); i++) {
        const wished = Math.floor(((i + 0.5) / Math.min(waiting, NOTED_PLACES)) * waiting);
        const ahead = seen.rankNear ? seen.rankNear(lane, wished) : wished;
        const wait = ahead !== null && curve ? waitOn(curve, ahead) : null;
        if (wait && ahead !== null) yield { lane, sequence: seen.sequenceAt(lane, ahead), wait };
      }
    }
  }
}

/** No wait is told that is far from the one that was told for the same place just before. */
function settled(
  points: readonly WaitPoint[],
  before: WaitCurve | undefined,
  now: number,
): readonly WaitPoint[] {
  if (!before) return points;
  const factor = Math.exp((now - before.madeAt) / SETTLE_MS);
  return points.map(([ahead, low, middle, high]) => {
    const was = waitOn(before, ahead)!;
    return withinRange([
      ahead,
      settledMs(low, was.low, factor),
      settledMs(middle, was.middle, factor),
      settledMs(high, was.high, factor),
    ]);
  });
}

function settledMs(ms: number, wasMs: number, factor: number): number {
  const most = Math.max(wasMs, SETTLES_FROM_MS) * factor;
  const least = wasMs / factor;
  return ms > most ? most : ms < least && least > SETTLES_FROM_MS ? least : ms;
}

/** What two looks are compared by. */
interface Figures {
  readonly now: number;
  readonly waiting: number;
  readonly firm: number;
  /** Places given in the line, and turns given to those in it. */
  readonly joined: number;
  readonly turns: number;
  /** Turns that nobody used until their end. */
  readonly missed: number;
  /** Those who ever came to each named lane, but for those who lapsed. */
  readonly came: ReadonlyMap<number, number>;
}

function figuresOf({
  now,
  waiting,
  admitted: firm,
  totals,
  rules,
  waitingIn,
  admittedIn,
}: RoomLook): Figures {
  const { joined, straightThrough, admitted, missedTurns: missed } = totals;
  const came = rules.lanes.named.map(
    ({ number }) => [number, waitingIn(number) + admittedIn(number)] as const,
  );
  return {
    now,
    waiting,
    firm,
    joined: joined - straightThrough,
    turns: admitted - straightThrough,
    missed,
    came: new Map(came),
  };
}

/** In random order everyone's turn is as likely as the next one's, so all have the same wait: half of the line's. */
function anybodysTurn(points: readonly WaitPoint[], waiting: number): WaitPoint[] {
  const at = (share: number) => waitOn({ points }, waiting * share)!.middle;
  return [withinRange([0, at(0.1), at(0.5), at(0.9)])];
}

/** How long a turn is firm on average, by how many are out and how many are given. */
class FirmTime {
  #outMs = FIRM_GUESS_MS * FIRM_GUESS_TURNS;
  #given = FIRM_GUESS_TURNS;

  observe(before: Figures, seen: Figures): void {
    const tookMs = seen.now - before.now;
    const given = seen.turns - before.turns;
    if (given <= 0 && seen.firm === 0 && before.firm === 0) return;
    const kept = Math.exp(-tookMs / TURNS_FADE_MS);
    this.#outMs = this.#outMs * kept + ((before.firm + seen.firm) / 2) * tookMs;
    this.#given = this.#given * kept + Math.max(0, given);
  }

  get meanMs(): number {
    return this.#given <= 0.1 ? FIRM_GUESS_MS : this.#outMs / this.#given;
  }
}

/** What share of turns nobody uses: those missed now, of those given a claim window ago. */
class MissedTurns {
  #missed = 0;
  #given = 0;
  #history: { readonly at: number; readonly given: number }[] = [];

  observe(before: Figures, seen: Figures, claimWindowMs: number): void {
    this.#history.push({ at: seen.now, given: Math.max(0, seen.turns - before.turns) });
    const kept = Math.exp((before.now - seen.now) / MISSED_FADE_MS);
    this.#missed = this.#missed * kept + Math.max(0, seen.missed - before.missed);
    this.#given *= kept;
    while (this.#history.length > 0 && this.#history[0]!.at <= seen.now - claimWindowMs)
      this.#given += this.#history.shift()!.given;
  }

  get share(): number {
    return Math.min(NO_SHOWS_MAX, this.#missed / (this.#given + MISSED_GUESS_TURNS));
  }
}

/**
 * How many of those who wait stop waiting. It is noticed late: someone who closed the page is missed when they do not
 * come back, so what is noticed now is set against the line of then.
 */
class Lapses {
  #gone = 0;
  #exposedMs = 0;
  #history: { readonly at: number; readonly waiting: number }[] = [];

  observe(before: Figures, seen: Figures, lapseAfterMs: number): void {
    const tookMs = seen.now - before.now;
    const gone = seen.joined - before.joined - (seen.turns - before.turns) - (seen.waiting - before.waiting);
    this.#history.push({ at: seen.now, waiting: before.waiting });
    const noticedAt = seen.now - lapseAfterMs;
    let then = 0;
    while (this.#history.length > 0 && this.#history[0]!.at <= noticedAt)
      then = this.#history.shift()!.waiting;
    const kept = Math.exp(-tookMs / LAPSES_FADE_MS);
    this.#gone = this.#gone * kept + gone;
    this.#exposedMs = this.#exposedMs * kept + Math.min(then, before.waiting) * tookMs;
  }

  get perMs(): number {
    return Math.max(0, this.#gone) / (this.#exposedMs + LAPSE_GUESS_MS);
  }
}

/** Newcomers to each lane. */
class Joins {
  readonly #counts = new Map<number, number>();
  #spentMs = 0;

  observe(before: Figures, seen: Figures): void {
    const tookMs = seen.now - before.now;
    const kept = Math.exp(-tookMs / JOINS_FADE_MS);
    this.#spentMs = this.#spentMs * kept + tookMs;
    for (const [lane, came] of seen.came) {
      const joined = Math.max(0, came - (before.came.get(lane) ?? came));
      this.#counts.set(lane, (this.#counts.get(lane) ?? 0) * kept + joined);
    }
  }

  perMs(lane: number): number {
    return (this.#counts.get(lane) ?? 0) / (this.#spentMs + JOINS_GUESS_MS);
  }
}
