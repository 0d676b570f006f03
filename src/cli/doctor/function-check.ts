/**
 * Whether a primary lets us do what the engine does there: load functions, call them, read and write under our prefix, publish
 * and subscribe. It is tried with a small library of its own, which is removed again.
 */
import { randomBytes } from "node:crypto";
import type { RedisSettings } from "../../config/redis-settings.ts";
import { RedisProblem } from "../../engines/redis/link/problem.ts";
import { Probe, serverLogin } from "./probe.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

const NAME_BYTES = 8;
/** Inside a function Redis words a missing permission differently than outside. */
const NOT_ALLOWED = /no permissions|executing the script can't|does not let this user/i;

/** Tries it all. `key` is one that this server holds. */
export async function checkFunctions(
  probe: Probe,
  key: string,
  redis: RedisSettings,
): Promise<DoctorVerdict[]> {
  const functions = about("functions", probe.where);
  const name = `fairgate_doctor_${randomBytes(NAME_BYTES).toString("hex")}`;
  try {
    await tryFunctions(probe, { name, key, redis });
    await hear(probe, `${key}:news`, redis);
    return [
      functions.ok("Can be loaded and called, and may do all they need."),
      ...(await remove(probe, name)),
    ];
  } catch (thrown) {
    if (!(thrown instanceof RedisProblem)) throw thrown;
    const isRights = NOT_ALLOWED.test(thrown.message);
    const [is, todo] = isRights ? [missing(thrown), rights(redis)] : [thrown.message, ""];
    return [functions.problem(is, todo), ...(await remove(probe, name))];
  }
}

interface Trial {
  readonly name: string;
  readonly key: string;
  readonly redis: RedisSettings;
}

async function tryFunctions(probe: Probe, { name, key, redis }: Trial): Promise<void> {
  await probe.ask("FUNCTION", "LOAD", library(name));
  await probe.ask("FCALL", name, "1", key, `${key}:news`);
  // The engine sends WAIT after each admission. Here no replica has to answer.
  if (redis.replicas > 0) await probe.ask("WAIT", "0", "1");
}

/** A connection that listens can do nothing else. */
async function hear(probe: Probe, channel: string, redis: RedisSettings): Promise<void> {
  const ear = await Probe.open(probe.address, serverLogin(redis));
  try {
    await ear.listen(channel);
  } finally {
    ear.close();
  }
}

/** Removes the library, if it is there. */
async function remove(probe: Probe, name: string): Promise<DoctorVerdict[]> {
  const answer = await probe.tryAsk("FUNCTION", "DELETE", name);
  if (!(answer instanceof RedisProblem) || !(await isLeft(probe, name))) return [];
  const is = `The library ${name}, with which this was tried, could not be taken away again.`;
  return [about("functions", probe.where).problem(is, `FUNCTION DELETE ${name} does it.`)];
}

async function isLeft(probe: Probe, name: string): Promise<boolean> {
  const answer = await probe.tryAsk("FUNCTION", "LIST", "LIBRARYNAME", name);
  return !(answer instanceof RedisProblem) && Array.isArray(answer.value) && answer.value.length > 0;
}

/** A small version of what the functions of rooms do. */
function library(name: string): string {
  return `#!lua name=${name}
redis.register_function("${name}", function(keys, args)
  redis.call("TIME")
  redis.call("INFO", "server")
  redis.call("HSET", keys[1], "probe", "1")
  redis.call("HGET", keys[1], "probe")
  redis.call("UNLINK", keys[1])
  return redis.call("PUBLISH", args[1], "probe")
end)`;
}

function missing({ kind, message }: RedisProblem): string {
  const command = /'([a-z|]+)' command/.exec(message)?.[1];
  if (command !== undefined) return `This user may not run ${command.toUpperCase().replace("|", " ")}.`;
  if (kind === "noFunctions") return "This user may not load and call functions.";
  return "This user may not do all that functions do, or not under our prefix.";
}

/** The permissions a user needs, as Redis writes them. */
function rights({ mode, username, prefix }: RedisSettings): string {
  const all = "+@connection +@scripting +@read +@write +@pubsub +wait +info +time";
  const more = mode === "cluster" ? " +cluster" : "";
  return `ACL SETUSER ${username ?? "default"} ${all}${more} ~${prefix}:* &${prefix}:* gives it all that is needed.`;
}
