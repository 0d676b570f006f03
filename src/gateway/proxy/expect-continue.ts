/**
 * Requests whose visitors wait for `100 Continue` before they send their body. The origin is asked first: what it answers
 * is what the visitor gets, and only its 100 brings the body. undici cannot send `Expect` over HTTP/1.1, so these go over
 * `node:http`, each over a connection of its own. That one is closed after the answer, since a body that was announced
 * and never sent leaves open what the next bytes on it mean.
 */
import http from "node:http";
import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import { type CallOptions, headerIn, OriginCall, OriginClosed } from "./origin-call.ts";
import { hostnameOf, type PoolHandler, type PoolRequest, RESPONSE_HEADER_BYTES_MAX } from "./pool.ts";

export interface ExpectingOptions extends CallOptions {
  readonly url: URL;
  readonly connect: buildConnector.connector;
}

/** Carries a request with `Expect: 100-continue` to the address. */
export function dispatchExpecting(
  request: PoolRequest,
  handler: PoolHandler,
  { url, connect, ...options }: ExpectingOptions,
): void {
  const call = new OriginCall(request, handler, options);
  const { protocol, port, host } = url;
  connect({ hostname: hostnameOf(url), host, protocol, port }, (error, socket) => {
    if (error) call.fail(error);
    else if (call.begin()) send(call, socket, url);
    else socket.destroy();
  });
}

function send(call: OriginCall, socket: Socket, url: URL): void {
  let outgoing: http.ClientRequest;
  // Node writes a head that goes out before its body in the socket's own encoding. Header bytes are Latin-1.
  socket.setDefaultEncoding("latin1");
  try {
    outgoing = http.request({
      createConnection: () => socket,
      method: call.request.method,
      path: call.request.path,
      headers: headersOf(call, url),
      maxHeaderSize: RESPONSE_HEADER_BYTES_MAX,
      insecureHTTPParser: false,
    } as http.RequestOptions);
  } catch (error) {
    socket.destroy();
    call.fail(Object.assign(error as Error, { code: "UND_ERR_INVALID_ARG" }));
    return;
  }
  outgoing.on("continue", () => call.sendBody());
  outgoing.on("information", ({ statusCode, rawHeaders }) => {
    if (statusCode !== 100) call.inform(statusCode, rawHeaders);
  });
  outgoing.on("response", (answer) => receive(call, answer));
  outgoing.on("error", (error) => call.fail(error));
  outgoing.on("close", () => call.fail(new OriginClosed("origin closed the connection")));
  call.open({ outgoing, drop: () => socket.destroy() });
}

function receive(call: OriginCall, answer: http.IncomingMessage): void {
  const { statusCode: status = 0, statusMessage: message = "", rawHeaders: raw } = answer;
  answer.on("end", () => {
    if (answer.complete) call.end(answer.rawTrailers);
  });
  answer.on("error", (error) => call.fail(error));
  call.answer({ status, raw, message }, answer);
}

function headersOf({ request, contentLength }: OriginCall, url: URL): string[] {
  const given = request.headers as readonly string[];
  const headers = [...given, "Expect", "100-continue", "Connection", "close"];
  if (headerIn(given, "Host", "host") === null) headers.push("Host", url.host);
  if (contentLength === null) headers.push("Transfer-Encoding", "chunked");
  return headers;
}
