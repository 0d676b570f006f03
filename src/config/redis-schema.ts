/**
 * Where Redis is, as settings: one server by its address, or some of the sentinels that watch it, or some nodes of a
 * cluster. What these settings mean for each other is checked in `redis-check.ts`; `redis-settings.ts` adds the passwords.
 */
import { z } from "zod";
import { count, duration, fileName, type HostPort, listOf, readable, setting, text } from "./kinds.ts";
import { type Read, readHostPort } from "./route.ts";

export const PASSWORD_CHARACTERS_MAX = 1_024;
const ADDRESSES_MAX = 64;
const ADDRESS_CHARACTERS_MAX = 300;
const URL_CHARACTERS_MAX = 4_096;
const NAME_CHARACTERS_MAX = 200;
const PREFIX_CHARACTERS_MAX = 64;
/** Redis has 16 databases unless it is configured otherwise; this many are unheard of. */
const DATABASE_MAX = 9_999;
const REPLICAS_MAX = 10;
const REDIS_PORT = 6_379;
const SENTINEL_PORT = 26_379;

/** What the address of one server says. */
export interface RedisUrl extends HostPort {
  readonly isTls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  /** Null: it names none. */
  readonly database: number | null;
}

const name = (shape: string) => setting(text({ max: NAME_CHARACTERS_MAX, shape }).min(1), null);
const password = () =>
  setting(
    z
      .string()
      .max(PASSWORD_CHARACTERS_MAX)
      .meta({
        kind: "secret",
        isSecret: true,
        shape: `a password of 1 to ${PASSWORD_CHARACTERS_MAX} characters`,
      }),
    null,
  );
const addresses = (port: number) => {
  const shape = `a host and a port such as 10.0.0.1:${port}`;
  const of = `hosts and ports such as 10.0.0.1:${port}`;
  const address = readable((written) => readHostPort(written, port), {
    kind: "address",
    max: ADDRESS_CHARACTERS_MAX,
    shape,
  });
  return setting(listOf(address, { max: ADDRESSES_MAX, of }), []);
};

const tlsSchema = z.strictObject({
  ca: setting(fileName(), null).describe(
    "PEM file with the CA certificates that signed the servers' certificates. null: the CAs that Node trusts.",
  ),
  serverName: name("a host name").describe(
    "Host name to expect in the servers' certificates. null: the host that is connected to.",
  ),
});

export const redisSchema = z
  .strictObject({
    url: setting(
      readable(readRedisUrl, {
        kind: "url",
        max: URL_CHARACTERS_MAX,
        shape: "an address such as redis://10.0.0.1:6379/0, or rediss:// for TLS",
      })
        // It may have a password in it.
        .meta({ isSecret: true }),
      null,
    ).describe(
      "Address of one server, which may include a user name and a password. Better in the environment then: FAIRGATE_REDIS_URL.",
    ),
    sentinels: addresses(SENTINEL_PORT).describe(
      "Some of the sentinels that know the primary, instead of `url`.",
    ),
    masterName: name("a name such as mymaster").describe(
      "With `sentinels`: the name under which they monitor the primary.",
    ),
    cluster: addresses(REDIS_PORT).describe(
      "Some nodes of a Redis cluster, instead of `url`; the others are found through them.",
    ),
    username: name("a user name").describe("User name for the servers. null: the default user."),
    password: password().describe(
      "Password for the servers. Better in the environment: FAIRGATE_REDIS_PASSWORD.",
    ),
    passwordFile: setting(fileName(), null).describe("File that holds the password instead."),
    sentinelUsername: name("a user name").describe("User name for the sentinels. null: the default user."),
    sentinelPassword: password().describe(
      "Password for the sentinels, if they require one. Better in the environment: FAIRGATE_REDIS_SENTINEL_PASSWORD.",
    ),
    sentinelPasswordFile: setting(fileName(), null).describe(
      "File that holds the sentinels' password instead.",
    ),
    database: setting(count({ min: 0, max: DATABASE_MAX }), 0).describe(
      "Number of the database, unless `url` ends with one. A cluster has only 0.",
    ),
    tls: setting(tlsSchema, null).describe(
      "Use TLS with the servers and the sentinels. null: only if `url` begins with rediss://.",
    ),
    prefix: setting(
      readable(readPrefix, {
        kind: "text",
        max: PREFIX_CHARACTERS_MAX,
        shape: `1 to ${PREFIX_CHARACTERS_MAX} letters, digits, dots, colons, hyphens and underscores`,
      }),
      "fairgate",
    ).describe(
      "Prefix of all keys. Gateways with the same prefix share their rooms; separate installations on one Redis need different prefixes.",
    ),
    replicas: setting(count({ min: 0, max: REPLICAS_MAX }), 0).describe(
      "How many replicas must have stored an admission, or the end of a visit, before anyone is told of it, so that a failover does not take it back. 0: Fairgate does not wait for replicas.",
    ),
    timeout: setting(duration({ min: "50ms", max: "1m" }), "1500ms").describe(
      "How long a response from Redis may take. After that the line counts as unavailable, and `engineFailure` decides.",
    ),
  })
  .meta({ shape: "a mapping with url, with sentinels and masterName, or with cluster in it" });

/** As in the file, parsed. */
export type RedisInFile = z.output<typeof redisSchema>;

/** `redis://user:password@host:6379/0`, nothing else in it. */
export function readRedisUrl(written: string): Read<RedisUrl> {
  const trimmed = written.trim();
  const url = URL.parse(trimmed);
  if (url === null) return { wrong: "is not a URL" };
  if (url.protocol !== "redis:" && url.protocol !== "rediss:")
    return { wrong: "is not redis:// or rediss://" };
  if (url.search !== "" || url.hash !== "") return { wrong: "has a query or a fragment in it" };
  const address = readHostPort(url.host, REDIS_PORT);
  if ("wrong" in address) return { wrong: "names no host" };
  const username = decoded(url.username);
  const secret = decoded(url.password);
  if (username === null || secret === null)
    return { wrong: "has a user name or password with a % in it that is not written %25" };
  const database = /^\/?(\d{0,4})$/.exec(url.pathname)?.[1];
  if (database === undefined) return { wrong: "ends with something other than the number of a database" };
  return {
    value: {
      ...address.value,
      isTls: url.protocol === "rediss:",
      username: username || null,
      password: secret || null,
      database: database === "" ? null : Number(database),
    },
  };
}

/** Braces would decide which node of a cluster has a key, and a star in an access rule would match several keys. */
function readPrefix(written: string): Read<string> {
  return /^[A-Za-z0-9._:-]+$/.test(written)
    ? { value: written }
    : { wrong: written === "" ? "is empty" : "has a character in it that it cannot have" };
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
