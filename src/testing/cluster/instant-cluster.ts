/**
 * Several nodes as one engine, over a network on which every message arrives at once, for the suites that every engine passes.
 * Visitors join at the first node and are then served by the nodes in turn, so that no visitor is served twice in a row by the
 * owner of their place.
 */
import type { Board } from "../../core/board.ts";
import type { DrawRecord } from "../../core/draw.ts";
import type {
  Admission,
  Counts,
  Engine,
  EngineListener,
  Entered,
  JoinAnswer,
  Load,
  Newcomer,
  Presence,
  TicketAnswer,
} from "../../core/engine.ts";
import type { Pass } from "../../core/pass.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import type { World } from "../../core/world.ts";
import { ClusterEngine } from "../../engines/cluster/cluster-engine.ts";
import { DEFAULT_NODE_SETTINGS } from "../../engines/cluster/node-settings.ts";
import { copyOfMessage } from "../../sim/tunnel/message-copy.ts";

const MESSAGES_MAX = 100_000;
/** Visitors are admitted only on the test's command. */
const NEVER_MS = 1e9;

export class InstantCluster implements Engine {
  readonly #nodes: ClusterEngine[];
  readonly #post: { from: string; to: string; message: unknown }[] = [];
  readonly #budgeted = new Set<string>();
  #next = 0;

  constructor(world: World, size: number) {
    const names = Array.from({ length: size }, (_, index) => `n${index}`);
    this.#nodes = names.map((name, index) => {
      const join = index === 0 ? [] : ["n0"];
      const settings = {
        ...DEFAULT_NODE_SETTINGS,
        // Messages take no time there.
        spreadMs: 0,
        replicateMs: 0,
        intervalMs: NEVER_MS,
        name,
        address: name,
        life: 1,
        join,
      };
      return new ClusterEngine(world, settings, (to, message) =>
        this.#post.push({ from: name, to, message }),
      );
    });
    this.#pump();
  }

  async join(room: string, newcomer?: Newcomer): Promise<JoinAnswer> {
    // Rooms that share a capacity get their shares ahead of time, so there is a round between two newcomers.
    if (this.#budgeted.has(room) && this.#first.counts(room).waiting === 0) await this.admit(room);
    return this.#do(this.#first, (node) => node.join(room, newcomer));
  }

  async checkIn(ticket: Ticket): Promise<TicketAnswer> {
    return this.#do(this.#another(), (node) => node.checkIn(ticket));
  }

  async enter(ticket: Ticket): Promise<TicketAnswer> {
    return this.#do(this.#another(), (node) => node.enter(ticket));
  }

  async hasRoom(room: string): Promise<boolean> {
    if (this.#budgeted.has(room)) await this.admit(room);
    return this.#do(this.#first, (node) => node.hasRoom(room));
  }

  async resume(pass: Pass, mayBegin: boolean): Promise<Entered | null> {
    return this.#do(this.#first, (node) => node.resume(pass, mayBegin));
  }

  async touch(room: string, presences: readonly Presence[]): Promise<void> {
    return this.#do(this.#another(), (node) => node.touch(room, presences));
  }

  async leave(place: Ticket | Pass): Promise<void> {
    return this.#do(this.#another(), (node) => node.leave(place));
  }

  async revoke(room: string, id: string): Promise<boolean> {
    return this.#do(this.#another(), (node) => node.revoke(room, id));
  }

  vacated(): void {}

  async report(room: string, load: Load): Promise<void> {
    return this.#do(this.#first, (node) => node.report(room, load));
  }

  async counts(room: string): Promise<Counts> {
    return this.#do(this.#another(), (node) => node.counts(room));
  }

  async board(room: string): Promise<Board> {
    return this.#do(this.#another(), (node) => node.board(room));
  }

  async draw(room: string, event: string): Promise<DrawRecord | null> {
    return this.#do(this.#another(), (node) => node.draw(room, event));
  }

  async configure(room: string, rules: RoomRules): Promise<void> {
    for (const node of this.#nodes) node.configure(room, rules);
    this.#pump();
    if (rules.budget) this.#budgeted.add(room);
    // Slots are distributed before the next visitor comes.
    if (this.#first.counts(room).waiting === 0) await this.admit(room);
  }

  async admit(room: string): Promise<Admission> {
    this.#pump();
    const before = this.#turnsGiven(room);
    const root = this.#nodes.find((node) => node.status().isRoot)!;
    root.admit(room);
    this.#pump();
    const reason = root.lastAdmission(room)?.reason ?? "line empty";
    return { admitted: this.#turnsGiven(room) - before, reason };
  }

  subscribe(listener: EngineListener): () => void {
    return this.#first.subscribe(listener);
  }

  async close(): Promise<void> {
    for (const node of this.#nodes) node.stop();
  }

  get #first(): ClusterEngine {
    return this.#nodes[0]!;
  }

  #turnsGiven(room: string): number {
    const { admitted, straightThrough } = this.#first.counts(room).totals;
    return admitted - straightThrough;
  }

  #another(): ClusterEngine {
    this.#next = (this.#next + 1) % this.#nodes.length;
    return this.#nodes[this.#next]!;
  }

  async #do<T>(node: ClusterEngine, work: (node: ClusterEngine) => T | Promise<T>): Promise<T> {
    this.#pump();
    const answer = work(node);
    this.#pump();
    return answer;
  }

  /** Delivers messages until there are none left. */
  #pump(): void {
    let delivered = 0;
    for (let quiet = 0; quiet < 2; quiet++) {
      for (const node of this.#nodes) node.tick();
      for (let one = this.#post.shift(); one; one = this.#post.shift()) {
        if (++delivered > MESSAGES_MAX) throw new Error("the nodes never stop writing to each other");
        const { from, to, message } = one;
        const node = this.#nodes[Number(to.slice(1))]!;
        node.deliver(from, copyOfMessage(message));
        node.flush();
        quiet = 0;
      }
    }
  }
}
