import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ErrorReply } from "@redis/client";
import {
  type AskedServer,
  doubtFor,
  isDemoted,
  isFunctionMissing,
  isLibraryThere,
  movedTo,
  NoAnswerError,
  notPrimary,
  RedisProblem,
  type RedisProblemKind,
  redisProblemOf,
  refusalFor,
  tooOld,
} from "./problem.ts";

const WHERE = "10.0.0.7:6379";
const alone: AskedServer = { where: WHERE, mode: "standalone" };
const sentinel: AskedServer = { where: WHERE, mode: "sentinel" };
const cluster: AskedServer = { where: WHERE, mode: "cluster" };
const SECRET = "hunter2-hunter2";

const failure = (code: string, message = `${code} at some place`) =>
  Object.assign(new Error(message), { code });

/** What Redis 7 says, what kind that is, whether nothing was done, and what the operator should read. */
const ANSWERS: readonly [string, RedisProblemKind, boolean, RegExp, AskedServer?][] = [
  ["NOAUTH Authentication required.", "password", true, /wants a password/],
  ["WRONGPASS invalid username-password pair or user is disabled.", "password", true, /does not accept/],
  ["ERR AUTH <password> called without any password configured", "password", true, /wants no password/],
  [
    "NOPERM this user has no permissions to run the 'fcall' command",
    "noFunctions",
    true,
    /functions.*\+@scripting/,
  ],
  [
    "NOPERM this user has no permissions to run the 'function|load' command",
    "noFunctions",
    true,
    /functions/,
  ],
  [
    "NOPERM this user has no permissions to access one of the keys",
    "password",
    true,
    /access one of the keys/,
  ],
  ["DENIED Redis is running in protected mode", "password", true, /protected mode/],
  ["READONLY You can't write against a read only replica.", "readOnly", true, /is a replica.*use sentinels/],
  [
    "READONLY You can't write against a read only replica.",
    "failover",
    true,
    /no longer the primary/,
    sentinel,
  ],
  [
    "READONLY You can't write against a read only replica.",
    "failover",
    true,
    /no longer the primary/,
    cluster,
  ],
  ["NOREPLICAS Not enough good replicas to write.", "readOnly", true, /min-replicas-to-write/],
  ["NOREPLICAS Not enough good replicas to write.", "readOnly", true, /min-replicas-to-write/, sentinel],
  ["MISCONF Redis is configured to save RDB snapshots", "readOnly", true, /disk/],
  ["OOM command not allowed when used memory > 'maxmemory'.", "outOfMemory", true, /raise its maxmemory/],
  ["LOADING Redis is loading the dataset in memory", "loading", true, /still reading/],
  ["MASTERDOWN Link with MASTER is down", "failover", true, /lost its primary/],
  ["CLUSTERDOWN The cluster is down", "failover", true, /does not serve all hash slots/, cluster],
  [
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "failover",
    true,
    /moving the hash slot/,
    cluster,
  ],
  ["ASK 3999 127.0.0.1:6381", "failover", true, /moving the hash slot/, cluster],
  ["MOVED 3999 127.0.0.1:6381", "other", true, /as a cluster's/],
  ["MOVED 3999 127.0.0.1:6381", "other", true, /do not agree/, cluster],
  ["BUSY Redis is busy running a script.", "slow", true, /FUNCTION KILL/],
  ["ERR Function not found", "noFunctions", true, /FUNCTION FLUSH/],
  ["ERR unknown command 'FCALL', with args beginning with: ", "noFunctions", true, /knows no functions/],
  [
    "ERR unknown command `FUNCTION`, with args beginning with: `LIST`",
    "noFunctions",
    true,
    /Redis 7\.0 or later/,
  ],
  ["ERR wrong number of arguments for 'auth' command", "tooOld", true, /too old/],
  ["ERR max number of clients reached", "away", true, /maxclients/],
  ["ERR DB index is out of range", "other", true, /database/],
  ["ERR SELECT is not allowed in cluster mode", "other", true, /as a cluster's/],
  ["ERR This instance has cluster support disabled", "other", true, /not a node of a cluster/, cluster],
  ["ERR No such master with that name", "other", true, /no primary by the name/, sentinel],
  [
    "ERR unknown command 'SENTINEL', with args beginning with: 'MASTER'",
    "other",
    true,
    /not a sentinel/,
    sentinel,
  ],
  [
    "ERR Script attempted to access a non local key in a cluster node",
    "failover",
    false,
    /moving the hash slot/,
    cluster,
  ],
  ["UNBLOCKED force unblock from blocking operation", "failover", false, /was made a replica/, sentinel],
  ["UNKILLABLE Sorry the script already executed write commands", "slow", false, /cannot be ended/],
  ["ERR something nobody foresaw", "other", false, /something nobody foresaw/],
];

describe("answers of Redis", () => {
  for (const [text, kind, wasRefused, sentence, asked = alone] of ANSWERS)
    test(`${text.slice(0, 50)} (${asked.mode}) is ${kind}`, () => {
      const problem = redisProblemOf(new ErrorReply(text), asked);
      assert.deepEqual([problem.kind, problem.wasRefused], [kind, wasRefused]);
      assert.match(problem.message, sentence);
      assert.match(problem.message, /10\.0\.0\.7:6379/);
      assert.doesNotMatch(problem.message, /\n/);
    });

  test("the same words from inside a function do not say that nothing was done", () => {
    for (const text of ["OOM command not allowed", "READONLY You can't write"]) {
      const inside = `${text} script: fairgate_join, on @user_function:12.`;
      assert.equal(redisProblemOf(new ErrorReply(inside), alone).wasRefused, false);
      assert.equal(redisProblemOf(new ErrorReply(inside), cluster).wasRefused, false);
    }
  });
});

/** Errors of the connection. */
const FAILURES: readonly [Error, RedisProblemKind, boolean, RegExp][] = [
  [failure("ECONNREFUSED", "connect ECONNREFUSED 10.0.0.7:6379"), "away", true, /refuses connections/],
  [failure("ENOTFOUND", "getaddrinfo ENOTFOUND redis"), "away", true, /name .* is not known/],
  [failure("EAI_AGAIN"), "away", true, /is not known/],
  [failure("ETIMEDOUT"), "away", false, /cannot be reached/],
  [failure("EHOSTUNREACH"), "away", false, /cannot be reached/],
  [new Error("Connection timeout"), "away", false, /cannot be reached/],
  [
    failure("SELF_SIGNED_CERT_IN_CHAIN", "self-signed certificate"),
    "away",
    false,
    /agree on TLS.*self-signed/,
  ],
  [failure("ERR_TLS_CERT_ALTNAME_INVALID"), "away", false, /agree on TLS/],
  [failure("ECONNRESET", "read ECONNRESET"), "away", false, /closed the connection/],
  [new Error("Socket closed unexpectedly"), "away", false, /closed the connection/],
  [new Error("The client is closed"), "away", false, /closed the connection/],
  [new Error("something else"), "other", false, /something else/],
  [new NoAnswerError(250), "slow", false, /did not answer within 250 ms/],
];

describe("failures of the connection", () => {
  for (const [error, kind, wasRefused, sentence] of FAILURES)
    test(`${error.message} is ${kind}`, () => {
      const problem = redisProblemOf(error, alone);
      assert.deepEqual([problem.kind, problem.wasRefused], [kind, wasRefused]);
      assert.match(problem.message, sentence);
    });

  test("anything else that is thrown is a problem too", () => {
    for (const thrown of [undefined, null, "text", 7, {}, { message: 7 }])
      assert.equal(redisProblemOf(thrown, alone).kind, "other");
  });

  test("a problem stays what it is", () => {
    const problem = notPrimary(sentinel);
    assert.equal(redisProblemOf(problem, alone), problem);
  });
});

test("what Redis quotes of a command is never passed on", () => {
  const quoting = [
    `ERR unknown command 'AUTH', with args beginning with: 'user' '${SECRET}' `,
    `ERR unknown command \`auth\`, with args beginning with: \`${SECRET}\`, `,
    `ERR unknown subcommand 'X'\n with args beginning with: ${SECRET}`,
    `ERR ${"x".repeat(400)}${SECRET}`,
  ];
  for (const text of quoting) {
    const problem = redisProblemOf(new ErrorReply(text), alone);
    const everything = [problem.message, problem.stack, problem.cause, JSON.stringify(problem)].join("\n");
    assert.doesNotMatch(everything, /hunter2/);
    assert.ok(problem.message.length < 400, problem.message);
  }
});

test("a sentinel is called one", () => {
  const asked = { ...sentinel, isSentinel: true };
  assert.match(redisProblemOf(failure("ECONNREFUSED"), asked).message, /^The sentinel at /);
  assert.match(redisProblemOf(failure("ECONNREFUSED"), sentinel).message, /^Redis at /);
});

test("who is not the primary is read only when alone, and a failover otherwise", () => {
  assert.deepEqual(
    [alone, sentinel, cluster].map((asked) => notPrimary(asked).kind),
    ["readOnly", "failover", "failover"],
  );
});

test("an old version is named, and cut when it is no version", () => {
  assert.match(tooOld("6.2.1", alone).message, /is version 6\.2\.1: use Redis 7\.0/);
  assert.ok(tooOld("9".repeat(5_000), alone).message.length < 400);
});

test("a problem can be told to those who were refused, and to those who cannot know", () => {
  const unknown = new RedisProblem("away", "gone", false);
  const refused = refusalFor(unknown);
  assert.deepEqual([refused.kind, refused.message, refused.wasRefused], ["away", "gone", true]);
  assert.equal(refusalFor(refused), refused);
  assert.equal(doubtFor(refused).wasRefused, false);
  assert.equal(doubtFor(unknown), unknown);
});

test("errors that are mended rather than told are known by their words, and only from Redis", () => {
  assert.ok(isFunctionMissing(new ErrorReply("ERR Function not found")));
  assert.ok(!isFunctionMissing(new Error("ERR Function not found")));
  assert.ok(isLibraryThere(new ErrorReply("ERR Library 'fairgate_1' already exists")));
  assert.ok(!isLibraryThere(new ErrorReply("ERR Function 'x' already exists")));
  assert.ok(isDemoted(new ErrorReply("READONLY You can't write")) && !isDemoted(new ErrorReply("OOM no")));
  assert.deepEqual(movedTo(new ErrorReply("MOVED 3999 [::1]:6381")), { slot: 3999, to: "[::1]:6381" });
  assert.equal(movedTo(new ErrorReply("ASK 3999 127.0.0.1:6381")), null);
  assert.equal(movedTo(new Error("MOVED 3999 127.0.0.1:6381")), null);
});
