/**
 * Every problem with Redis, as one sentence for the operator: what is wrong, and what to do.
 *
 * All errors of the client pass through `problemOf`. There are three kinds: an error answer of Redis (`READONLY …`), a failed
 * connection (`ECONNREFUSED`), and a missing answer. Quotes of a command in the error are cut off, since they may contain a
 * password, and the thrown error is not kept as a cause.
 */
import { ErrorReply } from "@redis/client";
import type { REDIS_PROBLEMS } from "../../../core/errors.ts";
import type { RedisServers } from "./servers.ts";

export type RedisProblemKind = keyof typeof REDIS_PROBLEMS;

/** Redis cannot do what was asked. */
export class RedisProblem extends Error {
  override readonly name = "RedisProblem";
  readonly kind: RedisProblemKind;
  /** True when it is certain that nothing was done; otherwise that is unknown. */
  readonly wasRefused: boolean;

  constructor(kind: RedisProblemKind, message: string, wasRefused: boolean) {
    super(message);
    // The stack says nothing about what is wrong with Redis.
    this.stack = `${this.name}: ${message}`;
    this.kind = kind;
    this.wasRefused = wasRefused;
  }
}

/** Who was asked. `where` is `host:port`. */
export interface AskedServer {
  readonly where: string;
  readonly mode: RedisServers["mode"];
  readonly isSentinel?: boolean;
}

/** Thrown by our own sweep when an answer does not come. */
export class NoAnswerError extends Error {
  readonly waitedMs: number;

  constructor(waitedMs: number) {
    super(`no answer for ${waitedMs} ms`);
    this.waitedMs = waitedMs;
  }
}

type Sentence = (asked: AskedServer, text: string) => string;
type Case = readonly [pattern: RegExp, kind: RedisProblemKind, sentence: Sentence];

export const OLDEST_VERSION = "7.0";
/** How much of an unknown answer is quoted. */
const QUOTED_MAX = 200;

const at = (asked: AskedServer) => `${asked.isSentinel ? "The sentinel" : "Redis"} at ${asked.where}`;

const RIGHTS =
  "the user needs +@scripting, +@write, +@read, +@pubsub, +wait, +time, +info and +ping on our keys (in a cluster also +cluster|slots)";

