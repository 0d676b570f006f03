/**
 * A room as its visitors meet it: its settings, cookie, page, bypass rules and lanes, and its board as ready-made bytes. It is
 * built for each room when settings are put in force, so that requests do not wait for any of this.
 *
 * An event has settings and a page of its own. They hold from the instant of its opening, when the rush that its guard is for
 * arrives.
 */
import { toRules } from "../config/rules.ts";
import type { RoomSettings, Settings } from "../config/schema.ts";
import { settingsDuring } from "../config/settings-during.ts";
import type { Board, StockNotice, WaitRange } from "../core/board.ts";
import type { Waiting } from "../core/engine.ts";
import type { DoorRules, RoomRules } from "../core/rules.ts";
import { phaseAt } from "../core/schedule.ts";
import type { World } from "../core/world.ts";
import { AbuseGuard } from "./abuse/abuse-guard.ts";
import { Binding } from "./abuse/binding.ts";
import { BOARD_HEADERS } from "./answer-headers.ts";
import { type Bypass, createBypass } from "./bypass.ts";
import { Cors } from "./cors.ts";
import { FirstVisits } from "./first-visits.ts";
import type { KeySets } from "./lanes/key-sets.ts";
import { createMembership, type LaneMembership } from "./lanes/membership.ts";
import type { OwnAnswer } from "./own-answer.ts";
import { createPage, type Page } from "./page/render.ts";
import type { Watch } from "./proxy/proxy.ts";
import { RoomLoad } from "./room-load.ts";
import { Strays } from "./strays.ts";
import { createRoomCookie, type RoomCookie } from "./tokens/cookies.ts";
import type { Keyring } from "./tokens/keyring.ts";
import { asciiJson, atLeast, flattened, rangeJson } from "./waiting-json.ts";

/** Waits whose text is remembered. */
const CLOSINGS_MAX = 5_000;

export interface FrontParts {
  readonly name: string;
  readonly settings: Settings;
  readonly keyring: Keyring;
  readonly keySets: KeySets;
  readonly world: World;
  /** The room's front under the previous settings. Its counts go on. */
  readonly before: RoomFront | undefined;
}

/** What differs between the phases of the room's schedule. */
interface Face {
  readonly settings: RoomSettings;
  readonly page: Page;
  readonly bypass: Bypass;
  readonly guard: AbuseGuard;
  readonly binding: Binding;
  readonly strays: Strays;
  readonly messageJson: string;
}

export class RoomFront {
  readonly name: string;
  /** As set, whatever event is on. */
  readonly roomSettings: RoomSettings;
  /** For the engine. */
  readonly roomRules: RoomRules;
  readonly cookie: RoomCookie;
  /** For the shop token. */
  readonly shopCookie: RoomCookie;
  readonly membership: LaneMembership;
  readonly load: RoomLoad;
  readonly cors: Cors;
  readonly firstVisits: FirstVisits;
  /** True when standby or the adaptive loop uses the load. */
  readonly isLoadWatched: boolean;
  rules: DoorRules;
  /** The face in force, here and below. */
  settings!: RoomSettings;
  page!: Page;
  bypass!: Bypass;
  guard!: AbuseGuard;
  binding!: Binding;
  strays!: Strays;
  messageJson!: string;
  /** Watches the origin's answers; null when nothing needs them. */
  watch: Watch | null = null;
  /** The board as everyone gets it. */
  boardAnswer: OwnAnswer;
  board: Board;
  #stock: StockNotice | undefined;
  readonly #own: Face;
  readonly #byEvent: ReadonlyMap<string, Face>;
  /** What is in force holds until then. */
  #turnsAt = 0;
  readonly #closings = new Map<WaitRange | null, string>();

