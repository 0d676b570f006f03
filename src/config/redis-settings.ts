/**
 * Where Redis is, complete: what the engine connects with. Passwords come from the environment, from files of their own or
 * from the settings file, in that order. The whole address may come from the environment too, since it can contain a
 * password. No message contains one.
 */
import { CERTIFICATE, fileText, readPem } from "./check-files.ts";
import { formatHostPort, type HostPort } from "./kinds.ts";
import type { Finding, Path, SettingSources, Source } from "./problem.ts";
import { PASSWORD_CHARACTERS_MAX, type RedisInFile } from "./redis-schema.ts";
import { isRecord, type Known } from "./salvage.ts";
import {
  chooseSecret,
  NO_SECRET,
  type SecretAnswer,
  type SecretName,
  type SecretSources,
} from "./secrets.ts";

export const REDIS_URL_VARIABLE = "FAIRGATE_REDIS_URL";
const REDIS_PASSWORD_VARIABLE = "FAIRGATE_REDIS_PASSWORD";
const SENTINEL_PASSWORD_VARIABLE = "FAIRGATE_REDIS_SENTINEL_PASSWORD";
const FLAG = "--redis";
const URL_PATH: Path = ["redis", "url"];

/** Where Redis is, how to log in, and how the engine uses it. */
export interface RedisSettings {
  readonly mode: "standalone" | "sentinel" | "cluster";
  /** The server, some sentinels, or some nodes of the cluster, by `mode`. */
  readonly addresses: readonly HostPort[];
  /** With sentinels: the name under which they monitor the primary. */
  readonly masterName: string | null;
  readonly username: string | null;
  readonly password: string | null;
  readonly sentinelUsername: string | null;
  readonly sentinelPassword: string | null;
  readonly database: number;
  /** `ca` is PEM text. */
  readonly tls: { readonly ca: string | null; readonly servername: string | null } | null;
  /** Prefix of all keys. */
  readonly prefix: string;
  /** How many replicas must have stored an admission, or the end of a visit, before anyone is told of it. */
  readonly replicas: number;
  readonly timeoutMs: number;
}

/** The settings with the address from the environment in them. One on the command line takes precedence. */
export function withRedisVariable(
  input: unknown,
  sources: SettingSources,
  environment: SecretSources["environment"],
): { input: unknown; sources: SettingSources; cautions: readonly Finding[] } {
  const url = environment[REDIS_URL_VARIABLE]?.trim();
  const redis = isRecord(input) ? (input.redis ?? {}) : null;
  const written = sources.find(URL_PATH, "key");
  if (!url || !isRecord(input) || !isRecord(redis) || written.name === FLAG)
    return { input, sources, cautions: [] };
  const source: Source = { kind: "env", name: REDIS_URL_VARIABLE, spot: null };
  const isUrl = (path: Path) => path.length === 2 && path[0] === "redis" && path[1] === "url";
  return {
    input: { ...input, redis: { ...redis, url } },
    sources: { find: (path, at) => (isUrl(path) ? source : sources.find(path, at)) },
    cautions: redis.url == null ? [] : [notUsed("redis.url in the settings", REDIS_URL_VARIABLE, written)],
  };
}

function notUsed(what: string, variable: string, source?: Source): Finding {
  const message = `${variable} is set, so ${what} is not used`;
  const hint = "Keep one of them.";
  return { code: "caution", path: URL_PATH, at: "key", message, hint, ...(source && { source }) };
}

/** The passwords and certificates that the settings of Redis name, read. */
export interface RedisSecrets {
  readonly password: string | null;
  readonly sentinelPassword: string | null;
  readonly ca: string | null;
  readonly problems: readonly Finding[];
  readonly cautions: readonly Finding[];
}

