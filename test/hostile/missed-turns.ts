/**
 * Tickets wait at the front of a line, check in as they are told and never enter. A ticket that was set back stays or joins
 * again; one whose place is spent joins again. If each kept its slot for the whole claim window and then got the next turn, they
 * would hold three quarters of the site forever.
 *
 * Two rooms have the same settings and the same honest visitors at the same time; only one has the idle tickets. So the numbers
 * compared are of one instant on one machine, however busy it is: when everyone is in where no ticket is idle, at least half as
 * many must be in where some are. Honest visitors also see for themselves when more of them are on the site than the room allows.
 */
import http from "node:http";
import type { RoomInput } from "../../src/config/schema.ts";
import { ask } from "../../src/visitor/ask.ts";
import { type EndpointWords, HttpVisitor } from "../../src/visitor/http-visitor.ts";
import type { Attack, Scale, Target } from "./attack.ts";

const ROOMS = ["calm", "haunted"] as const;
type Room = (typeof ROOMS)[number];

interface Crowd {
  readonly idle: number;
  readonly honest: number;
  readonly slots: number;
  readonly visitMs: number;
  /** How long an idle ticket can hold a slot and starve others, before it is set back: most of the time of the small attack. */
  readonly claimWindow: string;
}

const CROWDS: Readonly<Record<Scale, Crowd>> = {
  small: { idle: 12, honest: 80, slots: 16, visitMs: 6_000, claimWindow: "20s" },
  full: { idle: 30, honest: 720, slots: 40, visitMs: 10_000, claimWindow: "30s" },
};
/** Only reached when something is broken. */
const GIVE_UP_MS = 600_000;
/** How soon a visitor looks again who was not told when. */
const RETRY_MS = 1_000;
/** The same for a visitor whose turn is on the board, and who could not enter. */
const TRY_AGAIN_MS = 2_000;
const LOOK_EVERY_MS = 200;

function roomsFor({ slots, claimWindow }: Crowd): Record<Room, RoomInput> {
  const room = { totalActiveUsers: slots, sessionDuration: "10m", claimWindow };
  return { calm: { path: "/calm", ...room }, haunted: { path: "/haunted", ...room } };
}

export const missedTurns: Attack = {
  name: "missed turns",
  about: "hold up a line by tickets at its front that never enter",
  scaled: {
    small: { rooms: roomsFor(CROWDS.small) },
    full: { rooms: roomsFor(CROWDS.full) },
  },
  thinkMs: 200,
  async run(target, scale) {
    const crowd = CROWDS[scale];
    const endAt = Date.now() + GIVE_UP_MS;
    const agent = new http.Agent({ keepAlive: true });
    const books = { calm: new Books(), haunted: new Books() };
    const isOver = () => Date.now() >= endAt || books.calm.inside >= crowd.honest;
    const boards = { calm: new Board(target, "calm", agent), haunted: new Board(target, "haunted", agent) };
    const visitor = (room: Room, n: number) =>
      new Visitor(target, { room, board: boards[room], agent, n, isOver });
    const openers = await Promise.all(ROOMS.map((room) => fill(() => visitor(room, 0))));
    const idle = Array.from({ length: crowd.idle }, (_, n) => visitor("haunted", n));
    // They join the line before anybody else comes.
    for (const one of idle) await one.join();
    const lives = idle.map((one, n) => one.idle(n % 2 === 0));
    for (const room of ROOMS) lives.push(boards[room].follow(isOver));
    for (let n = 0; n < crowd.honest; n++)
      for (const room of ROOMS) lives.push(visitor(room, n).visit(books[room], crowd.visitMs));
    await Promise.all(openers.flat().map((one) => one.leave()));
    await Promise.all(lives);
    agent.destroy();
    return { attempts: crowd.idle, ...gainOf(crowd, books) };
  },
};

/** What the honest visitors saw. */
class Books {
  /** How many have got in so far. */
  inside = 0;
  /** The most on the site at once. */
  onSitePeak = 0;
  #onSite = 0;

