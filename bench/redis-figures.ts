/** Figures that a Redis reports of itself. */
import { RedisClient } from "@redis/client";

/** Commands that gateways send directly; where functions are used, they call all the others. */
const FROM_GATEWAYS = ["fcall", "fcall_ro", "wait", "ping"];
/** The cost of asking for these figures. */
const OUR_OWN = ["info", "hello", "client|setinfo", "client|setname", "command"];

/** `createClient` puts a class with every command together for each address, which takes longer than a command. */
const newClient = RedisClient.factory();

export type Calls = ReadonlyMap<string, number>;

/** The memory that its data takes, in bytes. */
export async function usedMemory(url: string): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await info(url, "memory"))?.[1]);
}

/** The processor time it has had so far, in microseconds. */
export async function processorUs(url: string): Promise<number> {
  const text = await info(url, "cpu");
  const seconds = (name: string) => Number(new RegExp(`^used_cpu_${name}:(\\S+)`, "m").exec(text)?.[1]);
  return (seconds("user") + seconds("sys")) * 1e6;
}

/** How often each command was called so far, also by functions. */
export async function commandCalls(url: string): Promise<Calls> {
  const listed = (await info(url, "commandstats")).matchAll(/^cmdstat_(\S+):calls=(\d+)/gm);
  return new Map([...listed].map(([, name, calls]) => [name!, Number(calls)]));
}

/** Calls between two readings: those that a gateway waited for, and all that were executed. */
export function callsBetween(before: Calls, after: Calls): { trips: number; commands: number } {
  const counted = [...after].map(([name, calls]) => [name, calls - (before.get(name) ?? 0)] as const);
  const all = counted.filter(([name]) => !OUR_OWN.includes(name));
  const outside = all.filter(([name]) => FROM_GATEWAYS.includes(name));
  const hasFunctions = outside.some(([name, calls]) => name.startsWith("fcall") && calls > 0);
  const sum = (list: typeof all) => list.reduce((total, [, calls]) => total + calls, 0);
  return { trips: sum(hasFunctions ? outside : all), commands: sum(all) };
}

async function info(url: string, section: string): Promise<string> {
  const client = await newClient({ url }).connect();
  try {
    return await client.info(section);
  } finally {
    client.destroy();
  }
}
