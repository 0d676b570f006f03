/** How many replicas a primary has and how far behind they are, compared with what the settings ask for. */
import type { RedisSettings } from "../../config/redis-settings.ts";
import { configOf, numberIn, type ServerFacts } from "./facts.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

/** Replicas report their offset every second. */
const LAG_MAX_S = 10;

interface Replica {
  readonly state: string;
  readonly lagS: number;
}

/** Verdicts on a primary's replicas. */
export function checkReplicas(facts: ServerFacts, redis: RedisSettings): DoctorVerdict[] {
  const replicas = replicasOf(facts.info);
  return [enough(facts, replicas, redis), ...late(facts, replicas), ...leastReplicas(facts)];
}

/** Whether a replica still hears from its primary. */
export function checkFollowing({ info, where }: ServerFacts): DoctorVerdict[] {
  if (info.get("role") !== "slave" || info.get("master_link_status") === "up") return [];
  const primary = `${info.get("master_host")}:${info.get("master_port")}`;
  return [
    about("replicas", where).problem(
      `This replica does not hear from its primary, ${primary}.`,
      "Look at its log; often masterauth or the network is not right.",
    ),
  ];
}

function enough({ where }: ServerFacts, replicas: readonly Replica[], redis: RedisSettings): DoctorVerdict {
  const verdict = about("replicas", where);
  const there = replicas.filter(({ state }) => state === "online").length;
  const wanted = redis.replicas;
  const is = `${there === 0 ? "None" : there} connected, and redis.replicas is ${wanted}`;
  if (there < wanted)
    return verdict.problem(
      `${is}: nobody is admitted.`,
      `Bring the replicas back, or set redis.replicas to ${there}.`,
    );
  if (wanted > 0 && there === wanted)
    return verdict.caution(
      `${is}: while one is away, nobody is admitted.`,
      "Add a replica, or set redis.replicas lower.",
    );
  if (wanted > 0) return verdict.ok(`${is}: a failover takes nothing back.`);
  if (there > 0) return verdict.ok(`${is}: a failover may take back the last admissions.`);
  if (redis.mode === "standalone") return verdict.ok("None: while this server is away, so is the line.");
  return verdict.caution("None connected: nobody can take over from this primary.", "Add a replica.");
}

function late({ where }: ServerFacts, replicas: readonly Replica[]): DoctorVerdict[] {
  const behind = replicas.filter(({ state, lagS }) => state !== "online" || lagS > LAG_MAX_S);
  return behind.map(({ state, lagS }) => {
    const is =
      state === "online" ? `One was last heard of ${lagS} s ago.` : `One is not ready yet (${state}).`;
    return about("replicas", where).caution(is, "Wait, or look at its log.");
  });
}

/** Redis itself may refuse writes when replicas are missing. */
function leastReplicas(facts: ServerFacts): DoctorVerdict[] {
  const least = Number(configOf(facts, "min-replicas-to-write") ?? 0);
  const good = facts.info.get("min_slaves_good_slaves");
  if (least === 0 || good === undefined || Number(good) >= least) return [];
  return [
    about("replicas", facts.where).problem(
      `min-replicas-to-write is ${least} and ${good} are good: Redis takes no writes.`,
      "Bring the replicas back, or set min-replicas-to-write lower.",
    ),
  ];
}

/** Lines such as `slave0:ip=10.0.0.2,port=6379,state=online,offset=98,lag=0`. */
function replicasOf(info: ServerFacts["info"]): Replica[] {
  return Array.from({ length: numberIn(info, "connected_slaves") }, (_, i) => {
    const line = info.get(`slave${i}`) ?? "";
    const fields = new Map(line.split(",").map((field) => field.split("=") as [string, string]));
    return { state: fields.get("state") ?? "not told", lagS: Number(fields.get("lag") ?? 0) };
  });
}
