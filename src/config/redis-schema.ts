/**
 * Where Redis is, as it is written in the settings: one server by its address, or some of the sentinels that watch
 * it, or some nodes of a cluster. What these settings mean for each other is checked in `redis-check.ts`; what they
 * become, passwords read in, is in `redis-settings.ts`.
 */
import { isIPv6 } from "node:net";
import { z } from "zod";
import { count, duration, readable, text } from "./kinds.ts";
import type { Read } from "./route.ts";

export const PASSWORD_CHARACTERS_MAX = 1_024;
const ADDRESSES_MAX = 64;
const ADDRESS_CHARACTERS_MAX = 300;
const URL_CHARACTERS_MAX = 4_096;
const NAME_CHARACTERS_MAX = 200;
const FILE_NAME_CHARACTERS_MAX = 4_096;
const PREFIX_CHARACTERS_MAX = 64;
const PORT_MAX = 65_535;
/** Redis numbers its databases from 0 to 15 unless it is told otherwise; nobody is known to have this many. */
const DATABASE_MAX = 9_999;
const REPLICAS_MAX = 10;
const REDIS_PORT = 6_379;
const SENTINEL_PORT = 26_379;

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** What the address of one server says. */
export interface RedisUrl extends RedisAddress {
  readonly isTls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  /** Null: it names none. */
  readonly database: number | null;
}

const fileName = () => text({ max: FILE_NAME_CHARACTERS_MAX, shape: "a file name" }).min(1);
const userName = () => text({ max: NAME_CHARACTERS_MAX, shape: "a user name" }).min(1);
const password = () =>
  z
    .string()
    .max(PASSWORD_CHARACTERS_MAX)
    .meta({
      kind: "secret",
      isSecret: true,
      shape: `a password of 1 to ${PASSWORD_CHARACTERS_MAX} characters`,
    });
const addresses = (port: number) =>
  z
    .array(
      readable((written) => readRedisAddress(written, port), {
        kind: "address",
        max: ADDRESS_CHARACTERS_MAX,
        shape: `a host and a port such as 10.0.0.1:${port}`,
      }),
    )
    .max(ADDRESSES_MAX)
    .prefault([])
    .meta({ shape: `a list of at most ${ADDRESSES_MAX} hosts and ports such as 10.0.0.1:${port}` });

const tlsSchema = z.strictObject({
  ca: fileName()
    .nullable()
    .prefault(null)
    .describe(
      "PEM file with the certificates that the servers' are signed by. null: those that Node trusts.",
    ),
  serverName: text({ max: NAME_CHARACTERS_MAX, shape: "a host name" })
    .min(1)
    .nullable()
    .prefault(null)
    .describe("The name that the servers' certificates are for. null: the host that is connected to."),
});

export const redisSchema = z
  .strictObject({
    url: readable(readRedisUrl, {
      kind: "url",
      max: URL_CHARACTERS_MAX,
      shape: "an address such as redis://10.0.0.1:6379/0, or rediss:// for TLS",
    })
      // It may have a password in it.
      .meta({ isSecret: true })
      .nullable()
      .prefault(null)
      .describe(
        "Address of one server, with user name and password in it if need be. Better in the environment then: FAIRGATE_REDIS_URL.",
      ),
    sentinels: addresses(SENTINEL_PORT).describe(
      "Some of the sentinels that know which server is the primary, instead of `url`.",
    ),
    masterName: text({ max: NAME_CHARACTERS_MAX, shape: "a name such as mymaster" })
      .min(1)
      .nullable()
      .prefault(null)
      .describe("With `sentinels`: the name under which they watch the primary."),
    cluster: addresses(REDIS_PORT).describe(
      "Some nodes of a cluster, which know all the others, instead of `url`.",
    ),
    username: userName()
      .nullable()
      .prefault(null)
      .describe("User name for the servers. null: the default user."),
    password: password()
      .nullable()
      .prefault(null)
      .describe("Password for the servers. Better in the environment: FAIRGATE_REDIS_PASSWORD."),
    passwordFile: fileName().nullable().prefault(null).describe("File that holds the password instead."),
    sentinelUsername: userName()
      .nullable()
      .prefault(null)
      .describe("User name for the sentinels. null: the default user."),
    sentinelPassword: password()
      .nullable()
      .prefault(null)
      .describe(
        "Password for the sentinels, if they ask for one. Better in the environment: FAIRGATE_REDIS_SENTINEL_PASSWORD.",
      ),
    sentinelPasswordFile: fileName()
      .nullable()
      .prefault(null)
      .describe("File that holds the sentinels' password instead."),
    database: count({ min: 0, max: DATABASE_MAX })
      .prefault(0)
      .describe("Number of the database, unless `url` ends with one. A cluster has only 0."),
    tls: tlsSchema
      .nullable()
      .prefault(null)
      .describe("Speak TLS with the servers and the sentinels. null: only if `url` begins with rediss://."),
    prefix: readable(readPrefix, {
      kind: "text",
      max: PREFIX_CHARACTERS_MAX,
      shape: `1 to ${PREFIX_CHARACTERS_MAX} letters, digits, dots, colons, hyphens and underscores`,
    })
      .prefault("fairgate")
      .describe(
        "What the names of all keys begin with. Gateways with the same prefix have the same rooms; give others another.",
      ),
    replicas: count({ min: 0, max: REPLICAS_MAX })
      .prefault(0)
      .describe(
        "So many replicas must have an admission, or the end of a visit, before anyone is told of it, so that a failover takes none back. 0: nobody waits for them.",
      ),
    timeout: duration({ min: "50ms", max: "1m" })
      .prefault("1500ms")
      .describe(
        "How long an answer may take. After that the line counts as away, and `engineFailure` decides.",
      ),
  })
  .meta({ shape: "a mapping with url, with sentinels and masterName, or with cluster in it" });

/** As the file has it, parsed. */
export type RedisInFile = z.output<typeof redisSchema>;

/** `redis://user:password@host:6379/0`, nothing else in it. */
export function readRedisUrl(written: string): Read<RedisUrl> {
  const trimmed = written.trim();
  const url = URL.parse(trimmed);
  if (url === null) return { wrong: "is not a URL" };
  if (url.protocol !== "redis:" && url.protocol !== "rediss:")
    return { wrong: "is not redis:// or rediss://" };
  if (url.search !== "" || url.hash !== "") return { wrong: "has a query or a fragment in it" };
  const address = readRedisAddress(url.host, REDIS_PORT);
  if ("wrong" in address) return { wrong: "names no host" };
  const username = decoded(url.username);
  const secret = decoded(url.password);
  if (username === null || secret === null)
    return { wrong: "has a user name or password with a % in it that is not written %25" };
  const database = /^\/?(\d{0,4})$/.exec(url.pathname)?.[1];
  if (database === undefined) return { wrong: "ends with something else than the number of a database" };
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

/** A host with or without a port; `port` when there is none. */
export function readRedisAddress(written: string, port: number): Read<RedisAddress> {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(written.trim());
  const host = (match?.[1] ?? "").replace(/^\[|\]$/g, "").toLowerCase();
  if (host === "" || /^\d+$/.test(host)) return { wrong: "is not a host with a port" };
  if (match![1]!.startsWith("[") && !isIPv6(host)) return { wrong: "is not an IPv6 address" };
  const number = Number(match![2] ?? port);
  if (number < 1 || number > PORT_MAX) return { wrong: "has a port that is out of range" };
  return { value: { host, port: number } };
}

/** Braces would decide which node of a cluster a key is on, and a star would be more than one key in an access rule. */
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
