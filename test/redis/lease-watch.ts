/**
 * Watches who has the lease of the room "main", by reading it from Redis again and again, and who does the duties that come with
 * it, by listening to the room's channel. It checks that the fencing token never goes back, that no token belongs to two
 * gateways, and that a gateway without the lease stops its duties.
 */
import assert from "node:assert/strict";
import { createClient } from "@redis/client";
import { eventually } from "../../src/testing/cli/eventually.ts";
import type { RedisServer } from "../../src/testing/redis/servers.ts";
import { pause } from "../crash/ask.ts";
import type { Gate } from "../crash/gate.ts";

const ROOM = "fairgate:{main}:main";
const LOOK_EVERY_MS = 50;

export interface Lease {
  readonly holder: string;
  readonly fence: number;
}

interface Deed {
  readonly gateway: string;
  readonly what: string;
  /** The lease as last read, which is a little old. */
  readonly during: Lease | undefined;
}

type Client = Awaited<ReturnType<typeof connect>>;

export class LeaseWatch {
  readonly #seen: Lease[] = [];
  readonly #deeds: Deed[] = [];
  readonly #looking: Client;
  readonly #hearing: Client;
  readonly #work: Promise<void>;
  #isOpen = true;

  static async open(redis: RedisServer): Promise<LeaseWatch> {
    const [looking, hearing] = [await connect(redis), await connect(redis)];
    const watch = new LeaseWatch(looking, hearing);
    await hearing.subscribe(`${ROOM}:news`, (text) => watch.#hear(text));
    return watch;
  }

  private constructor(looking: Client, hearing: Client) {
    this.#looking = looking;
    this.#hearing = hearing;
    this.#work = this.#look();
  }

  /** The first lease. */
  get first(): Lease {
    return this.#one(0);
  }

  get last(): Lease {
    return this.#one(-1);
  }

  /** Makes sure that the gateway by that name has the lease; a gateway that was suspended for seconds lost it to another. */
  async giveTo(holder: string, others: readonly Gate[]): Promise<void> {
    if (this.last.holder === holder) return;
    await Promise.all(others.map((gate) => gate.end("SIGTERM")));
    await eventually("the only gateway has the lease", () => this.last.holder === holder);
    await Promise.all(others.map((gate) => gate.start()));
  }

  /** The next lease after this one. */
  after({ fence }: Lease): Promise<Lease> {
    return eventually(`a lease after ${fence}`, () => this.last.fence > fence && this.last);
  }

  /** True when the lease is no longer held: it was given back, and another may have it already. */
  async isGivenBack({ fence: old }: Lease): Promise<boolean> {
    const [fence, until] = await this.#looking.hmGet(`${ROOM}:lease`, ["fence", "until"]);
    return Number(fence) > old || until === "0";
  }

  /** Fails when something seen was against the rules. */
  assertKept(): void {
    assert.ok(this.#deeds.length > 0, "nobody turned the door");
    const holders = new Map<number, string>();
    for (const [i, { holder, fence }] of this.#seen.entries()) {
      assert.ok(i === 0 || fence >= this.#seen[i - 1]!.fence, `the token went back to ${fence}`);
      assert.equal(holder, holders.get(fence) ?? holder, `token ${fence} is two gateways'`);
      holders.set(fence, holder);
    }
    // A lease that was just taken may not have been read yet; one that was lost has been.
    const strays = this.#deeds.filter(({ gateway, during }) => {
      const hasLater = () =>
        this.#seen.some(({ holder, fence }) => fence > during!.fence && holder === gateway);
      return during && gateway !== during.holder && !hasLater();
    });
    assert.deepEqual(strays, [], "done without the lease");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    await this.#work;
    this.#looking.destroy();
    this.#hearing.destroy();
  }

  #one(index: number): Lease {
    const lease = this.#seen.at(index);
    assert.ok(lease, "no gateway has taken the lease yet");
    return lease;
  }

  #hear(text: string): void {
    const [gateway = "", what = ""] = text.split(" ", 2);
    if (what === "turns" || what === "board") this.#deeds.push({ gateway, what, during: this.#seen.at(-1) });
  }

  async #look(): Promise<void> {
    for (; this.#isOpen; await pause(LOOK_EVERY_MS)) {
      const [holder, fence] = await this.#looking.hmGet(`${ROOM}:lease`, ["holder", "fence"]);
      if (holder && fence) this.#seen.push({ holder, fence: Number(fence) });
    }
  }
}

async function connect({ url }: RedisServer) {
  return createClient({ RESP: 2, url }).connect();
}
