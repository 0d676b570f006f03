/**
 * The examination of a Redis: find its servers, connect to each, query it, and judge the answers.
 *
 *   settings ──▶ sentinels or cluster ──▶ nodes ──▶ connections ──▶ facts ──▶ verdicts
 */
import { formatHostPort } from "../../config/kinds.ts";
import type { RedisSettings } from "../../config/redis-settings.ts";
import { RedisProblem } from "../../engines/redis/link/problem.ts";
import { checkClocks } from "./clock-check.ts";
import { checkCoverage, keyOn, searchCluster } from "./cluster-check.ts";
import { factsOfServer, type ServerFacts } from "./facts.ts";
import { checkFunctions } from "./function-check.ts";
import { checkLatency, checkTimeout, measure, type RoundTrips } from "./latency-check.ts";
import { checkEviction, checkMemory } from "./memory-checks.ts";
import type { Node, Search } from "./node.ts";
import { checkPersistence } from "./persistence-check.ts";
import { Probe, serverLogin } from "./probe.ts";
import { checkFollowing, checkReplicas } from "./replica-checks.ts";
import { searchSentinels } from "./sentinel-check.ts";
import { checkClients, checkConfig, checkKind, checkLoading, checkVersion } from "./server-checks.ts";
import { checkPassword, examineTls } from "./tls-check.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

export interface Examination {
  readonly redis: RedisSettings;
  /** How many rooms will live there. */
  readonly rooms: number;
}

/** A node that answered. */
interface Patient {
  readonly node: Node;
  readonly probe: Probe;
  readonly facts: ServerFacts;
}

/** Every verdict on a Redis. */
export async function examine(examination: Examination): Promise<DoctorVerdict[]> {
  const { nodes, verdicts } = await search(examination.redis);
  const received = await Promise.all(nodes.map((node) => receive(node, examination)));
  const patients = received.flatMap((one) => ("probe" in one ? [one] : []));
  try {
    const away = received.flatMap((one) => ("probe" in one ? [] : [one]));
    return [...verdicts, ...away, ...(await judgeAll(patients, examination))];
  } finally {
    for (const { probe } of patients) probe.close();
  }
}

async function search(redis: RedisSettings): Promise<Search> {
  if (redis.mode === "sentinel") return searchSentinels(redis);
  if (redis.mode === "cluster") return searchCluster(redis);
  const nodes = redis.addresses.map((address) => ({ address, isPrimary: true, slots: null }));
  return { nodes, verdicts: [] };
}

async function receive(node: Node, { redis }: Examination): Promise<Patient | DoctorVerdict> {
  let probe: Probe | null = null;
  try {
    probe = await Probe.open(node.address, serverLogin(redis));
    return { node, probe, facts: await factsOfServer(probe) };
  } catch (thrown) {
    probe?.close();
    return away(node, thrown);
  }
}

function away({ address }: Node, thrown: unknown): DoctorVerdict {
  if (!(thrown instanceof RedisProblem)) throw thrown;
  return about("connection", formatHostPort(address)).problem(thrown.message);
}

async function judgeAll(patients: readonly Patient[], examination: Examination): Promise<DoctorVerdict[]> {
  const { redis } = examination;
  if (patients.length === 0) return [];
  const verdicts = await Promise.all(
    patients.map((patient) => judge(patient, examination).catch((thrown) => [away(patient.node, thrown)])),
  );
  return [
    ...verdicts.flat(),
    ...(await judgeLatency(patients, redis)),
    checkTimeout(redis),
    ...checkClocks(patients.map(({ facts }) => facts)),
  ];
}

async function judge(patient: Patient, examination: Examination): Promise<DoctorVerdict[]> {
  const { node, facts } = patient;
  const { redis } = examination;
  const ways = [
    about("connection", facts.where).ok("The server answers."),
    ...checkPassword(node.address, redis),
    ...(await examineTls(node.address, redis)),
    checkVersion(facts),
  ];
  const wrong = [...checkKind(facts, redis), ...checkLoading(facts)];
  // The other checks would examine a server that is the wrong one anyway.
  if (wrong.length > 0) return [...ways, ...wrong];
  return [
    ...ways,
    ...(node.isPrimary ? await judgePrimary(patient, examination) : checkFollowing(facts)),
    checkEviction(facts),
    ...checkMemory(facts),
    ...checkPersistence(facts, redis),
    ...checkConfig(facts),
    ...checkClients(facts),
  ];
}

async function judgePrimary(patient: Patient, { redis, rooms }: Examination): Promise<DoctorVerdict[]> {
  const { probe, node, facts } = patient;
  const key = await keyOn(probe, node, redis.prefix);
  return [
    ...(key === null ? [notTried(facts)] : await checkFunctions(probe, key, redis)),
    ...checkReplicas(facts, redis),
    ...checkCoverage(facts, rooms),
  ];
}

/** Runs last, so that our own questions do not slow the answers down. */
async function judgeLatency(patients: readonly Patient[], redis: RedisSettings): Promise<DoctorVerdict[]> {
  const measured: RoundTrips[] = [];
  for (const { node, probe } of patients) {
    if (!node.isPrimary) continue;
    try {
      measured.push(await measure(probe));
    } catch (thrown) {
      return [away(node, thrown)];
    }
  }
  return checkLatency(measured, redis);
}

function notTried({ where }: ServerFacts): DoctorVerdict {
  const is = "Not tried: no key was found that belongs to this node, which has few slots.";
  return about("functions", where).caution(is, "Give it more slots, or take it out.");
}
