/**
 * Calls to the primaries of a cluster, each over the connection of the node that owns the key's hash slot.
 *
 * The owners of hash slots are requested at the start, now and then, and often while something is wrong; each time from another
 * node, since a node that was cut off may be behind. When a node answers that a hash slot has moved, that counts at once. Calls
 * that it refused for this reason are sent to the new node in order, and later calls come after them. The answer to a PING that
 * was sent last to the old node shows that nothing is under way there any more.
 */

import { Backlog } from "./backlog.ts";
import type { RedisCall } from "./call.ts";
import type { Login } from "./client.ts";
import { type Connection, tooMany, UNANSWERED_MAX } from "./connection.ts";
import { keySlot, SLOT_COUNT } from "./key-slot.ts";
import type { Primaries, PrimariesOptions } from "./primaries.ts";
import { Primary } from "./primary.ts";
import {
  type AskedServer,
  movedTo,
  notPrimary,
  RedisProblem,
  redisProblemOf,
  refusalFor,
} from "./problem.ts";
import { addressIn, addressText, type ServerAddress } from "./servers.ts";
import { askForSlots, askNodeForSlots, missingSlots, type SlotRange } from "./slots.ts";
import { within } from "./within.ts";

/** How often the hash slots are requested: while all is well, while something is wrong, and at least while no node answers. */
const ASK_EVERY_MS = 5_000;
const ASK_OFTEN_MS = 300;
const ASK_OFTEN_MAX_MS = 2_000;
/** How often a call follows its hash slot; beyond that the nodes disagree. */
const MOVES_MAX = 3;

export class ClusterPrimaries implements Primaries {
  readonly #options: PrimariesOptions;
  readonly #login: Login;
  readonly #asked: AskedServer;
  /** The primaries that have hash slots, by `host:port`. */
  readonly #nodes = new Map<string, Primary>();
  readonly #slots = new Array<Primary | null>(SLOT_COUNT).fill(null);
  /** Calls for hash slots that are moving between nodes. */
  readonly #moving = new Map<number, Backlog>();
  /** Nodes that may know the hash slots: those in the settings, and all that were ever named. */
  readonly #known = new Map<string, ServerAddress>();
  #slotsProblem: RedisProblem | null;
  #asking: Promise<void> | null = null;
  /** When to ask next, and when if something is wrong. */
  #askAt = 0;
  #askAgainAt = 0;
  /** How often in a row no node could answer. */
  #failures = 0;
  #turn = 0;
  #isClosed = false;

  constructor(options: PrimariesOptions) {
    const { servers } = options;
    this.#options = options;
    this.#login = { ...servers, database: 0 };
    this.#asked = { where: servers.addresses.map(addressText).join(", "), mode: "cluster" };
    for (const address of servers.addresses) this.#known.set(addressText(address), address);
    const text = `The cluster of ${this.#asked.where} is not connected yet.`;
    this.#slotsProblem = new RedisProblem("away", text, true);
  }

