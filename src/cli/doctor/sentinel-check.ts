/**
 * The sentinels: whether each answers, whether they agree, and whether they could promote a replica. They also say which servers
 * there are.
 */
import { formatHostPort, type HostPort } from "../../config/kinds.ts";
import type { RedisSettings } from "../../config/redis-settings.ts";
import { RedisProblem } from "../../engines/redis/link/problem.ts";
import { readPairs } from "./facts.ts";
import type { Node, Search } from "./node.ts";
import { Probe, sentinelLogin } from "./probe.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

/** With fewer, the loss of one leaves no majority. */
const SENTINELS_MIN = 3;
const DOWN = /[so]_down|disconnected/;

interface View {
  readonly where: string;
  readonly epoch: number;
  readonly primary: Fields;
  readonly replicas: readonly Fields[];
  readonly others: readonly Fields[];
}

type Fields = ReadonlyMap<string, string>;

/** Asks every sentinel in the settings. */
export async function searchSentinels(redis: RedisSettings): Promise<Search> {
  const found = await Promise.all(redis.addresses.map((address) => askSentinel(address, redis)));
  const views = found.flatMap(({ view }) => view ?? []);
  const [newest] = views.toSorted((a, b) => b.epoch - a.epoch);
  const verdicts = found.flatMap((one) => one.verdicts);
  if (!newest) return { nodes: [], verdicts };
  return {
    nodes: nodesOf(newest),
    verdicts: [...verdicts, ...checkAgreement(views), ...checkNumber(newest, redis), ...checkDown(newest)],
  };
}

async function askSentinel(
  address: HostPort,
  redis: RedisSettings,
): Promise<{ view: View | null; verdicts: DoctorVerdict[] }> {
  const where = formatHostPort(address);
  let probe: Probe | null = null;
  try {
    probe = await Probe.open(address, sentinelLogin(redis));
    const view = await look(probe, redis.masterName!);
    const quorum = await checkQuorum(probe, redis.masterName!);
    return { view, verdicts: [about("connection", where).ok("The sentinel answers."), quorum] };
  } catch (thrown) {
    if (!(thrown instanceof RedisProblem)) throw thrown;
    return { view: null, verdicts: [about("connection", where).problem(thrown.message)] };
  } finally {
    probe?.close();
  }
}

async function look(probe: Probe, name: string): Promise<View> {
  const primary = readPairs(await probe.ask("SENTINEL", "MASTER", name));
  const list = async (what: string) =>
    ((await probe.ask("SENTINEL", what, name)) as readonly unknown[]).map(readPairs);
  const replicas = await list("REPLICAS");
  const others = await list("SENTINELS");
  return { where: probe.where, epoch: Number(primary.get("config-epoch")), primary, replicas, others };
}

async function checkQuorum(probe: Probe, name: string): Promise<DoctorVerdict> {
  const quorum = about("sentinels", probe.where);
  const answer = await probe.tryAsk("SENTINEL", "CKQUORUM", name);
  if (!(answer instanceof RedisProblem))
    return quorum.ok("Enough sentinels hear each other to make a failover.");
  if (!answer.message.includes("NOQUORUM")) return quorum.problem(answer.message);
  const is = "Too few sentinels hear each other to make a failover.";
  return quorum.problem(is, "Bring the missing ones back, or look at the quorum they were given.");
}

function checkAgreement(views: readonly View[]): DoctorVerdict[] {
  const places = new Set(views.map(({ primary }) => addressOf(primary)));
  if (places.size < 2) return [];
  const is = `The sentinels do not agree on the primary: ${[...places].join(" or ")}.`;
  return [about("sentinels").problem(is, "Wait if a failover is under way; otherwise look at their logs.")];
}

function checkNumber({ primary, others }: View, { addresses }: RedisSettings): DoctorVerdict[] {
  const sentinels = about("sentinels");
  const number = 1 + others.length;
  const is = `There are ${number}, with a quorum of ${primary.get("quorum")}`;
  if (number < SENTINELS_MIN)
    return [
      sentinels.caution(
        `${is}: the loss of one leaves no majority.`,
        `Run ${SENTINELS_MIN}, on different machines.`,
      ),
    ];
  if (addresses.length === 1)
    return [
      sentinels.caution(
        `${is}, and the settings name one of them: without it the primary is not found.`,
        "Name the others under redis.sentinels.",
      ),
    ];
  return [sentinels.ok(`${is}, and the settings name ${addresses.length}.`)];
}

function checkDown({ primary, replicas, others }: View): DoctorVerdict[] {
  const down = (what: string, all: readonly Fields[]) =>
    all
      .filter((one) => DOWN.test(one.get("flags") ?? ""))
      .map((one) =>
        about("sentinels", addressOf(one)).problem(`The sentinels find this ${what} away.`, "Bring it back."),
      );
  return [...down("primary", [primary]), ...down("replica", replicas), ...down("sentinel", others)];
}

function nodesOf({ primary, replicas }: View): Node[] {
  return [
    { address: placeOf(primary), isPrimary: true, slots: null },
    ...replicas.map((replica) => ({ address: placeOf(replica), isPrimary: false, slots: null })),
  ];
}

function placeOf(fields: Fields): HostPort {
  return { host: fields.get("ip") ?? "", port: Number(fields.get("port")) };
}

function addressOf(fields: Fields): string {
  return formatHostPort(placeOf(fields));
}
