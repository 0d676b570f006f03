/**
 * The handle of a popped item: proof of one taking, as text, so that another process may commit. The token is new for
 * each taking; the handle of a consumer that was too slow is worth nothing.
 */
import { toHex } from "../../../core/hex.ts";
import type { Random } from "../../../core/world.ts";

export interface Taking {
  readonly shard: number;
  readonly token: string;
  readonly id: string;
}

const TOKEN_BYTES = 8;
const HANDLE = /^(\d{1,4})\.([0-9a-f]{16})\.(.+)$/s;

/** A token that no other taking has. */
export function newToken(random: Random): string {
  return toHex(random.bytes(TOKEN_BYTES));
}

export function handleOf({ shard, token, id }: Taking): string {
  return `${shard}.${token}.${id}`;
}

/** What a handle says. Throws when it cannot be one of a queue with this many shards. */
export function readHandle(handle: string, shards: number): Taking {
  const [, digits = "", token = "", id = ""] = HANDLE.exec(handle) ?? [];
  const shard = Number(digits);
  if (id === "" || shard >= shards)
    throw new RangeError(`"${handle}" is no handle of a queue with ${shards} shards`);
  return { shard, token, id };
}
