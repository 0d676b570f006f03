/**
 * What a Redis keeps on its disk, and so what a crash costs. Waiting visitors come back with their tickets, which prove their
 * places. Only Redis knows who is on the site, who was admitted, and which changes were made at run time.
 */
import type { RedisSettings } from "../../config/redis-settings.ts";
import { configOf, type ServerFacts } from "./facts.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

const LOST =
  "Those who wait get their places back by their tickets, but who is on the site is forgotten, so for up to a session too many may be let in.";
const TURN_ON = "Set appendonly to yes and appendfsync to everysec.";

/** Verdicts on what is written to the disk, and whether writing works. */
export function checkPersistence(facts: ServerFacts, redis: RedisSettings): DoctorVerdict[] {
  return [whatIsKept(facts, redis), ...lastWrites(facts)];
}

function whatIsKept(facts: ServerFacts, { mode }: RedisSettings): DoctorVerdict {
  const { info, where } = facts;
  const persistence = about("persistence", where);
  if (info.get("aof_enabled") === "1") return appendOnly(facts);
  const save = configOf(facts, "save");
  if (save === null)
    return persistence.caution(
      `appendonly is no, and whether there are snapshots cannot be seen: a crash may lose minutes, or all. ${LOST}`,
      TURN_ON,
    );
  if (save !== "")
    return persistence.caution(
      `${snapshots(save)}: a crash takes back all since the last one. ${LOST}`,
      TURN_ON,
    );
  const others =
    mode === "standalone" ? "" : " A primary that restarts before a failover empties its replicas too.";
  return persistence.caution(`Nothing is kept: a restart loses everything. ${LOST}${others}`, TURN_ON);
}

function appendOnly(facts: ServerFacts): DoctorVerdict {
  const persistence = about("persistence", facts.where);
  const sync = configOf(facts, "appendfsync");
  if (sync === "always") return persistence.ok("appendonly, synced at each write: a crash loses nothing.");
  if (sync === "everysec")
    return persistence.ok(
      "appendonly, synced each second: a crash of Redis loses nothing, one of the machine up to two seconds.",
    );
  if (sync === "no")
    return persistence.caution(
      "appendonly, synced when the system likes: a crash of the machine may lose half a minute.",
      "Set appendfsync to everysec.",
    );
  return persistence.ok("appendonly; how often it is synced cannot be seen.");
}

/** `3600 1 300 100 60 10000` as words: pairs of seconds and changes. */
function snapshots(save: string): string {
  const numbers = save.trim().split(/\s+/).map(Number);
  const rules = numbers.flatMap((seconds, i) =>
    i % 2 === 0 ? [`${seconds} s if ${numbers[i + 1]} changed`] : [],
  );
  return `Snapshots alone (after ${rules.join(", ")})`;
}

const WRITES = [
  ["rdb_last_bgsave_status", "the last snapshot"],
  ["aof_last_write_status", "the last write to the append-only file"],
  ["aof_last_bgrewrite_status", "the last rewrite of the append-only file"],
] as const;

function lastWrites({ info, where }: ServerFacts): DoctorVerdict[] {
  return WRITES.filter(([field]) => (info.get(field) ?? "ok") !== "ok").map(([, what]) =>
    about("persistence", where).problem(
      `${what[0]!.toUpperCase()}${what.slice(1)} failed.`,
      "Look after the disk there.",
    ),
  );
}
