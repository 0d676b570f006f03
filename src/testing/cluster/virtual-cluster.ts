/**
 * A few nodes on one virtual clock, for tests of what they do together: messages arrive in the step they are sent in, as
 * copies, unless `arrives` says that they are lost. The simulator draws faults at random; here a test causes each one itself.
 */
import { ANYBODY, type JoinAnswer, type TicketAnswer } from "../../core/engine.ts";
import type { Pass } from "../../core/pass.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import { ClusterNode } from "../../engines/cluster/node.ts";
import { DEFAULT_NODE_SETTINGS, type NodeSettings } from "../../engines/cluster/node-settings.ts";
import type { Message } from "../../engines/cluster/wire/message.ts";
import { copyOfMessage } from "../../sim/tunnel/message-copy.ts";

const STEP_MS = 10;
const SETTLE_MS = 3_000;

export class VirtualCluster {
  readonly nodes = new Map<string, ClusterNode>();
  now = Date.UTC(2026, 0, 1);
  /** Which messages arrive. */
  arrives: (from: string, to: string, message: Message) => boolean = () => true;
  #state = 1;
  #ids = 0;

  /** One node for each character of `names`, all in one view, with room `r` open. */
  constructor(names: string, rules: RoomRules, settings: Partial<NodeSettings> = {}) {
    for (const name of names) this.start(name, { join: name === names[0] ? [] : [names[0]!], ...settings });
    this.run(SETTLE_MS);
    for (const node of this.nodes.values()) node.configure("r", rules, this.now);
    this.run(SETTLE_MS);
  }

  start(name: string, settings: Partial<NodeSettings>): ClusterNode {
    const own = { ...DEFAULT_NODE_SETTINGS, name, life: 1, address: name, ...settings };
    const node = new ClusterNode(own, () => this.dice(), this.now);
    this.nodes.set(name, node);
    return node;
  }

  of(name: string): ClusterNode {
    return this.nodes.get(name)!;
  }

  /** The same numbers in every run. */
  dice(): number {
    this.#state = (Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return this.#state / 2 ** 32;
  }

  run(forMs: number): void {
    for (const end = this.now + forMs; this.now < end; this.now += STEP_MS) {
      for (const node of this.nodes.values()) if (!node.isGone) node.tick(this.now);
      this.deliver();
    }
  }

  deliver(): void {
    for (let isQuiet = false; !isQuiet; ) {
      isQuiet = true;
      for (const [from, node] of this.nodes)
        for (const { to, message } of node.takeOutbox()) {
          isQuiet = false;
          if (this.arrives(from, to, message))
            this.nodes.get(to)?.receive(from, copyOfMessage(message), this.now);
        }
    }
  }

  /** The answer that a newcomer at that node gets within a second. */
  join(name: string): JoinAnswer {
    const id = (++this.#ids).toString(16).padStart(32, "0");
    return this.#answered((answer) =>
      this.of(name).join("r", { id, newcomer: ANYBODY, dice: this.dice() }, this.now, answer),
    );
  }

  /** Someone who has to wait. */
  queue(name: string): Ticket {
    const answer = this.join(name);
    if (answer.kind !== "waiting") throw new Error(`"${answer.kind}" instead of a place`);
    return answer.ticket;
  }

  enter(name: string, ticket: Ticket): TicketAnswer {
    return this.#answered((answer) => this.of(name).enter(ticket, this.dice(), this.now, answer));
  }

  /** Runs until the node says that the place or visit is over. */
  leave(name: string, place: Ticket | Pass): void {
    this.#answered<true>((answer) => this.of(name).leave(place, this.now, () => answer(true)));
  }

  #answered<Answer>(ask: (answer: (given: Answer) => void) => void): Answer {
    const given: Answer[] = [];
    ask((answer) => given.push(answer));
    for (let ms = 0; given.length === 0 && ms < SETTLE_MS + 1_000; ms += STEP_MS) this.run(STEP_MS);
    if (given.length !== 1) throw new Error(`answered ${given.length} times`);
    return given[0]!;
  }
}