/** Answers after which nothing was done. The first matching pattern counts. */
const REFUSALS: readonly Case[] = [
  [/^NOAUTH/, "password", (asked) => `${at(asked)} wants a password and none is set: set one.`],
  [
    /^(WRONGPASS|ERR invalid password)/,
    "password",
    (asked) => `${at(asked)} does not accept the user name and password: correct them here or there.`,
  ],
  [
    /^(NOPERM|ERR) .*no permissions to run the '(function|fcall)/i,
    "noFunctions",
    (asked) => `${at(asked)} does not let this user load and call functions: ${RIGHTS}.`,
  ],
  [
    /^(NOPERM|ERR .*no permissions)/i,
    "password",
    (asked, text) => `${at(asked)} does not let this user do what is needed (${text}): ${RIGHTS}.`,
  ],
  [
    /^DENIED/,
    "password",
    (asked) => `${at(asked)} is in protected mode, which lets nobody in from outside: give it a password.`,
  ],
  [/^READONLY/, "readOnly", readOnlySentence],
  [
    /^NOREPLICAS/,
    "readOnly",
    (asked) =>
      `${at(asked)} takes no writes since too few replicas follow it (min-replicas-to-write): bring them back.`,
  ],
  [
    /^MISCONF/,
    "readOnly",
    (asked) => `${at(asked)} takes no writes since it cannot write to its disk: look after the disk there.`,
  ],
  [
    /^OOM/,
    "outOfMemory",
    (asked) => `${at(asked)} is out of memory: raise its maxmemory, or take out what else it keeps.`,
  ],
  [/^LOADING/, "loading", (asked) => `${at(asked)} is still reading its data from the disk: wait.`],
  [
    /^MASTERDOWN/,
    "failover",
    (asked) =>
      `${at(asked)} is a replica that has lost its primary: bring the primary back, or let it fail over.`,
  ],
  [
    /^CLUSTERDOWN/,
    "failover",
    (asked, text) =>
      `The cluster of ${asked.where} does not serve all hash slots (${text}): bring its nodes back.`,
  ],
  [
    /^(TRYAGAIN|ASK )/,
    "failover",
    (asked) =>
      `The cluster of ${asked.where} is moving the hash slot to another node: wait until it has moved.`,
  ],
  [
    /^MOVED/,
    "other",
    (asked) =>
      asked.mode === "cluster"
        ? `The nodes of the cluster of ${asked.where} do not agree on which of them has the hash slot: look at CLUSTER NODES.`
        : `${at(asked)} is a node of a cluster: give the addresses of its nodes as a cluster's.`,
  ],
  [
    /^BUSY /,
    "slow",
    (asked) => `${at(asked)} is busy with a script that takes too long: wait, or end it with FUNCTION KILL.`,
  ],
  [
    /^ERR Function not found/i,
    "noFunctions",
    (asked) =>
      `${at(asked)} loses our functions as soon as they are loaded: look who runs FUNCTION FLUSH there.`,
  ],
  [
    /^ERR unknown command .?(function|fcall)/i,
    "noFunctions",
    (asked) => `${at(asked)} knows no functions: use Redis ${OLDEST_VERSION} or later, or Valkey.`,
  ],
  [
    /^ERR wrong number of arguments for .?auth/i,
    "tooOld",
    (asked) =>
      `${at(asked)} is too old for users with passwords: use Redis ${OLDEST_VERSION} or later, or Valkey.`,
  ],
  [
    /^ERR max number of clients/,
    "away",
    (asked) => `${at(asked)} has as many connections as it allows: raise its maxclients.`,
  ],
  [
    /^ERR DB index is out of range/,
    "other",
    (asked) => `${at(asked)} does not have the database that is set: choose another, or raise its databases.`,
  ],
  [
    /^ERR SELECT is not allowed in cluster mode/,
    "other",
    (asked) =>
      `${at(asked)} is a node of a cluster: give the addresses of its nodes as a cluster's, and database 0.`,
  ],
  [
    /^ERR This instance has cluster support disabled/,
    "other",
    (asked) => `${at(asked)} is not a node of a cluster: give its address alone, or those of its sentinels.`,
  ],
  [
    /^ERR No such master/,
    "other",
    (asked) => `${at(asked)} knows no primary by the name that is set: correct masterName, or the address.`,
  ],
  [
    /^ERR AUTH <password> called without any password/,
    "password",
    (asked) => `${at(asked)} wants no password and one is set: take it out here, or set one there.`,
  ],
  [
    /^ERR unknown command .?sentinel/i,
    "other",
    (asked) => `${at(asked)} is not a sentinel: give the addresses of the sentinels, usually at port 26379.`,
  ],
];

/** Answers after which something may have been done. */
const HALFWAY: readonly Case[] = [
  [
    /access a non local key/i,
    "failover",
    (asked) =>
      `The cluster of ${asked.where} is moving the hash slot to another node: wait until it has moved.`,
  ],
  [/^UNBLOCKED/, "failover", (asked) => `${at(asked)} was made a replica while we waited for its replicas.`],
  [
    /^UNKILLABLE/,
    "slow",
    (asked) => `${at(asked)} is busy with a script that cannot be ended: wait, or restart it.`,
  ],
];

/** Failed connections, by their code or text. */
const FAILURES: readonly Case[] = [
  [
    /ECONNREFUSED/,
    "away",
    (asked) => `${at(asked)} refuses connections: start it there, or correct the address.`,
  ],
  [
    /ENOTFOUND|EAI_AGAIN/,
    "away",
    (asked) => `The name in ${asked.where} is not known: correct it, or look after the name server.`,
  ],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|Connection timeout/,
    "away",
    (asked) => `${at(asked)} cannot be reached: look after the machine, the network and its firewalls.`,
  ],
  [
    /CERT|UNABLE_TO_(GET|VERIFY)|SELF_SIGNED|ERR_TLS|ERR_SSL|EPROTO|secure TLS/i,
    "away",
    (asked, text) =>
      `${at(asked)} and we do not agree on TLS (${text}): look at the certificate, ca and servername.`,
  ],
  [
    /ECONNRESET|EPIPE|Socket closed|client is (closed|offline)|Disconnects client/i,
    "away",
    (asked) => `${at(asked)} has closed the connection: look whether it runs, and whether it wants TLS.`,
  ],
];

