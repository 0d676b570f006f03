/**
 * Answers over Node's HTTP/1.1 and HTTP/2: how a rendered verdict goes out, whether anybody is there to get it, and what
 * carries it while it is under way.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Timers } from "../../core/world.ts";
import { entryOf } from "../access-log/entry.ts";
import { STREAM_HEADERS } from "../answer-headers.ts";
import type { StreamEvent, StreamSink } from "../event-streams.ts";
import type { OpenAnswer } from "../open-answer.ts";
import {
  type AnyRequest,
  type AnyResponse,
  answerWhole,
  breakOff,
  discardRest,
  hasBody,
  isHttp2,
} from "../proxy/answer.ts";
import { answerRaw } from "../proxy/raw-answer.ts";
import type { Rendered } from "../render.ts";
import type { Answer } from "../verdict.ts";

const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/** Sends the answer of one of our own addresses, in one write. Nothing there takes a body; one that comes is cut off. */
export function sendAnswer(request: AnyRequest, response: AnyResponse, answer: Answer, timers: Timers): void {
  if (hasBody(request)) discardRest(request, response, timers);
  // Node's two response classes type a flat list differently; both take one.
  const plain = response as ServerResponse;
  entryOf(response)?.sent(answer.body.length);
  plain.writeHead(answer.status, answer.headers as string[]);
  plain.end(answer.body, "latin1");
}

/** Sends an answer at an address of the site, whatever of the request is still unread. */
export function sendRendered(
  request: AnyRequest,
  response: AnyResponse,
  { status, headers, body, isLast = false }: Rendered,
  timers: Timers,
): void {
  answerWhole(request, response, {
    status,
    headers: [...headers],
    body: Buffer.from(body as string),
    isLast,
    timers,
  });
}

/** Answers an upgrade on its connection, and closes that. */
export function sendOnSocket(socket: Duplex, { status, headers, body }: Rendered): void {
  answerRaw(socket, { status, headers, body: Buffer.from(body as string) });
}

/** True when nobody is there to get an answer: they left while an engine took its time. */
export function isGone(response: AnyResponse): boolean {
  return isHttp2(response) ? response.stream.destroyed : response.destroyed;
}

/** True for what was closed before its answer had been sent whole, and for every upgraded connection that is closed. */
export function isGivenUp(closed: AnyResponse | Duplex): boolean {
  if (!("statusCode" in closed)) return true;
  if (!isHttp2(closed)) return !closed.writableFinished;
  // A sender may say that nothing is wrong (NO_ERROR) as they reset their request.
  const { rstCode, aborted } = closed.stream;
  return rstCode !== 0 || aborted;
}

/** An answer under way. */
export class NodeAnswer implements OpenAnswer {
  readonly isUpgraded = false;
  readonly #response: AnyResponse;

  constructor(response: AnyResponse) {
    this.#response = response;
  }

  /** An HTTP/1 connection carries one request at a time, so its socket counts for that. */
  bytes(): number | null {
    return isHttp2(this.#response) ? null : bytesOf(this.#response.socket);
  }

  end(): void {
    breakOff(this.#response);
  }
}

/** An upgraded connection. */
export class NodeTunnel implements OpenAnswer {
  readonly isUpgraded = true;
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  bytes(): number {
    return bytesOf(this.#socket as Socket) ?? 0;
  }

  end(): void {
    this.#socket.destroy();
  }
}

function bytesOf(socket: Partial<Pick<Socket, "bytesRead" | "bytesWritten">> | null): number | null {
  return socket === null ? null : (socket.bytesRead ?? 0) + (socket.bytesWritten ?? 0);
}

/** Begins an event stream and gives the quickest way for what follows: over HTTP/1.1 the connection itself. */
export function beginStream(
  request: AnyRequest,
  response: AnyResponse,
  headers: readonly string[],
): StreamSink {
  const plain = response as ServerResponse;
  request.socket.setNoDelay?.(true);
  plain.writeHead(200, [...STREAM_HEADERS, ...headers]);
  plain.flushHeaders();
  const isChunked = request.httpVersion === "1.1" && plain.chunkedEncoding;
  const socket = isChunked ? plain.socket : null;
  if (socket === null) return new ResponseSink(plain);
  entryOf(response)?.countOn(socket);
  return new SocketSink(plain, socket);
}

/** A chunked body, written without going through Node's response. */
class SocketSink implements StreamSink {
  readonly #response: ServerResponse;
  readonly #socket: Socket;

  constructor(response: ServerResponse, socket: Socket) {
    this.#response = response;
    this.#socket = socket;
  }

  backlog(): number {
    return this.#socket.writableLength;
  }

  write(event: StreamEvent): void {
    this.#socket.write(event.chunk);
  }

  end(): void {
    this.#socket.end(LAST_CHUNK);
  }

  destroy(): void {
    this.#response.destroy();
  }
}

class ResponseSink implements StreamSink {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  backlog(): number {
    return this.#response.writableLength;
  }

  write({ plain }: StreamEvent): void {
    this.#response.write(plain);
    entryOf(this.#response)?.sent(plain.length);
  }

  end(): void {
    this.#response.end();
  }

  destroy(): void {
    this.#response.destroy();
  }
}