  /** Builds the front with an empty board. Throws when the room's own page cannot be read. */
  constructor(parts: FrontParts) {
    const { name, settings, keyring, keySets, world, before } = parts;
    const room = settings.rooms[name]!;
    const { secret, previousSecrets, laneSecrets, budgets } = settings;
    const secrets = { secret: secret!, previousSecrets };
    this.name = name;
    this.roomSettings = room;
    this.roomRules = toRules(name, room, { budgets, seedOf: seedsFrom(keyring) });
    this.cookie = createRoomCookie(name, room.cookieAttributes, room.cookieDomain);
    // No room can have a name with this in it.
    this.shopCookie = createRoomCookie(`${name}_shop`, room.cookieAttributes, room.cookieDomain);
    this.cors = new Cors(room.corsOrigins);
    this.firstVisits = before?.firstVisits ?? new FirstVisits();
    const { lanes } = room;
    this.membership = createMembership({ room: name, lanes, secrets, laneSecrets, keySets, world });
    this.load = before?.load ?? new RoomLoad(() => world.random.fraction());
    this.isLoadWatched = [this.roomRules, ...this.roomRules.events.map(({ rules }) => rules)].some(
      ({ standby, adaptive }) => standby !== null || adaptive !== null,
    );
    const known = before?.guard ?? null;
    this.#own = faceOf(room, parts, known);
    // An event's guard continues from the previous front's, which may have been the event's own.
    const guardBefore = known ?? this.#own.guard;
    this.#byEvent = new Map(
      room.events.map((event) => [event.name, faceOf(settingsDuring(room, event), parts, guardBefore)]),
    );
    this.rules = this.roomRules;
    this.board = emptyBoard(name);
    this.boardAnswer = this.#answerWith("");
    this.#stock = before && room.shop !== null ? before.#stock : undefined;
    this.#turnTo(world.clock.now());
  }

  /** Puts a new board up. */
  show(board: Board): void {
    this.#turnTo(board.madeAt);
    this.#showAll({ ...board, ...this.#shownStock(board) });
  }

  /** What is left to buy. False: it is on the board already. */
  noteStock(stock: StockNotice): boolean {
    const known = this.#stock;
    if (known?.isSoldOut === stock.isSoldOut && known.reach === stock.reach) return false;
    this.#stock = stock;
    this.#showAll({ ...this.board, ...this.#shownStock(this.board) });
    return true;
  }

  #showAll(board: Board): void {
    this.board = board;
    this.boardAnswer = this.#answerWith(flattened(asciiJson(board)));
    this.#closings.clear();
  }

  /** Where the length of the line is not to be known, neither is how much of it the stock will reach. */
  #shownStock({ waiting }: Board): Pick<Board, "stock"> {
    const stock = this.#stock;
    if (!stock) return {};
    return { stock: waiting === null ? { ...stock, reach: null } : stock };
  }

  #answerWith(body: string): OwnAnswer {
    const readable = this.cors.isOn ? ["Access-Control-Allow-Origin", "*"] : [];
    const headers = [...BOARD_HEADERS, ...readable, "Content-Length", String(body.length)];
    const noted = { decision: "own", room: this.name, visitor: null, isPoll: true } as const;
    return { kind: "answer", ...noted, status: 200, headers, body };
  }

  /** Puts in force what holds now. */
  turn(now: number): void {
    if (now >= this.#turnsAt) this.#turnTo(now);
  }

  /** Those in force and those of every event. */
  everySettings(): RoomSettings[] {
    return [this.#own, ...this.#byEvent.values()].map(({ settings }) => settings);
  }

  /** Switches to the face of the present phase. */
  #turnTo(now: number): void {
    const { event, rules, until } = phaseAt(this.roomRules, now);
    this.#turnsAt = until;
    const face = (event && this.#byEvent.get(event.name)) ?? this.#own;
    this.rules = rules;
    if (this.settings !== face.settings) Object.assign(this, face);
  }

  /**
   * What a waiting visitor is told, as JSON in ASCII. Written by hand and in few parts, since this is the most frequent answer.
   * `opening` comes from `waitingOpening`.
   */
  waitingJson({ ahead, waitMs, nextCheckInMs }: Waiting, opening: string): string {
    const waiting = atLeast(this.board.waiting, ahead);
    return `${opening}${ahead},"nextCheckInMs":${nextCheckInMs},"waiting":${waiting}${this.#closing(waitMs)}`;
  }

  /** The end of the answer for all visitors with the same wait, until the next board. */
  #closing(waitMs: WaitRange | null): string {
    let closing = this.#closings.get(waitMs);
    if (closing === undefined) {
      const { nextEventAt } = this.board;
      // This visitor waits, even if the last board says that the room is open.
      const state = this.board.state === "open" ? "queueing" : this.board.state;
      closing = flattened(
        `,"state":"${state}","opensAt":${nextEventAt},"message":${this.messageJson},"waitMs":${rangeJson(waitMs)}}`,
      );
      if (this.#closings.size >= CLOSINGS_MAX) this.#closings.clear();
      this.#closings.set(waitMs, closing);
    }
    return closing;
  }
}

function faceOf(settings: RoomSettings, parts: FrontParts, before: AbuseGuard | null): Face {
  const { name, keyring, world } = parts;
  const { secret, previousSecrets } = parts.settings;
  const { random, clock } = world;
  const guardParts = { room: name, settings: settings.abuse, keyring, random, now: clock.now() };
  return {
    settings,
    page: createPage(settings.page),
    bypass: createBypass(settings.bypass),
    guard: new AbuseGuard(guardParts, before),
    binding: new Binding(settings.abuse.bindTickets, { secret: secret!, previousSecrets }),
    strays: new Strays(settings.strayRequestsPerMinute, settings.totalActiveUsers, world.clock.now()),
    messageJson: asciiJson(settings.message),
  };
}

/** The seed of an event's draw follows from the secret, so that every gateway derives the same one and none has to store it. */
function seedsFrom(keyring: Keyring): (room: string, event: string, startAt: number) => string {
  return (room, event, startAt) => keyring.derive(`draw ${room} ${event} ${startAt}`).toString("hex");
}

function emptyBoard(room: string): Board {
  return {
    room,
    version: 0,
    madeAt: 0,
    state: "open",
    waiting: 0,
    admitted: 0,
    marks: [],
    ratePerMinute: 0,
    waits: null,
    message: "",
    nextEventAt: null,
  };
}
