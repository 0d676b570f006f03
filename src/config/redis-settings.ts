/**
 * Where Redis is, complete: what the engine connects with. Passwords come from the environment, from files of their
 * own or from the settings file, in that order, as every secret does; so may the whole address, since it can have a
 * password in it. No words about any of this hold a password.
 */
import { X509Certificate } from "node:crypto";
import type { FileAnswer } from "./check-files.ts";
import type { Finding, Path, SettingPlaces, Source } from "./problem.ts";
import { PASSWORD_CHARACTERS_MAX, type RedisAddress, type RedisInFile } from "./redis-schema.ts";
import { isRecord, type Known } from "./salvage.ts";
import { chooseSecret, type SecretAnswer, type SecretName } from "./secrets.ts";

export const REDIS_URL_VARIABLE = "FAIRGATE_REDIS_URL";
export const REDIS_PASSWORD_VARIABLE = "FAIRGATE_REDIS_PASSWORD";
export const SENTINEL_PASSWORD_VARIABLE = "FAIRGATE_REDIS_SENTINEL_PASSWORD";
const FLAG = "--redis";
const URL_PATH: Path = ["redis", "url"];

type Environment = Readonly<Record<string, string | undefined>>;

/** Where Redis is and how to be let in, and what the engine does there. */
export interface RedisSettings {
  readonly mode: "standalone" | "sentinel" | "cluster";
  /** The server; or some sentinels; or some nodes of the cluster. */
  readonly addresses: readonly RedisAddress[];
  /** With sentinels: the name they watch the primary under. */
  readonly masterName: string | null;
  readonly username: string | null;
  readonly password: string | null;
  readonly sentinelUsername: string | null;
  readonly sentinelPassword: string | null;
  readonly database: number;
  /** `ca` is PEM text. */
  readonly tls: { readonly ca: string | null; readonly servername: string | null } | null;
  /** What all keys begin with. */
  readonly prefix: string;
  /** So many replicas must have an admission, or the end of a visit, before anyone is told of it. */
  readonly replicas: number;
  readonly timeoutMs: number;
}

export interface WithVariable {
  readonly input: unknown;
  readonly places: SettingPlaces;
  readonly cautions: readonly Finding[];
}

/** The settings with the address from the environment in them. One on the command line is nearer, and stays. */
export function withRedisVariable(
  input: unknown,
  places: SettingPlaces,
  environment: Environment,
): WithVariable {
  const url = environment[REDIS_URL_VARIABLE]?.trim();
  const redis = isRecord(input) ? (input.redis ?? {}) : null;
  const written = places.find(URL_PATH, "key");
  if (!url || !isRecord(input) || !isRecord(redis) || written.name === FLAG)
    return { input, places, cautions: [] };
  const source: Source = { kind: "env", name: REDIS_URL_VARIABLE, spot: null };
  const isUrl = (path: Path) => path.length === 2 && path[0] === "redis" && path[1] === "url";
  return {
    input: { ...input, redis: { ...redis, url } },
    places: { find: (path, at) => (isUrl(path) ? source : places.find(path, at)) },
    cautions: redis.url == null ? [] : [notUsed(written)],
  };
}

function notUsed(source: Source): Finding {
  const message = `${REDIS_URL_VARIABLE} is set, so redis.url in the settings is not used`;
  return { code: "caution", path: URL_PATH, at: "key", message, hint: "Keep one of them.", source };
}

/** What the settings of Redis point to, read. */
export interface RedisSecrets {
  readonly password: string | null;
  readonly sentinelPassword: string | null;
  readonly ca: string | null;
  readonly problems: readonly Finding[];
  readonly cautions: readonly Finding[];
}

const NO_SECRETS: RedisSecrets = {
  password: null,
  sentinelPassword: null,
  ca: null,
  problems: [],
  cautions: [],
};

interface SecretSources {
  readonly environment: Environment;
  /** Reads a file that the settings name. */
  readonly read: (fileName: string) => FileAnswer;
}

/** Passwords and certificates from wherever they are, or what is wrong with them. */
export function readRedisSecrets(redis: Known<RedisInFile> | null, sources: SecretSources): RedisSecrets {
  if (redis === null) return NO_SECRETS;
  const choose = (variable: string, key: "password" | "sentinelPassword"): SecretAnswer =>
    chooseSecret({
      ...sources,
      what: "password",
      variable,
      path: ["redis", key],
      value: redis[key],
      filePath: ["redis", `${key}File`],
      fileName: redis[`${key}File`],
      linesMax: 1,
      check: checkPassword,
    });
  const own = choose(REDIS_PASSWORD_VARIABLE, "password");
  // In the environment it may be left over from another day.
  const ofSentinels = redis.sentinels?.length
    ? choose(SENTINEL_PASSWORD_VARIABLE, "sentinelPassword")
    : { secrets: [], problems: [], cautions: [] };
  const ca = redis.tls?.ca ? readCa(redis.tls.ca, sources.read) : { text: null, problems: [] };
  return {
    password: own.secrets[0] ?? redis.url?.password ?? null,
    sentinelPassword: ofSentinels.secrets[0] ?? null,
    ca: ca.text,
    problems: [...own.problems, ...ofSentinels.problems, ...checkUser(redis, own), ...ca.problems],
    cautions: [...own.cautions, ...ofSentinels.cautions, ...notUsedInUrl(redis, own)],
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

function notUsedInUrl({ url }: Known<RedisInFile>, own: SecretAnswer): Finding[] {
  if (url?.password == null || own.secrets.length === 0) return [];
  const message = `${REDIS_PASSWORD_VARIABLE} is set, so the password in redis.url is not used`;
  return [{ code: "caution", path: URL_PATH, at: "key", message, hint: "Keep one of them." }];
}

/** Whoever runs the Redis chose it, so it may be short; it only has to be one. */
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

function readCa(
  fileName: string,
  read: (fileName: string) => FileAnswer,
): { text: string | null; problems: Finding[] } {
  const path = ["redis", "tls", "ca"];
  const answer = read(fileName);
  if ("wrong" in answer) {
    const message = `redis.tls.ca: ${fileName} cannot be read: ${answer.wrong}`;
    const hint = "Names start from the settings file's folder.";
    return { text: null, problems: [{ code: "unreadable", path, at: "value", message, hint }] };
  }
  try {
    new X509Certificate(answer.text);
    return { text: answer.text, problems: [] };
  } catch {
    const message = `redis.tls.ca: ${fileName} does not hold a certificate in PEM form`;
    const hint = "It should be the certificates, in PEM form, that the servers' are signed by.";
    return { text: null, problems: [{ code: "invalid", path, at: "value", message, hint }] };
  }
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

/** Where it is, in words that may be shown to anyone. */
export function describeRedis({ mode, addresses, masterName, database, tls }: RedisSettings): string {
  const list = addresses.map(formatAddress).join(", ");
  const end = database > 0 ? `, database ${database}` : "";
  if (mode === "cluster") return `the cluster at ${list}${tls ? ", with TLS" : ""}`;
  if (mode === "sentinel") return `${masterName} by the sentinels at ${list}${end}${tls ? ", with TLS" : ""}`;
  return `${tls ? "rediss" : "redis"}://${list}/${database}`;
}

/** The way people write an address. */
export function formatAddress({ host, port }: RedisAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
