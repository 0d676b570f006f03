/**
 * The client library, configured to only speak the protocol: it must not reconnect, queue commands while offline, or start a
 * timer for each.
 */
import { RedisClient } from "@redis/client";
import type { RedisServers, ServerAddress } from "./servers.ts";

/** How to log in. */
export type Login = Pick<RedisServers, "mode" | "username" | "password" | "database" | "tls"> & {
  readonly isSentinel?: boolean;
};

const PROTOCOL = { RESP: 2 } as const;
/** The library's own way builds a class of all commands each time, which takes longer than a retry may. */
const newClient = RedisClient.factory(PROTOCOL);

/** A client for one connection, not connected yet. */
export function clientFor(address: ServerAddress, login: Login, connectTimeoutMs: number) {
  const { username, password, database, tls } = login;
  const server = { host: address.host, port: address.port, connectTimeout: connectTimeoutMs };
  const secure = tls && {
    tls: true as const,
    ...(tls.ca !== null && { ca: tls.ca }),
    ...(tls.servername !== null && { servername: tls.servername }),
  };
  return newClient({
    ...PROTOCOL,
    database,
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    socket: { ...server, ...secure, reconnectStrategy: false },
    disableOfflineQueue: true,
    disableClientInfo: true,
    // An AbortSignal for each command would halve the throughput.
    commandOptions: { timeout: 0 },
    maintNotifications: "disabled",
  });
}

export type LinkClient = ReturnType<typeof clientFor>;
