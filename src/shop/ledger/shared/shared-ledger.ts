/**
 * A shop's ledger for many gateways on one Redis. One of them keeps it: it has the book in memory, decides, and writes to Redis
 * before anybody hears of it. The others ask it. When it ends or dies, another takes over with what is in Redis.
 *
 *   elsewhere ──nobody owns the records──▶ opening ──read──▶ here ──another owns them──▶ elsewhere
 *
 * Redis frees the records when their owner has been silent for a lease. A gateway takes them over only after Redis has answered
 * it for as long: after a failover, or when Redis has lost everything, the owner, which has it all in memory, comes first.
 *
 * Leases are measured by the machine's own clock and timers: the line's clock is Redis's, and another after a failover.
 */
import { toHex } from "../../../core/hex.ts";
import { LogPace } from "../../../core/log-pace.ts";
import type { World } from "../../../core/world.ts";
import { CallDesk, type LedgerMethods, RemoteCalls, ShopAway } from "./remote-calls.ts";
import { SharedDisk } from "./shared-disk.ts";
import { type KeptBy, type MayTake, type SharedLink, SharedRecords } from "./shared-records.ts";

export const LEASE_MS = 5_000;
/** A gateway looks this often whether the records are free. */
const LOOK_EVERY_MS = 1_000;
/** A call may take as long, through a change of owners; one that reads everything longer. */
const CALL_TIMEOUT_MS = 10_000;
const LONG_CALL_TIMEOUT_MS = 120_000;
const TOKEN_BYTES = 16;
const KEY_BYTES = 12;

/** A ledger on a disk that this gateway owns. */
export interface OwnLedger {
  readonly methods: LedgerMethods;
  /** Resolves when nothing can be written any more. */
  readonly broken: Promise<Error>;
  close(): Promise<void>;
}

/** What has to be known of a method of the ledger. */
export interface MethodKind {
  /** Which of its arguments is the idempotency key; null: done twice it does nothing more. */
  readonly keyAt: number | null;
  readonly isLong?: boolean;
}

export interface SharedLedgerParts {
  readonly shop: string;
  readonly className: string;
  readonly link: SharedLink;
  readonly kept: KeptBy;
  readonly prefix: string;
  /** The machine's. */
  readonly world: World;
  /** The owner may be silent for as long. */
  readonly leaseMs?: number;
  readonly callTimeoutMs?: number;
  readonly methods: Readonly<Record<string, MethodKind>>;
  /** Opens the ledger here. */
  readonly open: (disk: SharedDisk) => OwnLedger;
}

interface Here {
  readonly disk: SharedDisk;
  readonly ledger: OwnLedger;
  readonly desk: CallDesk;
}

export class SharedLedger {
  /** As the rest of the process asks it. */
  readonly desk: LedgerMethods;
  readonly #parts: SharedLedgerParts;
  readonly #base: string;
  readonly #leaseMs: number;
  readonly #remote: RemoteCalls;
  readonly #stop: (() => void)[];
  /** A gateway that starts looks first whether it has to keep the ledger. */
  readonly #hasLooked: Promise<void>;
  readonly #unread = new LogPace();
  #here: Here | null = null;
  /** Names this gateway as the owner, until it has been one. */
  #token: string;
  #looking: Promise<void> | null = null;
  #isClosed = false;
  /** Nothing after Redis was away, and everything once it has answered for a lease. */
  #mayTake: MayTake = "nothing";
  #stopWaiting = () => {};

