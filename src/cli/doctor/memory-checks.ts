/** Whether a Redis has the memory that a line needs, and keeps what is written to it. */
import { numberIn, type ServerFacts } from "./facts.ts";
import { about, type DoctorVerdict, roughly } from "./verdict.ts";

/** Redis memory per waiting visitor: 442 bytes, measured with 200,000 in one line, and a little for the rest. */
export const BYTES_PER_VISITOR = 450;
const KEEPS_ALL = "noeviction";
/** Above this share of the memory, it is time to add more. */
const NEARLY_FULL = 0.8;

/** A Redis that evicts keys when memory is short evicts people from the line. */
export function checkEviction({ info, where }: ServerFacts): DoctorVerdict {
  const eviction = about("eviction", where);
  const policy = info.get("maxmemory_policy") ?? "not told";
  if (policy === KEEPS_ALL) return eviction.ok(`maxmemory-policy is ${KEEPS_ALL}: nothing is thrown away.`);
  return eviction.problem(
    `maxmemory-policy is ${policy}: when memory is short, places are thrown away.`,
    `Set maxmemory-policy to ${KEEPS_ALL}.`,
  );
}

/** How much is used, how much there is, and how many more visitors fit. */
export function checkMemory({ info, where }: ServerFacts): DoctorVerdict[] {
  const memory = about("memory", where);
  const used = numberIn(info, "used_memory");
  const max = numberIn(info, "maxmemory");
  if (max === 0) return [memory.ok(`${roughly(used)} used.`), noLimit(info, where)];
  const free = Math.max(0, max - used);
  const is = `${roughly(used)} of ${roughly(max)} used; about ${visitorsIn(free)} more waiting visitors fit.`;
  if (used >= max) return [memory.problem(is, "Raise maxmemory: nobody can join now.")];
  const isTight = used > NEARLY_FULL * max;
  return [isTight ? memory.caution(is, "Raise maxmemory before many people come.") : memory.ok(is)];
}

function noLimit(info: ServerFacts["info"], where: string): DoctorVerdict {
  const machine = numberIn(info, "total_system_memory");
  const has = machine > 0 ? ` (${roughly(machine)})` : "";
  return about("memory", where).caution(
    `No maxmemory: when the machine's memory${has} is used up, the system kills Redis.`,
    `Set maxmemory: ${BYTES_PER_VISITOR} bytes for each visitor that may wait, and at most half of the machine's memory, since saving to disk needs memory too.`,
  );
}

function visitorsIn(bytes: number): string {
  const visitors = Math.floor(bytes / BYTES_PER_VISITOR);
  return Number(visitors.toPrecision(2)).toLocaleString("en");
}
