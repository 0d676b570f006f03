/** Visitors who came to this node and belong to another: gathered, until messages go out, for the owners of their places. */
import type { Presence } from "../../../core/engine.ts";
import type { MessageBody } from "../wire/message.ts";
import type { Seen } from "./room-answers.ts";

type Lists<T> = Map<string, Map<string, T[]>>;

export class Sightings {
  /** By owner and room. */
  #seen: Lists<Seen> = new Map();
  #touched: Lists<Presence> = new Map();

  addSeen(owner: string, room: string, seen: Seen): void {
    listIn(this.#seen, owner, room).push(seen);
  }

  addTouched(owner: string, room: string, presence: Presence): void {
    listIn(this.#touched, owner, room).push(presence);
  }

  takeOutbox(): { to: string; body: MessageBody }[] {
    if (this.#seen.size === 0 && this.#touched.size === 0) return [];
    const outbox: { to: string; body: MessageBody }[] = [];
    for (const [to, rooms] of this.#seen)
      for (const [room, list] of rooms) outbox.push({ to, body: { kind: "seen", room, list } });
    for (const [to, rooms] of this.#touched)
      for (const [room, list] of rooms) outbox.push({ to, body: { kind: "touch", room, list } });
    this.#seen = new Map();
    this.#touched = new Map();
    return outbox;
  }
}

function listIn<T>(lists: Lists<T>, owner: string, room: string): T[] {
  let rooms = lists.get(owner);
  if (!rooms) {
    rooms = new Map();
    lists.set(owner, rooms);
  }
  let list = rooms.get(room);
  if (!list) {
    list = [];
    rooms.set(room, list);
  }
  return list;
}
