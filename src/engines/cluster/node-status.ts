/** A node as operators and checks see it: its view, the tree and the root, and what it knows of each room. */

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
  readonly number: number | null;
  readonly view: ViewStatus | null;
  readonly isRoot: boolean;
  /** The node number of the last one to count in this view. */
  readonly root: number | null;
  /** The node number of the neighbour towards the root; null when the root is here. */
  readonly pointer: number | null;
  /** It knows what the others know: nothing is left to exchange in this view. */
  readonly isSettled: boolean;
  readonly rounds: number;
  /** It has left, or another node took its name: it does nothing any more. */
  readonly isGone: boolean;
  /** Why it is in no cluster. */
  readonly problem: string | null;
  readonly rooms: Readonly<Record<string, RoomStatus>>;
  /** What each owner has in each room, if asked for: it looks at every place. */
  readonly counts: Readonly<Record<string, Readonly<Record<string, OwnerCounts>>>>;
}

export interface OwnerCounts {
  readonly waiting: number;
  readonly turns: number;
  readonly onSite: number;
}

export interface ViewStatus {
  readonly version: number;
  /** Tells apart different views of the same version. */
  readonly number: number;
  readonly members: readonly MemberStatus[];
  readonly lost: readonly Member[];
  readonly isMajority: boolean;
}

export interface MemberStatus extends Member {
  readonly is: SwimState;
  /** How far its clock is ahead of this node's (negative: behind), if that is more than allowed; otherwise null. */
  readonly clockWrongMs: number | null;
}

export interface RoomStatus {
  /** The smallest order key that waits at this node. */
  readonly ownFirst: number | null;
  readonly ownWaiting: number;
  readonly turns: number;
  readonly visits: number;
  readonly spare: number;
  /** On all nodes, as known here. */
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
    ...{
      name,
      life,
      number: membership.nodeNumber,
      rounds,
      problem: membership.problem,
      isGone: membership.isGone,
    },
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
    root: qpid.isRoot ? membership.nodeNumber : parts.root,
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