/** Passwords and certificates, or what is wrong with them. */
export function readRedisSecrets(redis: Known<RedisInFile> | null, sources: SecretSources): RedisSecrets {
  if (redis === null) return { password: null, sentinelPassword: null, ca: null, problems: [], cautions: [] };
  const choose = (variable: string, key: "password" | "sentinelPassword"): SecretAnswer =>
    chooseSecret(
      {
        what: "password",
        variable,
        path: ["redis", key],
        value: redis[key],
        fileName: redis[`${key}File`],
        check: checkPassword,
      },
      sources,
    );
  const own = choose(REDIS_PASSWORD_VARIABLE, "password");
  // The variable may be set from an earlier use.
  const ofSentinels = redis.sentinels?.length
    ? choose(SENTINEL_PASSWORD_VARIABLE, "sentinelPassword")
    : NO_SECRET;
  const caFile = redis.tls?.ca;
  const ca = readPem(["redis", "tls", "ca"], caFile, sources.read, CERTIFICATE);
  const isUnused = redis.url?.password != null && own.secrets.length > 0;
  return {
    password: own.secrets[0] ?? redis.url?.password ?? null,
    sentinelPassword: ofSentinels.secrets[0] ?? null,
    ca: ca.value && caFile ? fileText(caFile, sources.read) : null,
    problems: [...own.problems, ...ofSentinels.problems, ...checkUser(redis, own), ...ca.findings],
    cautions: [
      ...own.cautions,
      ...ofSentinels.cautions,
      ...(isUnused ? [notUsed("the password in redis.url", REDIS_PASSWORD_VARIABLE)] : []),
    ],
  };
}

/** A user name without a password lets nobody in. */
function checkUser(
  { username, url, password, passwordFile }: Known<RedisInFile>,
  own: SecretAnswer,
): Finding[] {
  const isUser = username != null || url?.username != null;
  const isAnywhere = own.secrets.length > 0 || own.problems.length > 0 || url?.password != null;
  if (!isUser || isAnywhere || password !== null || passwordFile !== null) return [];
  const path = ["redis", username != null ? "username" : "url"];
  const message = `${path.join(".")} names a user, and there is no password`;
  const hint = `\`export ${REDIS_PASSWORD_VARIABLE}=…\` before starting, or take the user name out.`;
  return [{ code: "missing", path, at: "key", message, hint }];
}

/** The operator of Redis chose it, so any length will do. */
function checkPassword(password: string, { name, path, source }: SecretName): Finding[] {
  const wrong = wrongWithPassword(password);
  if (wrong === null) return [];
  const hint = `A password is 1 to ${PASSWORD_CHARACTERS_MAX} characters on one line.`;
  const message = `${name} ${wrong}`;
  return [{ code: "invalid", path, at: "value", message, hint, ...(source && { source }) }];
}

function wrongWithPassword(password: string): string | null {
  if (password === "") return "is empty";
  if (password.length > PASSWORD_CHARACTERS_MAX) return `has ${password.length} characters`;
  return /[\x00-\x1f\x7f]/.test(password) ? "has a control character in it" : null;
}

/** What the engine connects with, from settings that passed every check. */
export function toRedisSettings(redis: RedisInFile, secrets: RedisSecrets): RedisSettings {
  const { url, sentinels, cluster, tls } = redis;
  const isTls = tls !== null || url?.isTls === true;
  return {
    mode: url ? "standalone" : sentinels.length > 0 ? "sentinel" : "cluster",
    addresses: url ? [{ host: url.host, port: url.port }] : sentinels.length > 0 ? sentinels : cluster,
    masterName: redis.masterName,
    username: redis.username ?? url?.username ?? null,
    password: secrets.password,
    sentinelUsername: redis.sentinelUsername,
    sentinelPassword: secrets.sentinelPassword,
    database: url?.database ?? redis.database,
    tls: isTls ? { ca: secrets.ca, servername: tls?.serverName ?? null } : null,
    prefix: redis.prefix,
    replicas: redis.replicas,
    timeoutMs: redis.timeout,
  };
}

/** Where Redis is, in words without passwords. */
export function describeRedis({ mode, addresses, masterName, database, tls }: RedisSettings): string {
  const list = addresses.map(formatHostPort).join(", ");
  const end = database > 0 ? `, database ${database}` : "";
  if (mode === "cluster") return `the cluster at ${list}${tls ? ", with TLS" : ""}`;
  if (mode === "sentinel") return `${masterName} by the sentinels at ${list}${end}${tls ? ", with TLS" : ""}`;
  return `${tls ? "rediss" : "redis"}://${list}/${database}`;
}
