/**
 * Calls to the primary that the sentinels name. All sentinels are queried, over connections that stay open, and their newest
 * answer counts, since a sentinel that was cut off may still name an old primary. They are also queried while all is well: an
 * old primary that was only paused wakes up believing that it is the primary, and would accept calls that are lost when it
 * learns better.
 */
import type { Connection, Surroundings } from "./connection.ts";
import { Keeper } from "./keeper.ts";
import type { Primaries, PrimariesOptions } from "./primaries.ts";
import { Primary } from "./primary.ts";
import { notPrimary, RedisProblem, redisProblemOf } from "./problem.ts";
import { addressText, type RedisServers, type ServerAddress } from "./servers.ts";
import { within } from "./within.ts";

const ASK_EVERY_MS = 500;
/** How long after the first answer another sentinel may still have a newer one. */
const GRACE_MS = 50;

/** The primary behind some sentinels. */
export class SentinelPrimary extends Primary implements Primaries {
  readonly #open: PrimariesOptions["open"];
  readonly #sentinels: Sentinels;
  /** The sentinels' last answer. */
  #named: ServerAddress | null = null;
  #askedAt = 0;

  constructor(options: PrimariesOptions) {
    const { servers } = options;
    const find = async () => {
      this.#named = await this.#sentinels.primary();
      return this.#named;
    };
    super({ ...options, login: servers, where: addressText(servers.addresses[0]!), find });
    this.#open = options.open;
    this.#sentinels = new Sentinels(options);
  }

  findToHear(): Promise<ServerAddress> {
    return this.#sentinels.primary();
  }

  override sweep(now: number): void {
    super.sweep(now);
    if (now - this.#askedAt < ASK_EVERY_MS) return;
    this.#askedAt = now;
    this.#sentinels.primary().then(
      (address) => this.#follow(address),
      // Nothing is known, so nothing changes; when the primary is lost too, that is the problem shown.
      () => {},
    );
  }

  override close(problem: RedisProblem): void {
    super.close(problem);
    this.#sentinels.close(problem);
  }

  /** Ends connections to servers that are no longer the primary, open or not, and connects to the new one at once. */
  #follow(address: ServerAddress): void {
    const isNews = this.#named === null || addressText(this.#named) !== addressText(address);
    this.#named = address;
    for (const connection of this.#open) {
      const isThere = addressText(connection.address) === addressText(address);
      if (!connection.asked.isSentinel && !isThere) connection.end(notPrimary(connection.asked));
    }
    if (isNews) void this.keeper.try();
  }
}

interface View {
  readonly address: ServerAddress;
  readonly epoch: number;
}

class Sentinels {
  readonly #options: Surroundings & { readonly servers: RedisServers };
  readonly #keepers: readonly Keeper[];
  #asking: Promise<ServerAddress> | null = null;
  /** The epoch of the last accepted answer: each failover has a higher one. */
  #epoch = 0;

  constructor(options: Surroundings & { readonly servers: RedisServers }) {
    const { servers } = options;
    const { sentinelUsername: username, sentinelPassword: password } = servers;
    const login = { ...servers, username, password, database: 0, isSentinel: true };
    this.#options = options;
    this.#keepers = servers.addresses.map((address) => {
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

  /** Finds the primary. Rejects with the problem of one of the sentinels when none names it. */
  primary(): Promise<ServerAddress> {
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  close(problem: RedisProblem): void {
    for (const keeper of this.#keepers) keeper.close(problem);
  }

  async #askAll(): Promise<ServerAddress> {
    const views: View[] = [];
    const asks = this.#keepers.map(async (keeper) => {
      views.push(await this.#ask(keeper));
    });
    try {
      await Promise.any(asks);
    } catch (thrown) {
      const problems = (thrown as AggregateError).errors as RedisProblem[];
      // One answer counts more than missing ones.
      throw problems.find(({ kind }) => kind !== "away" && kind !== "slow") ?? problems[0];
    }
    const all = Promise.allSettled(asks);
    await within(all, GRACE_MS, this.#options.world.timers);
    // An older answer is accepted only when there is no newer one.
    if (newest(views).epoch < this.#epoch) await all;
    const { epoch, address } = newest(views);
    this.#epoch = epoch;
    return address;
  }

  async #ask(keeper: Keeper): Promise<View> {
    await keeper.try();
    const { connection } = keeper;
    if (!connection) throw keeper.problem;
    const name = this.#options.servers.masterName ?? "";
    try {
      // Until all replicas have followed, the sentinel that leads a failover gives the old address here, so only the epoch is
      // used.
      const state = connection.send(["SENTINEL", "MASTER", name]);
      const address = connection.send(["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name]);
      return viewIn(await Promise.all([state, address]), connection);
    } catch (thrown) {
      throw redisProblemOf(thrown, connection.asked);
    }
  }
}

function newest(views: readonly View[]): View {
  return views.reduce((best, view) => (view.epoch > best.epoch ? view : best));
}

/** The state is a flat list of names and values, the address a list of two. */
function viewIn([state, address]: readonly unknown[], { asked }: Connection): View {
  const words = Array.isArray(state) ? state.map(String) : [];
  const [host, port] = Array.isArray(address) ? [String(address[0]), Number(address[1])] : ["", 0];
  if (host === "" || !(port > 0))
    throw new RedisProblem(
      "other",
      `The sentinel at ${asked.where} does not say where the primary is.`,
      true,
    );
  const epoch = Number(words[words.indexOf("config-epoch") + 1]);
  return { address: { host, port }, epoch: Number.isFinite(epoch) ? epoch : 0 };
}
