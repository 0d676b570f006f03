/** The cluster: whether the nodes in the settings answer, which others there are, and whether all hash slots are served. */
import { formatHostPort, type HostPort } from "../../config/kinds.ts";
import type { RedisSettings } from "../../config/redis-settings.ts";
import { RedisProblem } from "../../engines/redis/link/problem.ts";
import { addressIn } from "../../engines/redis/link/servers.ts";
import { configOf, readInfo, type ServerFacts } from "./facts.ts";
import type { Node, Search } from "./node.ts";
import { Probe, serverLogin } from "./probe.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

const SLOTS = 16_384;
const KEY_TRIES_MAX = 4_000;
const KEYS_AT_ONCE = 100;

interface Member {
  readonly id: string;
  /** Null when no node knows the address. */
  readonly address: HostPort | null;
  readonly isPrimary: boolean;
  readonly isFailed: boolean;
  readonly primaryId: string;
  readonly slots: NonNullable<Node["slots"]>;
}

interface View {
  readonly state: ReadonlyMap<string, string>;
  readonly members: readonly Member[];
}

/** Asks every node in the settings for all the others. */
export async function searchCluster(redis: RedisSettings): Promise<Search> {
  const found = await Promise.all(redis.addresses.map((address) => askNode(address, redis)));
  const views = found.flatMap((one) => (one instanceof RedisProblem ? [] : [one]));
  const [view] = views.toSorted((a, b) => epoch(b) - epoch(a));
  const away = found.flatMap((one, i) =>
    one instanceof RedisProblem
      ? [about("connection", formatHostPort(redis.addresses[i]!)).problem(one.message)]
      : [],
  );
  if (!view) return { nodes: [], verdicts: away };
  const known = new Set(away.map(({ where }) => where));
  const nodes = nodesOf(view).filter(({ address }) => !known.has(formatHostPort(address)));
  return { nodes, verdicts: [...away, checkState(view), ...checkMembers(view)] };
}

async function askNode(address: HostPort, redis: RedisSettings): Promise<View | RedisProblem> {
  let probe: Probe | null = null;
  try {
    probe = await Probe.open(address, serverLogin(redis));
    const state = readInfo(String(await probe.ask("CLUSTER", "INFO")));
    return { state, members: readMembers(String(await probe.ask("CLUSTER", "NODES")), address) };
  } catch (thrown) {
    if (thrown instanceof RedisProblem) return thrown;
    throw thrown;
  } finally {
    probe?.close();
  }
}

function epoch({ state }: View): number {
  return Number(state.get("cluster_current_epoch") ?? 0);
}

/** Lines of CLUSTER NODES: `id ip:port@bus[,name] flags primary ping pong epoch link slots…`. */
function readMembers(text: string, asked: HostPort): Member[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const [id = "", place = "", flags = "", primaryId = "", , , , , ...ranges] = line.split(" ");
    const own = addressIn(place.split(/[@,]/, 1)[0]!);
    // A node that nobody has told where it is itself leaves that out.
    const address = own?.host === "" ? { ...own, host: asked.host } : own;
    const isFailed = /\bfail\b/.test(flags) || flags.includes("noaddr");
    return {
      id,
      address,
      isPrimary: flags.includes("master"),
      isFailed,
      primaryId,
      slots: readSlots(ranges),
    };
  });
}

/** Ranges such as `0-5460 7000`. One in brackets is being moved to another node, and is left out. */
function readSlots(ranges: readonly string[]): (readonly [number, number])[] {
  return ranges
    .filter((range) => /^\d/.test(range))
    .map((range) => {
      const [first = "", last = first] = range.split("-");
      return [Number(first), Number(last)] as const;
    });
}

/** Primaries first. */
function nodesOf({ members }: View): Node[] {
  const nodes = members.flatMap(({ address, isPrimary, isFailed, slots }) =>
    // A primary without hash slots is new or was replaced, and never holds the line.
    address && !isFailed && !(isPrimary && slots.length === 0) ? [{ address, isPrimary, slots }] : [],
  );
  return nodes.toSorted((a, b) => Number(b.isPrimary) - Number(a.isPrimary));
}

function checkState({ state, members }: View): DoctorVerdict {
  const cluster = about("cluster");
  const assigned = Number(state.get("cluster_slots_assigned") ?? 0);
  const good = Number(state.get("cluster_slots_ok") ?? 0);
  const primaries = members.filter(
    ({ isPrimary, isFailed, slots }) => isPrimary && !isFailed && slots.length > 0,
  );
  if (assigned < SLOTS)
    return cluster.problem(
      `${SLOTS - assigned} of ${SLOTS} hash slots belong to no node.`,
      "redis-cli --cluster fix mends that.",
    );
  if (good < SLOTS || state.get("cluster_state") !== "ok")
    return cluster.problem(
      `cluster_state is ${state.get("cluster_state")}: ${good} of ${SLOTS} hash slots are served.`,
      "Bring the nodes back.",
    );
  return cluster.ok(`cluster_state is ok: ${primaries.length} primaries serve all ${SLOTS} slots.`);
}

function checkMembers({ members }: View): DoctorVerdict[] {
  return members
    .filter(({ isFailed }) => isFailed)
    .map((one) =>
      about("cluster", placeOf(one)).problem(
        `The cluster finds this ${one.isPrimary ? "primary" : "replica"} away.`,
        "Bring it back, or take it out with CLUSTER FORGET.",
      ),
    );
}

function placeOf({ address, id }: Member): string {
  return address ? formatHostPort(address) : id;
}

/** Whether losing one primary stops the rooms on all the others. */
export function checkCoverage(facts: ServerFacts, rooms: number): DoctorVerdict[] {
  const isCluster = facts.info.get("cluster_enabled") === "1";
  if (!isCluster || rooms < 2 || configOf(facts, "cluster-require-full-coverage") !== "yes") return [];
  return [
    about("cluster", facts.where).caution(
      "cluster-require-full-coverage is yes: when a primary is lost without a replica, every room stops, not only those it held.",
      "Set cluster-require-full-coverage to no.",
    ),
  ];
}

/** One of our keys in a hash slot of this node; null when none was found. The node itself says where a key belongs. */
export async function keyOn(probe: Probe, { slots }: Node, prefix: string): Promise<string | null> {
  const key = (i: number) => `${prefix}:{doctor${i}}:probe`;
  if (slots === null) return key(0);
  for (let from = 0; from < KEY_TRIES_MAX; from += KEYS_AT_ONCE) {
    const keys = Array.from({ length: KEYS_AT_ONCE }, (_, i) => key(from + i));
    const at = await Promise.all(keys.map((one) => probe.ask("CLUSTER", "KEYSLOT", one)));
    const found = keys.find((_, i) =>
      slots.some(([first, last]) => Number(at[i]) >= first && Number(at[i]) <= last),
    );
    if (found !== undefined) return found;
  }
  return null;
}
