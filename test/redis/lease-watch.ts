/**
 * Who has the lease of the room "main", looked up in Redis again and again. It sees that the fencing token never goes
 * back, and that one token is never two gateways'.
 */
import assert from "node:assert/strict";
import { eventually } from "../cli/eventually.ts";
import { pause } from "../crash/ask.ts";
import type { RedisServer } from "./servers.ts";

const KEY = "fairgate:{main}:main:lease";
const LOOK_EVERY_MS = 50;

export interface Lease {
  readonly holder: string;
  readonly fence: number;
}

export class LeaseWatch {
  readonly seen: Lease[] = [];
  readonly #redis: RedisServer;
  readonly #work: Promise<void>;
  #isOpen = true;

  constructor(redis: RedisServer) {
    this.#redis = redis;
    this.#work = this.#look();
  }

  get last(): Lease | undefined {
    return this.seen.at(-1);
  }

  /** The next lease after this one, and how long it took to come. */
  async after({ fence }: Lease): Promise<Lease & { readonly tookMs: number }> {
    const from = performance.now();
    const next = await eventually(`the lease after ${fence}`, () => {
      return this.last !== undefined && this.last.fence > fence && this.last;
    });
    return { ...next, tookMs: performance.now() - from };
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#work;
  }

  /** Fails when what was seen is against the rules. */
  assertKept(): void {
    assert.ok(this.seen.length > 0, "no lease was seen");
    const holders = new Map<number, string>();
    for (const [i, { holder, fence }] of this.seen.entries()) {
      assert.ok(i === 0 || fence >= this.seen[i - 1]!.fence, `the token went back to ${fence}`);
      assert.equal(holder, holders.get(fence) ?? holder, `token ${fence} is two gateways'`);
      holders.set(fence, holder);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #look(): Promise<void> {
    for (; this.#isOpen; await pause(LOOK_EVERY_MS)) {
      const [holder, fence] = (await this.#redis.command("HMGET", KEY, "holder", "fence")) as string[];
      if (holder && fence) this.seen.push({ holder, fence: Number(fence) });
    }
  }
}
