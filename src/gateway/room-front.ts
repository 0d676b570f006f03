/**
 * A room as its visitors meet it: its settings, its cookie, its page, and its board as ready-made bytes. One is built
 * for each room when settings are put in force, so nothing of this is worked out while a request waits.
 */
import { toRules } from "../config/rules.ts";
import type { RoomSettings } from "../config/schema.ts";
import type { Board, WaitRange } from "../core/board.ts";
import type { Waiting } from "../core/engine.ts";
import type { RoomRules } from "../core/rules.ts";
import { createRoomCookie, type RoomCookie } from "./cookies.ts";
import { createPage, type Page } from "./page/render.ts";

const BOARD_HEADERS: readonly string[] = [
  "Content-Type",
  "application/json; charset=utf-8",
  "Cache-Control",
  "public, max-age=1",
  "X-Content-Type-Options",
  "nosniff",
];

/** Waits whose text is remembered. */
const CLOSINGS_MAX = 5_000;

export class RoomFront {
  readonly name: string;
  readonly settings: RoomSettings;
  readonly rules: RoomRules;
  readonly cookie: RoomCookie;
  readonly page: Page;
  /** Flat header list of the board's answer, its length included. */
  boardHeaders: readonly string[] = BOARD_HEADERS;
  /** The board as JSON in ASCII. */
  boardBody = "";
  board: Board;
  readonly #messageJson: string;
  readonly #closings = new Map<WaitRange | null, string>();

  /** Builds the front with an empty board. Throws when the room's own page cannot be read. */
  constructor(name: string, settings: RoomSettings) {
    this.name = name;
    this.settings = settings;
    this.rules = toRules(settings);
    this.cookie = createRoomCookie(name, settings.cookieAttributes);
    this.page = createPage(settings.page);
    this.#messageJson = asciiJson(settings.message);
    this.board = emptyBoard(name);
  }

  /** Puts a new board up. */
  show(board: Board): void {
    this.board = board;
    this.boardBody = inOnePiece(asciiJson(board));
    this.#closings.clear();
    this.boardHeaders = [...BOARD_HEADERS, "Content-Length", String(this.boardBody.length)];
  }

  /**
   * What a waiting visitor is told, as JSON in ASCII. Written by hand, since this is the busiest answer there is, and
   * in as few pieces as can be. `opening` comes from `waitingOpening`.
   */
  waitingJson({ ahead, waitMs, nextCheckInMs }: Waiting, opening: string): string {
    return `${opening}${ahead},"nextCheckInMs":${nextCheckInMs}${this.#closing(waitMs)}`;
  }

  /** How the answer ends for all who wait as long, until the next board. */
  #closing(waitMs: WaitRange | null): string {
    let closing = this.#closings.get(waitMs);
    if (closing === undefined) {
      const { waiting, state } = this.board;
      closing = inOnePiece(
        `,"waiting":${waiting},"state":"${state}","message":${this.#messageJson},"waitMs":${rangeJson(waitMs)}}`,
      );
      if (this.#closings.size >= CLOSINGS_MAX) this.#closings.clear();
      this.#closings.set(waitMs, closing);
    }
    return closing;
  }
}

/** How the answer to one ticket begins; writing out a number beyond 31 bits is slow, so it is done once. */
export function waitingOpening(sequence: number): string {
  return inOnePiece(`{"status":"waiting","sequence":${sequence},"ahead":`);
}

/** A text put together from pieces stays a tree of them, walked anew each time it is sent. This is for those sent often. */
function inOnePiece(ascii: string): string {
  return Buffer.from(ascii, "latin1").toString("latin1");
}

function rangeJson(range: WaitRange | null): string {
  if (range === null) return "null";
  return `{"low":${wholeMs(range.low)},"middle":${wholeMs(range.middle)},"high":${wholeMs(range.high)}}`;
}

/** Nobody waits longer than this many milliseconds, which is the largest number that is quick to write out. */
const WAIT_MS_MAX = 2 ** 30 - 1;

function wholeMs(ms: number): number {
  return Math.min(ms, WAIT_MS_MAX) | 0;
}

/** JSON with everything beyond ASCII escaped, so that its length in characters is its length in bytes. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function emptyBoard(room: string): Board {
  return {
    room,
    version: 0,
    madeAt: 0,
    state: "open",
    waiting: 0,
    admitted: [],
    marks: [],
    ratePerMinute: 0,
    secondsPerHundred: null,
    message: "",
    nextEventAt: null,
  };
}
