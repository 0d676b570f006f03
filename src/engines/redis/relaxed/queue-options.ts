/** How a relaxed queue is set up: what may be set, what holds when it is not, and what is refused. */
import type { ConcurrencyPolicy } from "../../../core/relaxed.ts";

/** What every producer and consumer of a queue must agree on: name, prefix and shards; the rest is each one's own. */
export interface QueueOptions {
  readonly name: string;
  /** What the names of all keys begin with. */
  readonly prefix?: string;
  readonly shards?: number;
  /** How many shards to look at before popping. */
  readonly peek?: number;
  readonly policy?: ConcurrencyPolicy;
  /** How long until an item that was not committed goes back. */
  readonly timeoutMs?: number;
  /** How many replicas must have what was added before it counts as added. */
  readonly replicas?: number;
  /** How long to wait for them. */
  readonly replicaTimeoutMs?: number;
}

export const QUEUE_DEFAULTS = {
  prefix: "fairgate",
  shards: 8,
  peek: 2,
  policy: "secondBest",
  timeoutMs: 30_000,
  replicas: 0,
  replicaTimeoutMs: 1_000,
} as const satisfies Omit<QueueOptions, "name">;

const SHARDS_MAX = 1_024;
const TIMEOUT_MS_MAX = 7 * 24 * 60 * 60 * 1_000;
const REPLICAS_MAX = 10;

/** The options with the defaults in them. Throws when one is not as it should be. */
export function withDefaults(options: QueueOptions): Required<QueueOptions> {
  const set = { ...QUEUE_DEFAULTS, ...options };
  checkOptions(set);
  return set;
}

function checkOptions(set: Required<QueueOptions>): void {
  // Braces would decide which node of a cluster a key is on.
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(set.name))
    throw new RangeError(`name "${set.name}" is not 1 to 64 letters, digits, dots, hyphens and underscores`);
  if (!/^[A-Za-z0-9._:-]{1,64}$/.test(set.prefix))
    throw new RangeError(
      `prefix "${set.prefix}" is not 1 to 64 letters, digits, dots, colons, hyphens and underscores`,
    );
  checkNumber(set, "shards", { min: 1, max: SHARDS_MAX });
  checkNumber(set, "peek", { min: 1, max: SHARDS_MAX });
  checkNumber(set, "timeoutMs", { min: 1, max: TIMEOUT_MS_MAX });
  checkNumber(set, "replicas", { min: 0, max: REPLICAS_MAX });
  checkNumber(set, "replicaTimeoutMs", { min: 1, max: TIMEOUT_MS_MAX });
  if (set.policy !== "plain" && set.policy !== "secondBest")
    throw new RangeError(`policy "${set.policy}" is neither "plain" nor "secondBest"`);
}

function checkNumber<K extends string>(
  set: Readonly<Record<K, number>>,
  name: K,
  { min, max }: { readonly min: number; readonly max: number },
): void {
  const value = set[name];
  if (!Number.isInteger(value) || value < min || value > max)
    throw new RangeError(`${name} ${value} is not a whole number from ${min} to ${max}`);
}