/** The problem that a thrown error means. Pure: the same error gives the same problem. */
export function redisProblemOf(thrown: unknown, asked: AskedServer): RedisProblem {
  if (thrown instanceof RedisProblem) return thrown;
  if (thrown instanceof NoAnswerError)
    return new RedisProblem("slow", `${at(asked)} did not answer within ${thrown.waitedMs} ms.`, false);
  const text = textOf(thrown);
  if (thrown instanceof ErrorReply) return answerProblem(text, asked);
  const [, kind, sentence] = FAILURES.find(([pattern]) => pattern.test(text)) ?? [];
  if (kind)
    return new RedisProblem(kind, sentence!(asked, text), /ECONNREFUSED|ENOTFOUND|EAI_AGAIN/.test(text));
  return new RedisProblem("other", `${at(asked)} cannot be used: ${text}.`, false);
}

function answerProblem(text: string, asked: AskedServer): RedisProblem {
  // From a command inside a function, the same words come after earlier commands were carried out.
  const isInside = / script: \S+, on @user_(function|script)/.test(text);
  const refusal = REFUSALS.find(([pattern]) => pattern.test(text));
  const [, kind, sentence] = refusal ?? HALFWAY.find(([pattern]) => pattern.test(text)) ?? [];
  if (kind === "readOnly" && asked.mode !== "standalone" && /^READONLY/.test(text))
    return new RedisProblem("failover", sentence!(asked, text), !isInside);
  if (kind) return new RedisProblem(kind, sentence!(asked, text), refusal !== undefined && !isInside);
  return new RedisProblem("other", `${at(asked)} answered with an error: ${text}`, false);
}

function readOnlySentence(asked: AskedServer): string {
  return asked.mode === "standalone"
    ? `${at(asked)} is a replica and takes no writes: give the address of its primary, or use sentinels.`
    : `${at(asked)} is no longer the primary: wait until the others have agreed on a new one.`;
}

/** This Redis is older than required. */
export function tooOld(version: string, asked: AskedServer): RedisProblem {
  return new RedisProblem(
    "tooOld",
    `${at(asked)} is version ${version.slice(0, QUOTED_MAX)}: use Redis ${OLDEST_VERSION} or later, or Valkey.`,
    true,
  );
}

/** There is a replica where the primary should be. */
export function notPrimary(asked: AskedServer): RedisProblem {
  return new RedisProblem(
    asked.mode === "standalone" ? "readOnly" : "failover",
    readOnlySentence(asked),
    true,
  );
}

/** The same problem, for a caller whose call was not sent because of it. */
export function refusalFor(problem: RedisProblem): RedisProblem {
  return problem.wasRefused ? problem : new RedisProblem(problem.kind, problem.message, true);
}

/** The same problem, for a caller whose call may have been carried out. */
export function doubtFor(problem: RedisProblem): RedisProblem {
  return problem.wasRefused ? new RedisProblem(problem.kind, problem.message, false) : problem;
}

/** True when Redis does not have the function that was called. */
export function isFunctionMissing(thrown: unknown): boolean {
  return thrown instanceof ErrorReply && /^ERR Function not found/i.test(thrown.message);
}

/** True when the server is not, or no longer, the primary. */
export function isDemoted(thrown: unknown): boolean {
  return thrown instanceof ErrorReply && /^(READONLY|MASTERDOWN|UNBLOCKED)/.test(thrown.message);
}

/** True when the library to be loaded exists already. */
export function isLibraryThere(thrown: unknown): boolean {
  return thrown instanceof ErrorReply && /^ERR Library \S+ already exists/i.test(thrown.message);
}

/** The node that has a key, from an answer such as `MOVED 3999 127.0.0.1:6381`; or null. */
export function movedTo(thrown: unknown): { readonly slot: number; readonly to: string } | null {
  if (!(thrown instanceof ErrorReply)) return null;
  const [, slot, to] = /^MOVED (\d+) (\S+)/.exec(thrown.message) ?? [];
  return slot === undefined || to === undefined ? null : { slot: Number(slot), to };
}

/** The error's code and words in one line, without what Redis quotes of the command, and not too long. */
function textOf(thrown: unknown): string {
  const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown };
  const words = typeof message === "string" && message !== "" ? message : String(code ?? "no reason given");
  const text = typeof code === "string" && !words.includes(code) ? `${code}: ${words}` : words;
  return text
    .replace(/,? with args beginning with.*/s, "")
    .replace(/\s+/g, " ")
    .slice(0, QUOTED_MAX);
}
