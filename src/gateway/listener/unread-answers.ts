/**
 * Answers that are complete and that their visitors do not read. Answers of an origin are limited on their way
 * (`proxy/spool.ts`). But a waiting page is ready at once, and a few kilobytes can request thousands of them: by pipelined
 * requests on one connection, or by HTTP/2 streams that open no window. Each would stay in memory for as long as its visitor
 * likes, and its connection would count as busy.
 *
 *   - an answer must be read at the pace required of every reader (`answerPace`), or is cut off
 *   - when all of them together need more memory than `spooledAnswersBytes`, the slowest are cut off at once
 *   - on one HTTP/1 connection only a limited number of answers may wait behind the one under way
 *
 * All connections are checked once a second; a single request costs nothing.
 */
import type { ServerResponse } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { LimitSettings } from "../../config/schema.ts";
import { answerUnderWay } from "../../sockets/idle-connections.ts";
import { StreamPace } from "../proxy/slow-visitors.ts";

/** Browsers do not pipeline over HTTP/1; some programs send a few requests ahead. */
export const PIPELINED_MAX = 16;

export type UnreadLimits = Pick<LimitSettings, "answerPace" | "paceWindowMs" | "spooledAnswersBytes">;

/** A connection of HTTP/1, or a stream of HTTP/2. */
type Reader = Socket | ServerHttp2Stream;

/** How much of an answer was sent. */
interface Progress {
  readonly waiting: number;
  readonly taken: number;
}

interface Unread extends Progress {
  readonly reader: Reader;
  readonly pace: StreamPace;
}

export class UnreadAnswers {
  limits: UnreadLimits;
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<ServerHttp2Stream>();
  /** Answers that wait behind another on their connection. */
  readonly #pipelined = new Map<Socket, Set<ServerResponse>>();
  /** The longest unread first. */
  #paces = new Map<Reader, StreamPace>();

  constructor(limits: UnreadLimits) {
    this.limits = limits;
  }

  /** A connection of HTTP/1. */
  watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  /** A request of HTTP/1. False when too many wait on its connection, which is closed then. */
  admit(socket: Socket, response: ServerResponse): boolean {
    // Requests in the same packet are still parsed after the connection was closed.
    if (socket.destroyed) return false;
    if (answerUnderWay(socket) === response) return true;
    const behind = this.#pipelined.get(socket) ?? new Set();
    if (behind.size >= PIPELINED_MAX) {
      socket.destroy();
      return false;
    }
    this.#pipelined.set(socket, behind.add(response));
    response.once("close", () => {
      behind.delete(response);
      if (behind.size === 0) this.#pipelined.delete(socket);
    });
    return true;
  }

  /** A request of HTTP/2. */
  open(stream: ServerHttp2Stream): void {
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
  }

  look(now: number): void {
    const unread = this.#unread(now);
    const { answerPace: perSecond, paceWindowMs: windowMs, spooledAnswersBytes } = this.limits;
    let bytes = 0;
    for (const { reader, pace, taken, waiting } of unread) {
      if (pace.isTooSlow(now, taken, { windowMs, perSecond, step: waiting })) cut(reader);
      else bytes += waiting;
    }
    if (bytes > spooledAnswersBytes) cutSlowest(unread, bytes - spooledAnswersBytes, now);
  }

  /** What is unread now, the longest unread first. */
  #unread(now: number): Unread[] {
    const found: Unread[] = [];
    const paces = new Map<Reader, StreamPace>();
    const note = (reader: Reader, progress: Progress | null) => {
      if (progress === null) return;
      const known = this.#paces.get(reader);
      const pace = known ?? new StreamPace(now);
      if (!known) pace.restart(now, progress.taken);
      paces.set(reader, pace);
      found.push({ reader, pace, ...progress });
    };
    for (const [reader] of this.#paces) note(reader, this.#progressOf(reader));
    const noteNew = (reader: Reader) => {
      if (!this.#paces.has(reader)) note(reader, this.#progressOf(reader));
    };
    for (const socket of this.#sockets) noteNew(socket);
    for (const stream of this.#streams) noteNew(stream);
    this.#paces = paces;
    return found;
  }

  /** Null when nothing is unread. */
  #progressOf(reader: Reader): Progress | null {
    if (reader.destroyed) return null;
    if ("pushStream" in reader) {
      const waiting = reader.writableEnded ? reader.writableLength : 0;
      // How much of it was read shows only at its end.
      return waiting === 0 ? null : { waiting, taken: 0 };
    }
    const answer = answerUnderWay(reader);
    if (!answer?.writableEnded) return null;
    let waiting = answer.writableLength;
    for (const behind of this.#pipelined.get(reader) ?? [])
      if (behind !== answer) waiting += behind.writableLength;
    return waiting === 0 ? null : { waiting, taken: reader.bytesWritten - reader.writableLength };
  }
}

function cut(reader: Reader): void {
  if ("pushStream" in reader) reader.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  else reader.destroy();
}

/** Frees this many bytes. Readers whose pace is not known yet go last. */
function cutSlowest(unread: readonly Unread[], bytes: number, now: number): void {
  const paced = unread.map((one) => ({ ...one, current: one.pace.current(now, one.taken) }));
  let left = bytes;
  for (const { reader, waiting } of paced.sort((a, b) => compare(a.current, b.current))) {
    if (left <= 0) return;
    cut(reader);
    left -= waiting;
  }
}

/** Also for two that are both infinite. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
