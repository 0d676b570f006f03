/**
 * Which node decides about what. A place or visit belongs to its owner. An unknown one is decided by the node that gave its key
 * out or, when that node is gone, by the member `homeOf` names; so are invite codes and visits known by their pass alone.
 */
import { originOf } from "../../../core/ticket.ts";
import { nodeOfKey } from "../log/order-clock.ts";
import type { Replication } from "../log/replication.ts";
import { homeOf } from "../log/takeover.ts";
import { idOf, type Member, type View } from "../membership/view.ts";
import { keyOfPass, type Place, SELF } from "./place.ts";
import type { Op } from "./requests.ts";
import { currentTicket } from "./room-answers.ts";
import type { RoomBooks } from "./room-books.ts";

/** A member, this node, or none for the time being. */
export type CallRoute = string | "self" | null;

export interface RoutesParts {
  readonly self: string;
  readonly rooms: ReadonlyMap<string, RoomBooks>;
  readonly replication: Pick<Replication, "isSettled" | "isCaughtUp">;
}

export class Routes {
  readonly #parts: RoutesParts;
  #view: View | null = null;
  #byNumber: ReadonlyMap<number, Member> = new Map();

  constructor(parts: RoutesParts) {
    this.#parts = parts;
  }

  start(view: View): void {
    this.#view = view;
    this.#byNumber = new Map(view.members.map((member) => [member.number, member]));
  }

  /** The node for an operation. */
  of(op: Op): CallRoute {
    const { rooms } = this.#parts;
    if (op.op === "invite") return this.#home(keyOfPass(hexOf(op.invite.id)));
    if (op.op === "revoke" || op.op === "leaveVisit") return this.#ofVisit(op);
    const books = rooms.get(op.op === "seen" ? op.room : op.ticket.room);
    if (!books) return "self";
    const key = op.op === "seen" ? op.seen[0] : originOf(currentTicket(books, op.ticket));
    return books.over.has(key) ? "self" : this.ofPlace(books.places.get(key), key);
  }

  /** The node for a key, whether its place is known here or not. None while its owner is lost. */
  ofPlace(place: Place | undefined, key: number): CallRoute {
    return place ? this.#ownerOf(place) : this.#homeOfKey(key);
  }

  /** The node for the visit of a pass. */
  ofPass(visit: Place | undefined, id: string): CallRoute {
    return visit ? this.#ownerOf(visit) : this.#home(keyOfPass(id));
  }

  /** An unknown visit may have begun elsewhere a moment ago; any node may write that it is over. */
  #ofVisit({ room, id }: Extract<Op, { op: "revoke" | "leaveVisit" }>): CallRoute {
    const visit = this.#parts.rooms.get(room)?.visits.get(id);
    return visit ? this.#ownerOf(visit) : "self";
  }

  #ownerOf({ claim }: Place): CallRoute {
    if (claim.origin === SELF) return "self";
    return this.#view?.members.some((member) => idOf(member) === claim.owner) ? claim.owner : null;
  }

  /** The node for an unknown key: the one that gave it out, or its home. */
  #homeOfKey(key: number): CallRoute {
    const home = this.#homeOfUnknown(key);
    // Before all logs are read, this node cannot say that a key is unknown to all.
    return home === "self" && !this.#parts.replication.isCaughtUp ? null : home;
  }

  #homeOfUnknown(key: number): CallRoute {
    const node = nodeOfKey(Math.max(0, key));
    const giver = this.#byNumber.get(node);
    if (giver) return this.#orSelf(idOf(giver));
    // Only a part with the majority takes anything from members that may still be alive.
    const mayTake = this.#view?.isMajority === true && this.#parts.replication.isSettled;
    const isTheirs = !mayTake && this.#view?.lost.some((member) => member.number === node) === true;
    return isTheirs ? null : this.#home(key);
  }

  #home(key: number): string | "self" {
    return this.#view ? this.#orSelf(homeOf(key, this.#view)) : "self";
  }

  #orSelf(id: string): string | "self" {
    return id === this.#parts.self ? "self" : id;
  }
}

/** Hexadecimal digits for a text, to find its home. */
function hexOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(13, "0");
}
