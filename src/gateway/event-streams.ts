/**
 * Open event streams: every waiting visitor with the page open and JavaScript on. Each new board goes to all of a
 * room's streams as the same bytes; a turn goes to the one it belongs to. While a stream is open the gateway checks
 * in for its visitor, so such a page sends nothing at all.
 *
 * A stream whose reader does not keep up is closed; the page falls back to the board by itself.
 */
import type { Board } from "../core/board.ts";
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import { type AskEngine, ENGINE_AWAY } from "./ask-engine.ts";
import type { Request, Response } from "./exchange.ts";
import type { HeldTicket } from "./held-tokens.ts";
import type { Traffic } from "./traffic.ts";

const STREAMS_MAX = 15_000;
const STREAMS_PER_TICKET_MAX = 5;
const BACKLOG_BYTES_MAX = 64 * 1_024;
const CHECK_PERIOD_MS = 1_000;
/** A comment now and then keeps proxies from closing a quiet stream. Boards come each second, so this is seldom needed. */
const TURN = Buffer.from("event: turn\ndata: {}\n\n");
const BYE = Buffer.from("event: bye\ndata: {}\n\n");

const HEADERS: readonly string[] = [
  "Content-Type",
  "text/event-stream; charset=utf-8",
  "Cache-Control",
  "no-store, no-transform",
  "X-Accel-Buffering",
  "no",
  "X-Content-Type-Options",
  "nosniff",
];

interface Stream {
  readonly held: HeldTicket;
  readonly response: Response;
  nextCheckInAt: number;
}

export class EventStreams {
  readonly #engine: Engine;
  readonly #ask: AskEngine;
  readonly #world: World;
  readonly #traffic: Traffic;
  readonly #rooms = new Map<string, Set<Stream>>();
  readonly #bySequence = new Map<string, Set<Stream>>();
  readonly #stop: () => void;
  #size = 0;

  constructor(parts: { engine: Engine; ask: AskEngine; traffic: Traffic; world: World }) {
    this.#engine = parts.engine;
    this.#ask = parts.ask;
    this.#traffic = parts.traffic;
    this.#world = parts.world;
    this.#stop = parts.world.timers.every(CHECK_PERIOD_MS, () => this.#checkIn());
  }

  /** Opens a stream for a waiting visitor and sends the present board. False when there is no room for one more. */
  open(held: HeldTicket, board: Board, request: Request, response: Response): boolean {
    const { room } = held.ticket;
    const key = keyOf(held);
    const siblings = this.#bySequence.get(key) ?? new Set();
    if (this.#size >= STREAMS_MAX || siblings.size >= STREAMS_PER_TICKET_MAX) return false;
    (response as import("node:http").ServerResponse).writeHead(200, [...HEADERS]);
    const stream: Stream = { held, response, nextCheckInAt: this.#world.clock.now() };
    this.#bySequence.set(key, siblings.add(stream));
    const streams = this.#rooms.get(room) ?? new Set();
    this.#rooms.set(room, streams.add(stream));
    this.#traffic.sseConnections = ++this.#size;
    request.socket.setNoDelay?.(true);
    response.on("close", () => this.#forget(stream));
    write(stream, Buffer.concat([Buffer.from("retry: 3000\n"), boardEvent(board)]));
    this.#checkInOne(stream);
    return true;
  }

  /** A new board, to everyone in its room. */
  showBoard(board: Board): void {
    const streams = this.#rooms.get(board.room);
    if (!streams || streams.size === 0) return;
    const event = boardEvent(board);
    for (const stream of streams) write(stream, event);
  }

  /** It is these places' turn. */
  showTurns(room: string, sequences: readonly number[]): void {
    if (!this.#rooms.has(room)) return;
    for (const sequence of sequences) {
      for (const stream of this.#bySequence.get(`${room} ${sequence}`) ?? []) write(stream, TURN);
    }
  }

  close(): void {
    this.#stop();
    for (const streams of this.#rooms.values()) {
      for (const stream of streams) {
        write(stream, BYE);
        (stream.response as import("node:http").ServerResponse).end();
      }
    }
  }

  #checkIn(): void {
    const now = this.#world.clock.now();
    for (const streams of this.#rooms.values()) {
      for (const stream of streams) if (stream.nextCheckInAt <= now) this.#checkInOne(stream);
    }
  }

  #checkInOne(stream: Stream): void {
    // Asked for again even if no answer comes: an engine that is away must not be asked by every stream each second.
    stream.nextCheckInAt = this.#world.clock.now() + 5 * CHECK_PERIOD_MS;
    this.#ask.ask(
      () => this.#engine.checkIn(stream.held.ticket),
      (answer) => {
        if (answer === ENGINE_AWAY) return;
        if (answer.kind === "waiting") {
          stream.held.ticket = { ...answer.ticket, aheadShown: answer.ahead };
          stream.nextCheckInAt = this.#world.clock.now() + answer.nextCheckInMs;
        } else write(stream, TURN);
      },
    );
  }

  #forget(stream: Stream): void {
    this.#rooms.get(stream.held.ticket.room)?.delete(stream);
    const key = keyOf(stream.held);
    const siblings = this.#bySequence.get(key);
    siblings?.delete(stream);
    if (siblings?.size === 0) this.#bySequence.delete(key);
    this.#traffic.sseConnections = --this.#size;
  }
}

function keyOf(held: HeldTicket): string {
  return `${held.ticket.room} ${held.ticket.sequence}`;
}

function boardEvent(board: Board): Buffer {
  return Buffer.from(`event: board\nid: ${board.version}\ndata: ${JSON.stringify(board)}\n\n`);
}

function write(stream: Stream, event: Buffer): void {
  const response = stream.response as import("node:http").ServerResponse;
  if (response.writableLength > BACKLOG_BYTES_MAX) response.destroy();
  else response.write(event);
}
