/** The owners of hash slots, from a node of the cluster (CLUSTER SLOTS). */

import { Connection, type ConnectionOptions } from "./connection.ts";
import { SLOT_COUNT } from "./key-slot.ts";
import { RedisProblem, redisProblemOf } from "./problem.ts";
import type { ServerAddress } from "./servers.ts";

export interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly primary: ServerAddress;
  readonly replicas: readonly ServerAddress[];
}

/** Queries an open connection. Rejects with a RedisProblem. */
export async function askForSlots(connection: Connection): Promise<readonly SlotRange[]> {
  try {
    const answer = await connection.send(["CLUSTER", "SLOTS"]);
    return (answer as readonly unknown[]).map((range) => rangeIn(range, connection.address.host));
  } catch (thrown) {
    throw redisProblemOf(thrown, connection.asked);
  }
}

/** Queries over a new connection. */
export async function askNodeForSlots(options: ConnectionOptions): Promise<readonly SlotRange[]> {
  const connection = await Connection.open(options);
  try {
    return await askForSlots(connection);
  } finally {
    connection.end(new RedisProblem("away", "The question has been answered.", true));
  }
}

/** How many hash slots have no owner. */
export function missingSlots(ranges: readonly SlotRange[]): number {
  return ranges.reduce((missing, { first, last }) => missing - (last - first + 1), SLOT_COUNT);
}

/** `[first slot, last slot, primary, replica…]`, each node `[host, port, id…]`. */
function rangeIn(range: unknown, askedHost: string): SlotRange {
  const [first, last, primary, ...replicas] = range as readonly unknown[];
  const [address, ...others] = [primary, ...replicas].map((node) => addressOf(node, askedHost));
  return { first: Number(first), last: Number(last), primary: address!, replicas: others };
}

/** A node that does not know its own name means the address by which it was asked. */
function addressOf(node: unknown, askedHost: string): ServerAddress {
  const [host, port] = node as readonly unknown[];
  const isKnown = typeof host === "string" && host !== "" && host !== "?";
  return { host: isKnown ? host : askedHost, port: Number(port) };
}
