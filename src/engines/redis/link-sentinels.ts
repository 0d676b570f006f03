/**
 * Calls to the primary that the sentinels name. All sentinels are asked, over connections that stay open, and the
 * newest of what they say holds, since one that was cut off may still name an old primary. They are also asked while
 * all is well: an old primary that was only paused wakes up believing that it is one, and would take calls that are
 * lost when it learns better.
 */

import type { Call } from "./link-call.ts";
import type { Connection, Surroundings } from "./link-connection.ts";
import { Keeper } from "./link-keeper.ts";
import { type Address, addressText, type RedisPlace } from "./link-place.ts";
import type { Primaries, PrimariesOptions } from "./link-primaries.ts";
import { Primary } from "./link-primary.ts";
import { within } from "./link-within.ts";
import { notPrimary, problemOf, RedisProblem } from "./problem.ts";

const ASK_EVERY_MS = 500;
/** After the first answer, the other sentinels have so long to know better. */
const GRACE_MS = 50;

/** The primary behind some sentinels. */
export class SentinelPrimary implements Primaries {
  readonly #primary: Primary;
  readonly #sentinels: Sentinels;
  /** What the sentinels said last. */
  #named: Address | null = null;
  #askedAt = 0;

  constructor(options: PrimariesOptions) {
    const { place } = options;
    this.#sentinels = new Sentinels({ ...options });
    this.#primary = new Primary({
      ...options,
      login: place,
      where: addressText(place.addresses[0]!),
      find: async () => {
        this.#named = await this.#sentinels.primary();
        return this.#named;
      },
    });
  }

  get problem(): RedisProblem | null {
    return this.#primary.problem;
  }

  start(): Promise<void> {
    return this.#primary.keeper.try();
  }

  send(call: Call): void {
    this.#primary.send(call);
  }

  findToHear(): Promise<Address> {
    return this.#sentinels.primary();
  }

  sweep(now: number, ears: Connection | null): void {
    this.#primary.sweep(now);
    if (now - this.#askedAt < ASK_EVERY_MS) return;
    this.#askedAt = now;
    this.#sentinels.primary().then(
      (address) => this.#follow(address, ears),
      // Nothing is known, so nothing changes; when the primary is lost too, that is the problem which is shown.
      () => {},
    );
  }

  close(problem: RedisProblem): void {
    this.#primary.keeper.close(problem);
    this.#sentinels.close(problem);
  }

  /** Leaves whoever is no longer the primary, and goes to the new one without waiting. */
  #follow(address: Address, ears: Connection | null): void {
    const { keeper } = this.#primary;
    const isNews = this.#named === null || addressText(this.#named) !== addressText(address);
    this.#named = address;
    for (const connection of [keeper.connection, ears])
      if (connection && addressText(connection.address) !== addressText(address))
        connection.end(notPrimary(connection.asked));
    if (isNews) void keeper.try();
  }
}

interface View {
  readonly address: Address;
  readonly epoch: number;
}

class Sentinels {
  readonly #options: Surroundings & { readonly place: RedisPlace };
  readonly #keepers: readonly Keeper[];

  constructor(options: Surroundings & { readonly place: RedisPlace }) {
    const { place } = options;
    const { sentinelUsername: username, sentinelPassword: password } = place;
    const login = { ...place, username, password, database: 0, isSentinel: true };
    this.#options = options;
    this.#keepers = place.addresses.map((address) => {
      const find = () => Promise.resolve(address);
      const prepare = () => Promise.resolve();
      return new Keeper({
        ...options,
        login,
        find,
        prepare,
        onChange: () => {},
        where: addressText(address),
      });
    });
  }

  /** Who is the primary. Rejects with the problem of one of the sentinels when none of them says. */
  async primary(): Promise<Address> {
    const views: View[] = [];
    const asks = this.#keepers.map(async (keeper) => {
      views.push(await this.#ask(keeper));
    });
    try {
      await Promise.any(asks);
    } catch (thrown) {
      const problems = (thrown as AggregateError).errors as RedisProblem[];
      // What a sentinel says is worth more than that another says nothing.
      throw problems.find(({ kind }) => kind !== "away" && kind !== "slow") ?? problems[0];
    }
    await within(Promise.allSettled(asks), GRACE_MS, this.#options.world.timers);
    return views.reduce((newest, view) => (view.epoch > newest.epoch ? view : newest)).address;
  }

  close(problem: RedisProblem): void {
    for (const keeper of this.#keepers) keeper.close(problem);
  }

  async #ask(keeper: Keeper): Promise<View> {
    await keeper.try();
    const { connection } = keeper;
    if (!connection) throw keeper.problem;
    try {
      const words = ["SENTINEL", "MASTER", this.#options.place.masterName ?? ""];
      return viewIn(await connection.send(words), connection);
    } catch (thrown) {
      throw problemOf(thrown, connection.asked);
    }
  }
}

/** A sentinel's answer is a flat list of names and values. */
function viewIn(answer: unknown, { asked }: Connection): View {
  const words = Array.isArray(answer) ? answer.map(String) : [];
  const fields = new Map(words.map((word, i) => [i % 2 === 0 ? word : "", words[i + 1] ?? ""]));
  const [host, port] = [fields.get("ip"), Number(fields.get("port"))];
  if (!host || !(port > 0))
    throw new RedisProblem(
      "other",
      `The sentinel at ${asked.where} does not say where the primary is.`,
      true,
    );
  return { address: { host, port }, epoch: Number(fields.get("config-epoch")) || 0 };
}