  entered(): void {
    this.inside++;
    this.onSitePeak = Math.max(this.onSitePeak, ++this.#onSite);
  }

  left(): void {
    this.#onSite--;
  }
}

function gainOf(
  crowd: Crowd,
  { calm, haunted }: Record<Room, Books>,
): { through: number; examples: string[] } {
  const examples: string[] = [];
  if (calm.inside < crowd.honest)
    throw new Error(`${calm.inside} of ${crowd.honest} got in though nobody was idle`);
  if (haunted.inside * 2 < calm.inside)
    examples.push(`${haunted.inside} got in beside idle tickets, ${calm.inside} without`);
  for (const [room, { onSitePeak }] of Object.entries({ calm, haunted }))
    if (onSitePeak > crowd.slots) examples.push(`${room}: ${onSitePeak} on a site for ${crowd.slots}`);
  return { through: examples.length, examples };
}

/** Lets visitors in until one has to wait, and sends that one away; returns those who are in. */
async function fill(newVisitor: () => Visitor): Promise<Visitor[]> {
  const inside: Visitor[] = [];
  for (;;) {
    const visitor = newVisitor();
    const { status } = await visitor.join();
    if (status !== "entered") {
      await visitor.leave();
      return inside;
    }
    inside.push(visitor);
  }
}

/** A room's board, which every honest visitor reads; one of them fetches it for all. */
class Board {
  /** Visitors with this sequence or a lower one have had a turn. */
  admitted = 0;
  readonly #target: Target;
  readonly #path: string;
  readonly #agent: http.Agent;

  constructor(target: Target, room: Room, agent: http.Agent) {
    this.#target = target;
    this.#path = `/.fairgate/${room}/board`;
    this.#agent = agent;
  }

  async follow(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const { text } = await ask(this.#target, { path: this.#path, agent: this.#agent });
      this.admitted = (JSON.parse(text) as { admitted: number }).admitted;
      await pause(LOOK_EVERY_MS);
    }
  }
}

interface How {
  readonly room: Room;
  readonly board: Board;
  readonly agent: http.Agent;
  readonly n: number;
  readonly isOver: () => boolean;
}

class Visitor extends HttpVisitor {
  readonly #room: Room;
  readonly #board: Board;
  readonly #isOver: () => boolean;

  constructor(target: Target, how: How) {
    const localAddress = `127.0.${how.room === "calm" ? 2 : 3}.${(how.n % 250) + 1}`;
    super(target, { agent: how.agent, localAddress });
    this.#room = how.room;
    this.#board = how.board;
    this.#isOver = how.isOver;
  }

  /** Joins as a new visitor. */
  join(): Promise<EndpointWords> {
    this.cookies.clear();
    return this.#post("join");
  }

  /** Gives up the place or the visit. */
  async leave(): Promise<void> {
    await this.#post("leave");
  }

  /** Checks in and never enters. `staysSetBack`: a place that was set back is kept, not given up for a new one. */
  async idle(staysSetBack: boolean): Promise<void> {
    while (!this.#isOver()) {
      const told = await this.#post("check-in");
      const isSetBack = (told.missedTurns ?? 0) > 0 && !staysSetBack;
      const isPlaced = told.status === "waiting" || told.status === "admitted";
      if (!isPlaced || isSetBack) await this.join();
      await this.#wait(told.nextCheckInMs ?? RETRY_MS);
    }
  }

  /** Waits for the turn, looks at the site for a while and leaves. */
  async visit(books: Books, visitMs: number): Promise<void> {
    let told = await this.join();
    while (told.status !== "entered" && !this.#isOver()) {
      const isDue = told.status === "waiting" && (await this.#isCheckInDue(told));
      if (isDue) told = await this.#post("check-in");
      else told = await (told.status === "refused" ? this.join() : this.#post("enter"));
    }
    if (told.status !== "entered") return;
    books.entered();
    await this.#wait(visitMs);
    books.left();
    await this.leave();
  }

  /** Waits as told, or for the turn: then false. */
  async #isCheckInDue({ sequence, nextCheckInMs }: EndpointWords): Promise<boolean> {
    const hasTurn = () => this.#board.admitted >= sequence!;
    // A visitor who was set back is behind the board's number, and still waits.
    if (hasTurn()) await this.#wait(Math.min(TRY_AGAIN_MS, nextCheckInMs!));
    else await this.#wait(nextCheckInMs!, hasTurn);
    return !hasTurn();
  }

  #post(endpoint: string): Promise<EndpointWords> {
    return this.call(endpoint, { room: this.#room });
  }

  /** Ends early when everything is over, or `isEnough`. */
  async #wait(ms: number, isEnough = () => false): Promise<void> {
    const endAt = Date.now() + ms;
    while (!this.#isOver() && !isEnough() && Date.now() < endAt) await pause(LOOK_EVERY_MS);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
