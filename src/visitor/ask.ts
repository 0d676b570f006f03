/**
 * One HTTP request over a socket, sent as given, and its answer: no redirect is followed, no path is tidied, nothing is
 * unpacked and nothing is kept. It is what visitors, tests and benches have in common, so it is made of Node's own client.
 */
import http, { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";

/** Where a server listens. */
export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** Options for https; plain http when there are none. */
  readonly tls?: Pick<https.RequestOptions, "ca" | "rejectUnauthorized"> | null;
  /** Asked for unless the request says otherwise. */
  readonly path?: string;
}

export interface HttpAsking
  extends Pick<RequestOptions, "method" | "path" | "headers" | "agent" | "localAddress" | "signal"> {
  readonly body?: string | Buffer | undefined;
  /** A connection that is silent for longer is given up; never when left out. */
  readonly patienceMs?: number;
}

export class HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly trailers: NodeJS.Dict<string>;
  readonly body: Buffer;

  constructor({ statusCode, headers, rawHeaders, trailers }: IncomingMessage, body: Buffer) {
    this.status = statusCode!;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.trailers = trailers;
    this.body = body;
  }

  get text(): string {
    return this.body.toString("utf8");
  }

  /** The first cookie it sets, as a request would send it back; null for none. */
  get cookie(): string | null {
    return this.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? null;
  }
}

/** The server, and the path there, that a URL with a port says. */
export function serverAt(url: string): HttpServer {
  const { protocol, hostname, port, pathname, search } = new URL(url);
  return {
    ...{ host: hostname, port: Number(port), path: pathname + search },
    tls: protocol === "https:" ? {} : null,
  };
}

/**
 * Sends one request to a server or a URL, over a connection of its own unless an agent is given, and reads the answer.
 * Rejects when none comes, or not all of it.
 */
export async function ask(where: HttpServer | string, asking: HttpAsking = {}): Promise<HttpAnswer> {
  return readAnswer(await begin(where, asking));
}

/**
 * The same, for callers who read the body as it comes. A request without a body that meets a kept connection just as the server
 * closes it is sent again on another one.
 */
export function begin(where: HttpServer | string, asking: HttpAsking = {}): Promise<IncomingMessage> {
  const { body, patienceMs, ...options } = asking;
  const { host, port, tls, path } = typeof where === "string" ? serverAt(where) : where;
  return new Promise((resolve, reject) => {
    const fail = (problem: NodeJS.ErrnoException) => {
      const wasClosed = request.reusedSocket && problem.code === "ECONNRESET";
      if (wasClosed && body === undefined) resolve(begin(where, asking));
      else reject(problem);
    };
    const all = { agent: false, path, ...options, host, port };
    const request = tls ? https.request({ ...all, ...tls }) : http.request(all);
    if (patienceMs !== undefined)
      request.setTimeout(patienceMs, () => request.destroy(new Error(`silent for ${patienceMs} ms`)));
    request.on("error", fail).on("response", resolve).end(body);
  });
}

/** Reads an answer to its end; rejects when it is cut short. */
export async function readAnswer(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return new HttpAnswer(response, Buffer.concat(chunks));
}
