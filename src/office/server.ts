/**
 * The office on a socket. Few connections, short limits: it serves operators and a scraper, never visitors. A new connection
 * is always accepted: if there are too many, an idle one is closed, or else one that has not shown the token. So a health
 * check is always answered.
 *
 * Closing accepts no new requests, lets those under way finish, and cuts off what has not finished in `CLOSE_MAX_MS`.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, type HttpBindings, RequestError } from "@hono/node-server";
import type { HostPort } from "../config/kinds.ts";
import { type ConnectionLimits, Connections } from "../sockets/connections.ts";
import { STRICT_HEADERS } from "./guard.ts";
import type { Office } from "./office.ts";
import { errorBody, statusOfRefusal } from "./refusal.ts";

const CONNECTIONS: ConnectionLimits = { max: 128, perAddressMax: 64 };
const LOOK_EVERY_MS = 1_000;
const LIMITS = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
};
export const CLOSE_MAX_MS = 10_000;

export interface ListeningOffice {
  /** Where it listens, with the actual port. */
  readonly address: HostPort;
  /** Finishes the requests under way, then stops. A second call waits for the same end. */
  close(): Promise<void>;
}

/** Listens; rejects as Node does when the address is not available. An empty host is every address. */
export async function listenOffice(
  office: Office,
  at: HostPort,
  limits: ConnectionLimits = CONNECTIONS,
): Promise<ListeningOffice> {
  const { world } = office;
  const connections = new Connections({ limits, whose: "control", cutsOffUnproven: true, world });
  const hear = (request: Request, { incoming }: HttpBindings) =>
    office.fetch(request, { incoming, onToken: () => connections.prove(incoming.socket) });
  const answer = getRequestListener((request, bindings) => hear(request, bindings as HttpBindings), {
    errorHandler: (error) => answerUnreadable(error),
    // A program that embeds us keeps its own Request and Response.
    overrideGlobalObjects: false,
  });
  const underWay = new Set<ServerResponse>();
  const server = createServer(LIMITS, (incoming, outgoing) => {
    connections.use(incoming.socket);
    if (!server.listening) outgoing.shouldKeepAlive = false;
    underWay.add(outgoing);
    outgoing.once("close", () => underWay.delete(outgoing));
    void answer(incoming, outgoing);
  });
  connections.guard(server, { isTls: false });
  await listening(server, at);
  const stopLooking = world.timers.every(LOOK_EVERY_MS, () => connections.look());
  server.on("close", stopLooking);
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

function listening(server: Server, { host, port }: HostPort): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(host === "" ? {} : { host }) }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function close(server: Server, underWay: Iterable<ServerResponse>, { world }: Office): Promise<void> {
  // Node closes idle connections by itself, but would keep these open for another request.
  for (const outgoing of underWay) outgoing.shouldKeepAlive = false;
  return new Promise((resolve) => {
    const stop = world.timers.after(CLOSE_MAX_MS, () => server.closeAllConnections());
    server.close(() => {
      stop();
      resolve();
    });
  });
}

/** The response to a request line or Host header that is no valid URL. */
function answerUnreadable(error: unknown): Response {
  const [code, message] =
    error instanceof RequestError
      ? (["bad_request", "The request's address or Host header cannot be read."] as const)
      : (["failed", "Something failed."] as const);
  return Response.json(errorBody(code, message), { status: statusOfRefusal(code), headers: STRICT_HEADERS });
}
