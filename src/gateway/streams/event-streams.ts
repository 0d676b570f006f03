/**
 * Open event streams: every waiting visitor with the page open and JavaScript on. Each new board goes to all of a
 * room's streams as the same bytes; a turn goes to the one it belongs to. While a stream is open the gateway checks
 * in for its visitor, so such a page sends nothing at all.
 *
 * An event is framed once for all streams: a new board costs one write a stream, and these are spread over several turns of the
 * event loop (`in-turns.ts`).
 *
 * A stream whose reader does not keep up is closed; the page falls back to the board by itself. And one whose ticket
 * has lived half its time says bye: the page opens another, and gets its ticket anew with that.
 *
 * There are limits for all streams together, for those of one address and for those of one ticket (`stream-seats.ts`). A page
 * that gets no stream asks for the board instead.
 */
import type { Board } from "../../core/board.ts";
import type { Engine } from "../../core/engine.ts";
import { type Ticket, tellAhead } from "../../core/ticket.ts";
import type { World } from "../../core/world.ts";
import { type AskEngine, ENGINE_AWAY } from "../ask-engine.ts";
import type { RoomFront } from "../room-front.ts";
import type { HeldTicket } from "../tokens/held-tokens.ts";
import { replaceTicket } from "../tokens/visitor-tokens.ts";
import { InTurns } from "./in-turns.ts";
import { eventOf, type StreamSink, writeEvent } from "./stream-event.ts";
import type { StreamRefusal, StreamSeats } from "./stream-seats.ts";

const CHECK_PERIOD_MS = 1_000;
/** While no answer comes, a stream's visitor is checked in for this often, not each second. */
const CHECK_AGAIN_MS = 5_000;
const RETRY_MS = 3_000;
/** After a draw everyone is checked in for within this time. */
const DRAW_SPREAD_MS = 3_000;
const TURN = eventOf("event: turn\ndata: {}\n\n");
const BYE = eventOf("event: bye\ndata: {}\n\n");

/** Who listens to a room's board. */
export interface Listening {
  readonly held: HeldTicket;
  readonly front: RoomFront;
  /** The visitor's address. */
  readonly address: string;
}

export interface Stream {
  readonly held: HeldTicket;
  readonly sink: StreamSink;
  /** When its visitor should be given a fresh ticket, which only a new answer can do. */
  readonly freshUntil: number;
  nextCheckInAt: number;
  /** Its visitor's. */
  readonly address: string;
  /** Under which its visitor's turn is called. Empty: to be found out. */
  key: string;
}

/** A board on its way to all streams of a room. */
interface Round {
  /** The newest board that came meanwhile; it is sent after this one. */
  next: Board | null;
}

interface StreamParts {
  readonly engine: Engine;
  readonly ask: AskEngine;
  readonly seats: StreamSeats;
  readonly world: World;
}

