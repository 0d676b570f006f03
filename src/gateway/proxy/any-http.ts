/** Requests and responses of HTTP/1 or HTTP/2, whose classes have the same shape in Node. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

export type AnyRequest = IncomingMessage | Http2ServerRequest;
export type AnyResponse = ServerResponse | Http2ServerResponse;

/** True for a request or response of HTTP/2. */
export function isHttp2(
  message: AnyRequest | AnyResponse,
): message is Http2ServerRequest | Http2ServerResponse {
  return (message as { stream?: unknown }).stream !== undefined;
}
