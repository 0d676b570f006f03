/**
 * A refusal that concerns all calls (out of memory, read only, too few replicas): it stays the problem until the same function
 * succeeds, or until a probe succeeds. The probe is an empty SETRANGE on the same key: it changes nothing, and Redis refuses it
 * for the same reasons as our functions.
 */
import type { RedisCall } from "./call.ts";
import type { Connection } from "./connection.ts";
import {
  type AskedServer,
  movedTo,
  type RedisProblem,
  type RedisProblemKind,
  redisProblemOf,
} from "./problem.ts";

/** How often a refusal is probed. */
const PROBE_EVERY_MS = 1_000;
/** The refusals that a probe can see; the others stay until the same function succeeds. */
const PROBED: ReadonlySet<RedisProblemKind> = new Set([
  "readOnly",
  "outOfMemory",
  "failover",
  "loading",
  "slow",
]);
const UNPROBED: ReadonlySet<RedisProblemKind> = new Set(["password", "noFunctions"]);

interface Standing {
  readonly problem: RedisProblem;
  readonly refused: RedisCall;
  /** When only replicas were missing: how many are required. */
  readonly replicas: number | null;
}

export class StandingRefusal {
  readonly #onChange: () => void;
  #standing: Standing | null = null;
  #probedAt = 0;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get problem(): RedisProblem | null {
    return this.#standing?.problem ?? null;
  }

  /** Records an error answer. */
  note(problem: RedisProblem, thrown: unknown, refused: RedisCall, asked: AskedServer): void {
    if (concernsEveryone(problem, thrown, asked)) this.#set({ problem, refused, replicas: null });
  }

  /** Records that too few replicas have the write. */
  noteTooFew(problem: RedisProblem, refused: RedisCall, replicas: number): void {
    this.#set({ problem, refused, replicas });
  }

  /** Records a success. */
  noteSuccess({ name, kept }: RedisCall): void {
    const standing = this.#standing;
    if (standing && standing.refused.name === name && (kept || standing.replicas === null)) this.#set(null);
  }

  /** A new connection begins without a refusal. */
  forget(): void {
    this.#set(null);
  }

  /** Probes, once a second while there is a refusal. */
  sweep(now: number, connection: Connection): void {
    const standing = this.#standing;
    if (!standing || now - this.#probedAt < PROBE_EVERY_MS || !connection.hasRoomFor(1)) return;
    this.#probedAt = now;
    if (UNPROBED.has(standing.problem.kind)) return;
    connection.send(probeFor(standing)).then(
      (answer) => this.#answered(standing, Number(answer)),
      (thrown: unknown) => this.#failed(standing, thrown, connection),
    );
  }

  #answered(standing: Standing, answer: number): void {
    const isOver = standing.replicas === null || answer >= standing.replicas;
    if (isOver && this.#standing === standing) this.#set(null);
  }

  #failed(standing: Standing, thrown: unknown, connection: Connection): void {
    if (this.#standing !== standing || connection.isEnded) return;
    const problem = redisProblemOf(thrown, connection.asked);
    if (concernsEveryone(problem, thrown, connection.asked)) this.#set({ ...standing, problem });
    // Any other error comes after the checks that matter (the key is no string), or means that another node has the key.
    else if (problem.kind === "other") this.#set(null);
  }

  #set(standing: Standing | null): void {
    if (standing === this.#standing) return;
    this.#standing = standing;
    this.#onChange();
  }
}

function concernsEveryone(
  { kind, wasRefused }: RedisProblem,
  thrown: unknown,
  { mode }: AskedServer,
): boolean {
  const isKnown = PROBED.has(kind) || UNPROBED.has(kind);
  return (wasRefused && isKnown) || (mode !== "cluster" && movedTo(thrown) !== null);
}

function probeFor({ refused, replicas }: Standing): string[] {
  if (replicas !== null) return ["WAIT", `${replicas}`, "1"];
  return refused.key === null ? ["PING"] : ["SETRANGE", refused.key, "0", ""];
}