  get problem(): RedisProblem | null {
    if (this.#slotsProblem) return this.#slotsProblem;
    for (const node of this.#nodes.values()) if (node.problem) return node.problem;
    return null;
  }

  async start(): Promise<void> {
    await this.#ask();
    await Promise.all([...this.#nodes.values()].map((node) => node.keeper.try()));
  }

  send(call: RedisCall): void {
    const slot = call.key === null ? null : keySlot(call.key);
    const backlog = slot === null ? undefined : this.#moving.get(slot);
    const node = slot === null ? this.#anyNode() : this.#slots[slot];
    if (!node) call.reject(refusalFor(this.#slotsProblem ?? noNode(this.#asked)));
    else if (!backlog) node.send(call);
    else if (backlog.size >= UNANSWERED_MAX) call.reject(tooMany(this.#asked));
    else backlog.hold(call);
  }

  findToHear(): Promise<ServerAddress> {
    const connection = this.#anyNode()?.keeper.connection;
    return connection
      ? Promise.resolve(connection.address)
      : Promise.reject(this.problem ?? noNode(this.#asked));
  }

  sweep(now: number, ears: Connection | null): void {
    for (const node of this.#nodes.values()) node.sweep(now);
    // A node that was removed from the cluster would stay silent for ever.
    if (ears && !this.#nodes.has(addressText(ears.address))) ears.end(notPrimary(ears.asked));
    if (now >= this.#askAt || (this.problem && now >= this.#askAgainAt)) void this.#ask();
  }

  close(problem: RedisProblem): void {
    this.#isClosed = true;
    for (const node of this.#nodes.values()) node.keeper.close(problem);
  }

  /** An answering node, each time another; if there is none, any. */
  #anyNode(): Primary | undefined {
    const nodes = [...this.#nodes.values()];
    const well = nodes.filter((node) => node.keeper.connection && !node.keeper.problem);
    const choice = well.length > 0 ? well : nodes;
    return choice[this.#turn++ % choice.length];
  }

  /** Requests the hash slots; one request at a time. Never rejects. */
  #ask(): Promise<void> {
    this.#asking ??= this.#askOnce().finally(() => {
      this.#asking = null;
      this.#planNext(this.#options.world.clock.now());
    });
    return this.#asking;
  }

  #planNext(now: number): void {
    const jitter = 0.5 + this.#options.world.random.fraction() / 2;
    this.#askAt = now + ASK_EVERY_MS * jitter;
    this.#askAgainAt = now + Math.min(ASK_OFTEN_MAX_MS, ASK_OFTEN_MS * 2 ** this.#failures) * jitter;
  }

  async #askOnce(): Promise<void> {
    try {
      const ranges = await this.#askSomeone();
      this.#failures = 0;
      if (!this.#isClosed) this.#apply(ranges);
    } catch (thrown) {
      this.#failures++;
      this.#slotsProblem = redisProblemOf(thrown, this.#asked);
    }
    this.#options.onChange();
  }

  async #askSomeone(): Promise<readonly SlotRange[]> {
    const connection = this.#anyNode()?.keeper.connection;
    if (connection && !connection.problem) return askForSlots(connection);
    const asks = [...this.#known.values()].map((address) =>
      askNodeForSlots({ ...this.#options, login: this.#login, address }),
    );
    try {
      return await Promise.any(asks);
    } catch (thrown) {
      throw (thrown as AggregateError).errors[0];
    }
  }

  #apply(ranges: readonly SlotRange[]): void {
    for (const { primary, replicas } of ranges)
      for (const address of [primary, ...replicas]) this.#known.set(addressText(address), address);
    this.#slots.fill(null);
    for (const { first, last, primary } of ranges) this.#slots.fill(this.#nodeAt(primary), first, last + 1);
    const needed = new Set(this.#slots);
    for (const [where, node] of this.#nodes) if (!needed.has(node)) this.#retire(where, node);
    const missing = missingSlots(ranges);
    this.#slotsProblem = missing > 0 ? uncovered(this.#asked, missing) : null;
  }

  #nodeAt(address: ServerAddress): Primary {
    const where = addressText(address);
    const known = this.#nodes.get(where);
    if (known) return known;
    const node = new Primary({
      ...this.#options,
      login: this.#login,
      where,
      find: () => Promise.resolve(address),
      takeOver: (call, thrown, from) => this.#follow(call, thrown, from),
    });
    this.#nodes.set(where, node);
    void node.keeper.try();
    return node;
  }

  /** Leaves a node without hash slots, once it has answered everything. */
  #retire(where: string, node: Primary): void {
    this.#nodes.delete(where);
    const { connection } = node.keeper;
    const problem = notPrimary({ where, mode: "cluster" });
    if (!connection) return node.keeper.close(problem);
    void this.#within(connection.whenIdle()).then(() => node.keeper.close(problem));
  }

  #follow(call: RedisCall, thrown: unknown, from: Connection): boolean {
    const moved = movedTo(thrown);
    const to = moved && addressIn(moved.to);
    if (!to || this.#isClosed || call.moves >= MOVES_MAX) return false;
    call.moves++;
    const backlog = this.#moving.get(moved.slot);
    if (backlog) backlog.takeBack(call);
    else this.#move(moved.slot, call, from, this.#nodeAt({ ...to, host: to.host || from.address.host }));
    return true;
  }

  #move(slot: number, call: RedisCall, from: Connection, to: Primary): void {
    const backlog = new Backlog();
    backlog.takeBack(call);
    this.#moving.set(slot, backlog);
    this.#slots[slot] = to;
    const hasAnswered = from.send(["PING"]).catch(() => {
      // Then the old node is lost, with all that it had not answered.
    });
    void this.#within(Promise.all([hasAnswered, to.keeper.try()])).then(() => {
      this.#moving.delete(slot);
      backlog.send((waiting) => to.send(waiting), this.#options.world.clock.now(), this.#asked);
      void this.#ask();
    });
  }

  #within(work: Promise<unknown>): Promise<void> {
    return within(work, this.#options.timeoutMs, this.#options.world.timers);
  }
}

function noNode({ where }: AskedServer): RedisProblem {
  return new RedisProblem(
    "failover",
    `The cluster of ${where} has no node for this key: bring it back.`,
    true,
  );
}

function uncovered({ where }: AskedServer, missing: number): RedisProblem {
  const text = `The cluster of ${where} has no node for ${missing} of its ${SLOT_COUNT} hash slots: bring it back.`;
  return new RedisProblem("failover", text, true);
}
