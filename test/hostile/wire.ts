/** One request over a socket, for attackers and honest visitors alike. */
import http, { type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";

/** Who is asked. */
export interface Server {
  readonly host: string;
  readonly port: number;
  readonly isTls?: boolean;
}

export interface Asking {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  readonly agent?: http.Agent;
  /** The address it comes from. */
  readonly localAddress?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends one request and reads the whole answer. Rejects when there is none. */
export function ask(target: Server, asking: Asking = {}): Promise<Answer> {
  const { body, ...options } = asking;
  return new Promise((resolve, reject) => {
    const where = { host: target.host, port: target.port };
    const request = target.isTls
      ? https.request({ agent: false, rejectUnauthorized: false, ...options, ...where })
      : http.request({ agent: false, ...options, ...where });
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("latin1").on("data", (piece: string) => {
        text += piece;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    });
    request.end(body);
  });
}

/** The first cookie that an answer sets, as a request would send it back. */
export function cookieOf({ headers }: Answer): string | null {
  return headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? null;
}
