/** A node that shares one desk with all others; see `one-desk.ts`. */

import type { Board } from "../../core/board.ts";
import type { Counts, JoinAnswer, Presence, TicketAnswer } from "../../core/engine.ts";
import type { Pass } from "../../core/pass.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import { treeOf } from "../../engines/cluster/membership/tree.ts";
import type { IdentifiedNewcomer } from "../../engines/cluster/node.ts";
import type { NodeSettings } from "../../engines/cluster/node-settings.ts";
import type { Dice } from "../../sim/tunnel/dice.ts";
import type {
  MakeNode,
  SimNode,
  SimNodeEvent,
  SimNodeStatus,
  SimOutgoing,
} from "../../sim/tunnel/sim-node.ts";
import type { OneDesk } from "./one-desk.ts";

const TICK_MS = 100;

/** Nodes that share this desk. */
export function nodesOf(desk: OneDesk): MakeNode {
  return (settings, dice, now) => new DeskNode(desk, settings, { dice, now });
}

class DeskNode implements SimNode {
  isGone = false;
  readonly #desk: OneDesk;
  readonly #settings: NodeSettings;
  readonly #dice: Dice;
  #nextAt: number;
  #outbox: SimOutgoing[] = [];
  #events: SimNodeEvent[] = [];
  /** How many ended visits its gateway has been told of. */
  #toldOf = 0;
  /** An object that is put into messages and changed afterwards. */
  readonly #sent: number[] = [];

  constructor(desk: OneDesk, settings: NodeSettings, { dice, now }: { dice: Dice; now: number }) {
    this.#desk = desk;
    this.#settings = settings;
    this.#dice = dice;
    this.#nextAt = now;
  }

  configure(_room: string, rules: RoomRules): void {
    this.#desk.rules = rules;
  }

  receive(from: string, message: unknown, now: number): void {
    const { sent = [] } = message as { sent?: readonly number[] };
    const isWise = sent.length % 3 === 0 && this.#desk.is("shares messages");
    if (isWise) this.#write(from, now);
  }

  tick(now: number): void {
    this.#nextAt = now + TICK_MS;
    const self = this.#desk.seen(this.#settings, now);
    if (this.#desk.is("throws")) throw new Error("thrown on purpose");
    this.#events.push(...this.#desk.admit(this.#dice));
    for (const { number, address } of this.#desk.members)
      if (number !== self.number) this.#write(address, now);
  }

  nextAt(): number {
    return this.#nextAt;
  }

  takeOutbox(): SimOutgoing[] {
    return this.#outbox.splice(0);
  }

  takeEvents(): SimNodeEvent[] {
    const { ended } = this.#desk;
    while (this.#toldOf < ended.length)
      this.#events.push({ kind: "revoked", room: "main", id: ended[this.#toldOf++]! });
    return this.#events.splice(0);
  }

  join(_room: string, visitor: IdentifiedNewcomer, now: number, answer: (answer: JoinAnswer) => void): void {
    answer(this.#desk.join(visitor, now));
  }

  checkIn(ticket: Ticket, dice: number, now: number): TicketAnswer {
    return this.#desk.show(ticket, dice, now, false);
  }

  enter(ticket: Ticket, dice: number, now: number, answer: (answer: TicketAnswer) => void): void {
    answer(this.#desk.show(ticket, dice, now, true));
    if (this.#desk.is("answers twice")) answer(this.#desk.show(ticket, dice, now, true));
  }

  touch(_room: string, presences: readonly Presence[]): void {
    for (const { id, expiresAt } of presences) this.#desk.touch(id, expiresAt);
  }

  leave({ id }: Ticket | Pass, _now: number, done: () => void): void {
    this.#desk.leave(id);
    done();
  }

  leaveCluster(): void {
    this.#desk.gone(this.#settings.name);
    this.isGone = true;
  }

  counts(): Counts {
    const { ownWaiting, visits } = this.#desk.figures;
    return { waiting: ownWaiting + (this.#desk.is("miscounted") ? 1 : 0), onSite: visits } as Counts;
  }

  board(): Board {
    throw new Error("a desk has no board");
  }

  status(): SimNodeStatus {
    const { name, life } = this.#settings;
    const { members, version } = this.#desk;
    const number = members.find((member) => member.name === name && member.life === life)?.number ?? null;
    const rootNumber = members[this.#desk.is("root elsewhere") ? members.length - 1 : 0]?.number;
    const shown = this.#desk.is("member forgotten") ? members.slice(0, -1) : members;
    const view = { version, members: shown, lost: [], isMajority: true };
    const isHome = number !== null && number === members[0]?.number;
    return {
      name,
      life,
      number,
      view: number === null ? null : view,
      isRoot: number === rootNumber || (this.#desk.is("two roots") && number === 1),
      pointer: number === null || number === rootNumber ? null : this.#pointer(number, rootNumber!),
      isSettled: true,
      rooms: { main: this.#room(isHome) },
    };
  }

  #pointer(number: number, rootNumber: number): number {
    const numbers = this.#desk.members.map((member) => member.number);
    if (this.#desk.is("pointer astray")) return numbers.at(-1)!;
    return treeOf(numbers).towards(number, rootNumber);
  }

  /** Everything is at the node with the lowest number. */
  #room(isHome: boolean): SimNodeStatus["rooms"][string] {
    const { ownFirst, ownWaiting, turns, visits } = this.#desk.figures;
    const spare = this.#desk.is("slot twice") ? this.#desk.rules.totalActiveUsers! : 0;
    if (isHome) return { ownFirst, ownWaiting, turns, visits, spare, waiting: ownWaiting };
    return { ownFirst: null, ownWaiting: 0, turns: 0, visits: 0, spare, waiting: ownWaiting };
  }

  #write(to: string, now: number): void {
    this.#sent.push(now);
    const isShared = this.#desk.is("shares messages");
    const message = { kind: "tidings", sent: isShared ? this.#sent : [now] };
    this.#outbox.push({
      to,
      message: this.#desk.is("copies too little") ? new Map([["message", message]]) : message,
    });
  }
}
