/** What a disk would hold of one room. */
import type { SetBack } from "../core/ticket.ts";
import type { KeptRoom, RoomMemo, RoomWrites } from "../engines/memory/kept-room.ts";
import type { KeptTurn } from "../engines/memory/turns.ts";
import type { Visit } from "../engines/memory/visits.ts";

export class Shelf {
  #memo: RoomMemo | null = null;
  readonly #blocks = new Map<number, Uint8Array>();
  readonly #turns = new Map<number, KeptTurn>();
  readonly #setBacks = new Map<number, SetBack>();
  readonly #visits = new Map<string, Visit | number>();
  readonly #gathered = new Map<string, Uint8Array>();
  readonly #invites = new Map<string, number>();

  put({ memo, blocks, turns, setBacks, visits, gathered, invites }: RoomWrites): void {
    this.#memo = structuredClone(memo);
    for (const [block, bytes] of blocks) setOrDelete(this.#blocks, block, bytes);
    for (const [place, turn] of turns) setOrDelete(this.#turns, place, structuredClone(turn));
    for (const [origin, setBack] of setBacks) setOrDelete(this.#setBacks, origin, structuredClone(setBack));
    for (const [id, visit] of visits) setOrDelete(this.#visits, id, structuredClone(visit));
    for (const [block, bytes] of gathered) setOrDelete(this.#gathered, block, bytes);
    for (const [id, expiresAt] of invites) setOrDelete(this.#invites, id, expiresAt);
  }

  get(): KeptRoom {
    return {
      memo: this.#memo!,
      blocks: [...this.#blocks].sort(([a], [b]) => a - b),
      turns: this.#turns,
      setBacks: this.#setBacks,
      visits: this.#visits,
      gathered: this.#gathered,
      invites: this.#invites,
    };
  }
}

function setOrDelete<Key, Value>(map: Map<Key, Value>, key: Key, value: Value | null): void {
  if (value === null) map.delete(key);
  else map.set(key, value);
}