  constructor(parts: SharedLedgerParts) {
    const { shop, link, world, prefix, leaseMs = LEASE_MS } = parts;
    this.#parts = parts;
    this.#leaseMs = leaseMs;
    this.#base = sharedBase(prefix, shop);
    this.#remote = new RemoteCalls({ link, world, shop, base: this.#base });
    this.#token = toHex(world.random.bytes(TOKEN_BYTES));
    this.#waitForOwner(link.problem === null ? "whatIsFree" : "nothing");
    this.#stop = [
      // Whatever it is: a problem may also be another node's, or hide that of ours.
      link.onProblem(() => this.#waitForOwner("nothing")),
      () => this.#stopWaiting(),
      link.hear(`${this.#base}:free`, { onMessage: () => void this.look(), onGap: () => {} }),
      world.timers.every(LOOK_EVERY_MS, () => void this.look()),
    ];
    const methods = Object.entries(parts.methods);
    this.desk = Object.fromEntries(
      methods.map(([name, kind]) => [name, (...args: unknown[]) => this.#ask(name, kind, args)]),
    );
    this.#hasLooked = this.look();
  }

  /** Whether this gateway keeps the ledger. */
  get isHere(): boolean {
    return this.#here !== null;
  }

  /** Takes the records if nobody owns them. Never fails. */
  look(): Promise<void> {
    if (this.#here || this.#isClosed) return Promise.resolve();
    this.#looking ??= this.#take()
      .catch((cause: unknown) => this.#onUnread(cause))
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stop of this.#stop) stop();
    // What is being taken is given back.
    await this.#looking;
    const here = this.#here;
    this.#here = null;
    if (here) await this.#leave(here);
    this.#remote.close();
  }

  async #take(): Promise<void> {
    const { link, world, shop, className, kept, open } = this.#parts;
    const leaseMs = this.#leaseMs;
    const records = new SharedRecords({ link, base: this.#base, token: this.#token, leaseMs, kept });
    const takenAt = world.clock.now();
    const taken = await records.take(this.#mayTake);
    if (!taken) return;
    const object = { className, name: shop };
    const disk = await SharedDisk.open({ records, taken, object, takenAt, leaseMs, world });
    this.#token = toHex(world.random.bytes(TOKEN_BYTES));
    if (this.#isClosed) return disk.close();
    const ledger = open(disk);
    const parts = { link, world, shop, base: this.#base };
    const here: Here = { disk, ledger, desk: new CallDesk(parts, ledger.methods, () => disk.isOwned) };
    this.#here = here;
    world.log.info({ shop }, "this gateway keeps the shop's stock");
    void Promise.race([disk.gone, ledger.broken]).then(() => this.#onLost(here));
  }

  /** An owner that is there still needs less than a lease to say so. */
  #waitForOwner(mayTake: MayTake): void {
    this.#stopWaiting();
    this.#mayTake = mayTake;
    this.#stopWaiting = this.#parts.world.timers.after(this.#leaseMs, () => {
      this.#mayTake = "all";
    });
  }

  #onUnread(err: unknown): void {
    this.#waitForOwner("nothing");
    const { world, shop } = this.#parts;
    const message = "a shop's records cannot be read yet";
    // What is wrong with Redis is told already.
    if ((err as Error).name === "RedisProblem") world.log.debug({ err, shop }, message);
    else if (this.#unread.add(world.clock.now()) > 0) world.log.error({ err, shop }, message);
  }

  async #onLost(here: Here): Promise<void> {
    if (this.#here !== here) return;
    this.#here = null;
    const { world, shop } = this.#parts;
    world.log.warn({ shop }, "another gateway keeps the shop's stock");
    here.desk.close();
    await here.ledger.close();
  }

  async #leave({ disk, ledger, desk }: Here): Promise<void> {
    const { link, world } = this.#parts;
    desk.close();
    const stop = world.timers.after(this.#leaseMs, () => disk.giveUp());
    await ledger.close();
    stop();
    await link.command(null, ["PUBLISH", `${this.#base}:free`, ""]).catch(() => {});
  }

  async #ask(name: string, { keyAt, isLong = false }: MethodKind, args: unknown[]): Promise<unknown> {
    const { world, shop } = this.#parts;
    // So that it is done once, also when an owner dies before it can say that it was done.
    if (keyAt !== null) args[keyAt] ??= toHex(world.random.bytes(KEY_BYTES));
    const timeoutMs = isLong ? LONG_CALL_TIMEOUT_MS : (this.#parts.callTimeoutMs ?? CALL_TIMEOUT_MS);
    const until = world.clock.now() + timeoutMs;
    await this.#hasLooked;
    const here = this.#here;
    if (here?.disk.isOwned) {
      try {
        return await this.#within(timeoutMs, here.ledger.methods[name]!(...(args as never[])));
      } catch (error) {
        if (here.disk.isOwned) throw error;
      }
    }
    const leftMs = until - world.clock.now();
    if (leftMs <= 0) throw new ShopAway(shop);
    return this.#remote.ask(name, args, leftMs);
  }

  /** While Redis is away nothing is confirmed: the caller is told so in time. */
  #within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
    const { world, shop } = this.#parts;
    return new Promise((resolve, reject) => {
      const stop = world.timers.after(timeoutMs, () => reject(new ShopAway(shop)));
      work.then(resolve, reject).finally(stop);
    });
  }
}

/** What the names of a shop's keys and channels begin with. The braces keep its keys together in a Redis Cluster. */
export function sharedBase(prefix: string, shop: string): string {
  return `${prefix}:{shop:${shop}}`;
}
