/**
 * Answers over Node's HTTP/1.1 and HTTP/2: sends a rendered verdict, and opens the way to the reader of an event stream.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Timers } from "../../core/world.ts";
import { entryOf } from "../access-log/entry.ts";
import { STREAM_HEADERS } from "../answer-headers.ts";
import { answerWhole } from "../proxy/answer.ts";
import type { AnyRequest, AnyResponse } from "../proxy/any-http.ts";
import { answerRaw } from "../proxy/raw-answer.ts";
import type { Rendered } from "../render.ts";
import type { StreamEvent, StreamSink } from "../streams/stream-event.ts";

const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/** Sends an answer from an address of the site, even if the request was not read to its end. */
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
