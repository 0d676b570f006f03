/** A node as operators and checks see it: its view, the tree and the root, and what it has of each room. */

import type { Qpid } from "./door/qpid.ts";
import type { Replication } from "./log/replication.ts";
import type { ClockWatch } from "./membership/clock-watch.ts";
import type { Membership } from "./membership/membership.ts";
import type { Swim, SwimState } from "./membership/swim.ts";
import { idOf, type Member, viewNumber } from "./membership/view.ts";
import { ADMITTED, ON_SITE, WAITING } from "./visitors/place.ts";
import type { RoomBooks } from "./visitors/room-books.ts";

export interface NodeStatus {
  readonly name: string;
  readonly life: number;
  readonly slot: number | null;
  readonly view: ViewStatus | null;
  readonly isRoot: boolean;
  /** Slot of the node that counted last, in this view. */
  readonly root: number | null;
  /** Slot of the neighbour towards the root; null when it is here. */
  readonly pointer: number | null;
  /** It knows what the others know: nothing is left to exchange in this view. */
  readonly isSettled: boolean;
  readonly rounds: number;
  /** It has left, or another took its name: it does nothing any more. */
  readonly isGone: boolean;
  /** Why it is in no cluster. */
  readonly problem: string | null;
  readonly rooms: Readonly<Record<string, RoomStatus>>;
  /** What each owner has of each room, as known here, where that was asked for: it looks at every place. */
  readonly counts: Readonly<Record<string, Readonly<Record<string, OwnerCounts>>>>;
}

export interface OwnerCounts {
  readonly waiting: number;
  readonly turns: number;
  readonly onSite: number;
}

export interface ViewStatus {
  readonly version: number;
  /** Different for different views of the same version. */
  readonly number: number;
  readonly members: readonly MemberStatus[];
  readonly lost: readonly Member[];
  readonly isMajority: boolean;
}

export interface MemberStatus extends Member {
  readonly is: SwimState;
  /** By how much its clock is ahead of this node's, where that is more than it may be. */
  readonly clockWrongMs: number | null;
}

export interface RoomStatus {
  /** The smallest order key of this node's who waits. */
  readonly ownFirst: number | null;
  readonly ownWaiting: number;
  readonly turns: number;
  readonly visits: number;
  readonly spare: number;
  /** Of all nodes, as known here. */
  readonly waiting: number;
}

export function statusOf(parts: {
  membership: Membership;
  qpid: Qpid;
  swim: Swim;
  replication: Replication;
  rooms: ReadonlyMap<string, RoomBooks>;
  clocks: ClockWatch;
  root: number | null;
  rounds: number;
  isCounted: boolean;
}): NodeStatus {
  const { membership, qpid, swim, replication, rooms, rounds } = parts;
  const { view, selfId } = membership;
  const [name, life] = splitId(selfId);
  return {
    ...{ name, life, slot: membership.slot, rounds, problem: membership.problem, isGone: membership.isGone },
    view: view && {
      version: view.version,
      number: viewNumber(view),
      members: view.members.map((member) => ({
        ...member,
        is: swim.state(idOf(member)) ?? "alive",
        clockWrongMs: parts.clocks.wrongBy(idOf(member)),
      })),
      lost: view.lost,
      isMajority: view.isMajority,
    },
    isRoot: qpid.isRoot,
    root: qpid.isRoot ? membership.slot : parts.root,
    pointer: qpid.pointer,
    isSettled: replication.isSettled && replication.isCaughtUp,
    rooms: Object.fromEntries([...rooms].map(([room, books]) => [room, roomStatus(books)])),
    counts: parts.isCounted ? countsByOwner(rooms) : {},
  };
}

function roomStatus({ own, ownTurns, ownVisits, spare, lines }: RoomBooks): RoomStatus {
  return {
    ...{ ownFirst: own.first(), ownWaiting: own.size, turns: ownTurns, visits: ownVisits },
    ...{ spare, waiting: lines.size },
  };
}

function countsByOwner(rooms: ReadonlyMap<string, RoomBooks>): NodeStatus["counts"] {
  const counts: Record<string, Record<string, { waiting: number; turns: number; onSite: number }>> = {};
  for (const [room, { places }] of rooms) {
    for (const { claim } of places.values()) {
      const ofOwner = counts[claim.owner] ?? {};
      counts[claim.owner] = ofOwner;
      const own = ofOwner[room] ?? { waiting: 0, turns: 0, onSite: 0 };
      ofOwner[room] = own;
      if (claim.state === WAITING) own.waiting++;
      if (claim.state === ADMITTED) own.turns++;
      if (claim.state === ON_SITE) own.onSite++;
    }
  }
  return counts;
}

function splitId(id: string): [name: string, life: number] {
  const at = id.lastIndexOf("#");
  return [id.slice(0, at), Number(id.slice(at + 1))];
}
