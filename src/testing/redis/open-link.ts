/** Links to real Redis processes for tests, with a small library and a record of every problem they reported. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import type { World } from "../../core/world.ts";
import { type Library, libraryOf } from "../../engines/redis/library.ts";
import { openLink, type RedisLink } from "../../engines/redis/link/link.ts";
import { RedisProblem, type RedisProblemKind } from "../../engines/redis/link/problem.ts";
import type { RedisServers } from "../../engines/redis/link/servers.ts";
import type { HandWorld } from "../../sim/hand-world.ts";
import { ASK_EVERY_MS, eventually } from "../cli/eventually.ts";
import { type RecordedEntry, realWorld } from "../real-world.ts";

export const library = libraryOf("linktest", [new URL("link-library.lua", import.meta.url)]);

/** No call takes this long, however busy the machine is. A test about slowness moves time by hand. */
export const TIMEOUT_MS = 30_000;
/** Turns of the event loop that a refusal without any waiting may take. */
const AT_ONCE_TURNS = 3;

export interface TestLink extends RedisLink, AsyncDisposable {
  /** Every problem that was reported, in order; null: well again. */
  readonly told: (RedisProblem | null)[];
  readonly entries: readonly RecordedEntry[];
}

export interface TestLinkOptions extends Partial<RedisServers> {
  readonly timeoutMs?: number;
  /** The small one of the tests unless told otherwise. */
  readonly library?: Library;
  /** Its clock and timers; the real ones unless told otherwise. */
  readonly world?: World;
  /** The problem to wait for; left out: waits until there is none. */
  readonly problem?: RedisProblemKind;
}

/** Opens a link to some ports of this machine, and waits until it is connected. It is closed when the test is over. */
export async function openTestLink(
  ports: readonly number[],
  { timeoutMs = TIMEOUT_MS, library: ownLibrary, problem, world: ownWorld, ...servers }: TestLinkOptions = {},
): Promise<TestLink> {
  const world = realWorld();
  const link = await openLink({
    ...{ servers: redisServersOf(ports, servers), library: ownLibrary ?? library },
    ...{ world: ownWorld ?? world, timeoutMs },
  });
  await untilProblem(link, problem ?? null);
  const told: (RedisProblem | null)[] = [];
  link.onProblem((each) => told.push(each));
  const extra = { told, entries: world.entries, [Symbol.asyncDispose]: () => link.close() };
  return Object.assign(link, extra);
}

/** A servers on this machine, without a password unless told otherwise. */
export function redisServersOf(ports: readonly number[], more: Partial<RedisServers> = {}): RedisServers {
  return {
    mode: "standalone",
    addresses: ports.map((port) => ({ host: "127.0.0.1", port })),
    masterName: null,
    username: null,
    password: null,
    sentinelUsername: null,
    sentinelPassword: null,
    database: 0,
    tls: null,
    ...more,
  };
}

/** What the work rejects with, which must be a RedisProblem. */
export async function problemFrom(work: Promise<unknown>): Promise<RedisProblem> {
  const outcome = await work.then(
    (answer) => ({ answer }),
    (problem: unknown) => ({ problem }),
  );
  assert.ok("problem" in outcome, "it was answered, and should have been refused");
  assert.ok(outcome.problem instanceof RedisProblem, `not a RedisProblem: ${outcome.problem}`);
  return outcome.problem;
}

/** The same, of work that must be refused without waiting for anything. */
export async function refusedAtOnce(work: Promise<unknown>): Promise<RedisProblem> {
  const refusal = problemFrom(work);
  // Awaited in any case below; until then its failure must not count as unhandled.
  refusal.catch(() => {});
  let isOver = false;
  void work.then(
    () => {
      isOver = true;
    },
    () => {
      isOver = true;
    },
  );
  for (let turn = 0; turn < AT_ONCE_TURNS; turn++) await setImmediate();
  assert.ok(isOver, "it was kept waiting");
  const problem = await refusal;
  assert.equal(problem.wasRefused, true);
  return problem;
}

/** Waits until the link's problem is of this kind, or until there is none. `world` is the link's, if moved by hand. */
export function untilProblem(
  link: RedisLink,
  kind: RedisProblemKind | null,
  world?: HandWorld,
): Promise<unknown> {
  const isSo = () => {
    // So that it connects again, and not faster than the real time in which Redis answers.
    world?.pass(ASK_EVERY_MS);
    return (link.problem?.kind ?? null) === kind;
  };
  return eventually(`the problem is ${kind}`, isSo).catch((error: Error) => {
    throw new Error(`${error.message}, but ${link.problem?.kind}: ${link.problem?.message}`);
  });
}

/** Waits until a call is answered well, and returns the answer. */
export function untilAnswered(link: RedisLink, name: string, key: string, args: readonly string[] = []) {
  return eventually(`${name} is answered`, () => link.call(name, key, args).catch(() => undefined));
}