export class EventStreams {
  readonly #parts: StreamParts;
  readonly #rooms = new Map<string, Set<Stream>>();
  readonly #bySequence = new Map<string, Set<Stream>>();
  /** By room. */
  readonly #rounds = new Map<string, Round>();
  readonly #inTurns = new InTurns();
  readonly #stop: () => void;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.#stop = parts.world.timers.every(CHECK_PERIOD_MS, () => this.#checkIn());
  }

  /**
   * Opens a stream for a waiting visitor and sends the present board; or returns which limit was reached. `begin` sends the head.
   * The caller calls `closed` when its reader is gone.
   */
  open({ held, front, address }: Listening, begin: () => StreamSink): Stream | StreamRefusal {
    const { room, issuedAt, expiresAt } = held.ticket;
    const { seats } = this.#parts;
    const key = keyOf(held.ticket);
    const siblings = this.#bySequence.get(key) ?? new Set();
    const refusal = seats.refusal(address, siblings.size);
    if (refusal !== null) return refusal;
    const freshUntil = (issuedAt + expiresAt) / 2;
    const nextCheckInAt = this.#parts.world.clock.now();
    const stream = { held, sink: begin(), freshUntil, nextCheckInAt, address, key };
    this.#bySequence.set(key, siblings.add(stream));
    seats.take(address);
    const streams = this.#rooms.get(room) ?? new Set();
    this.#rooms.set(room, streams.add(stream));
    writeEvent(stream.sink, eventOf(`retry: ${RETRY_MS}\n${boardText(front.board)}`));
    this.#checkInOne(stream);
    return stream;
  }

  /** A new board, to everyone in its room. */
  showBoard(board: Board): void {
    const streams = this.#rooms.get(board.room);
    if (!streams || streams.size === 0) return;
    const round = this.#rounds.get(board.room);
    if (round !== undefined) {
      round.next = board;
      return;
    }
    const started: Round = { next: null };
    const event = eventOf(boardText(board));
    this.#rounds.set(board.room, started);
    // Those that are open now; who comes later has this board or a newer one.
    this.#inTurns.forEach(
      [...streams],
      (stream) => {
        if (streams.has(stream)) writeEvent(stream.sink, event);
      },
      () => {
        this.#rounds.delete(board.room);
        if (started.next !== null) this.showBoard(started.next);
      },
    );
  }

  /** It is these places' turn. */
  showTurns(room: string, sequences: readonly number[]): void {
    if (!this.#rooms.has(room)) return;
    for (const sequence of sequences) {
      for (const stream of this.#bySequence.get(`${room} ${sequence}`) ?? []) writeEvent(stream.sink, TURN);
    }
  }

  /** Places in this room have changed hands: everyone's new one is asked for, within a few seconds. */
  showDraw(room: string): void {
    const now = this.#parts.world.clock.now();
    for (const stream of this.#rooms.get(room) ?? []) {
      this.#callBy(stream, "");
      stream.nextCheckInAt = now + this.#parts.world.random.fraction() * DRAW_SPREAD_MS;
    }
  }

  close(): void {
    this.#parts.seats.close();
    this.#stop();
    // What has been ended takes no more boards, however long its reader takes to the end.
    for (const streams of this.#rooms.values()) for (const stream of streams) this.#end(stream);
  }

  #checkIn(): void {
    const now = this.#parts.world.clock.now();
    for (const streams of this.#rooms.values()) {
      for (const stream of streams) {
        if (stream.freshUntil <= now) this.#end(stream);
        else if (stream.nextCheckInAt <= now) this.#checkInOne(stream);
      }
    }
  }

  #checkInOne(stream: Stream): void {
    stream.nextCheckInAt = this.#parts.world.clock.now() + CHECK_AGAIN_MS;
    const { engine, ask } = this.#parts;
    ask.hear(
      () => engine.checkIn(stream.held.ticket),
      (answer) => {
        if (answer === ENGINE_AWAY) return;
        if (answer.kind === "waiting") {
          this.#callBy(stream, keyOf(answer.ticket));
          replaceTicket(stream.held, tellAhead(answer.ticket, answer.ahead));
          stream.nextCheckInAt = this.#parts.world.clock.now() + answer.nextCheckInMs;
        } else writeEvent(stream.sink, TURN);
      },
    );
  }

  /** From here on the stream's visitor is called by this key; by none when it is empty. */
  #callBy(stream: Stream, key: string): void {
    if (stream.key === key || !this.#rooms.get(stream.held.ticket.room)?.has(stream)) return;
    this.#uncall(stream);
    stream.key = key;
    if (key !== "") this.#bySequence.set(key, (this.#bySequence.get(key) ?? new Set()).add(stream));
  }

  #uncall(stream: Stream): void {
    const siblings = this.#bySequence.get(stream.key);
    siblings?.delete(stream);
    if (siblings?.size === 0) this.#bySequence.delete(stream.key);
  }

  #end(stream: Stream): void {
    this.closed(stream);
    writeEvent(stream.sink, BYE);
    stream.sink.end();
  }

  /** Its reader is gone. */
  closed(stream: Stream): void {
    if (!this.#rooms.get(stream.held.ticket.room)?.delete(stream)) return;
    this.#uncall(stream);
    this.#parts.seats.give(stream.address);
  }
}

function keyOf({ room, sequence }: Ticket): string {
  return `${room} ${sequence}`;
}

function boardText(board: Board): string {
  return `event: board\nid: ${board.version}\ndata: ${JSON.stringify(board)}\n\n`;
}
