/**
 * The office on a socket. Few connections, short limits: it serves operators and a scraper, never visitors. Closing
 * takes no new requests, lets those under way finish, and cuts off what has not finished by then.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { STRICT_HEADERS } from "./guard.ts";
import type { Office } from "./office.ts";
import { errorBody } from "./refusal.ts";

const CONNECTIONS_MAX = 256;
const LIMITS = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
};
export const CLOSE_MAX_MS = 10_000;

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ListeningOffice {
  /** Where it really listens: port 0 has become a port. */
  readonly address: Address;
  /** Finishes what is under way, then stops. Calling again waits for the same end. */
  close(): Promise<void>;
}

/** Listens; rejects as Node does when the address cannot be had. An empty host is every address. */
export async function listenOffice(office: Office, at: Address): Promise<ListeningOffice> {
  const answer = getRequestListener((request, bindings) => office.fetch(request, bindings), {
    errorHandler: (error) => answerUnreadable(error),
    // The program around us keeps its own Request and Response.
    overrideGlobalObjects: false,
  });
  const underWay = new Set<ServerResponse>();
  const server = createServer(LIMITS, (incoming, outgoing) => {
    if (!server.listening) outgoing.shouldKeepAlive = false;
    underWay.add(outgoing);
    outgoing.once("close", () => underWay.delete(outgoing));
    void answer(incoming, outgoing);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listening(server, at);
  const { address, port } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    address: { host: address, port },
    close: () => {
      closed ??= close(server, underWay, office);
      return closed;
    },
  };
}

function listening(server: Server, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(host === "" ? {} : { host }) }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function close(server: Server, underWay: Iterable<ServerResponse>, { world }: Office): Promise<void> {
  // Node closes idle connections by itself, but would keep these open for a next request that never comes.
  for (const outgoing of underWay) outgoing.shouldKeepAlive = false;
  return new Promise((resolve) => {
    const stop = world.timers.after(CLOSE_MAX_MS, () => server.closeAllConnections());
    server.close(() => {
      stop();
      resolve();
    });
  });
}

/** A request line or Host header that makes no address. */
function answerUnreadable(error: unknown): Response {
  const isRequest = error instanceof RequestError;
  const body = isRequest
    ? errorBody("bad_request", "The request's address or Host header cannot be read.")
    : errorBody("failed", "Something failed.");
  return Response.json(body, { status: isRequest ? 400 : 500, headers: STRICT_HEADERS });
}
