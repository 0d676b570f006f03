/**
 * A room that survives restarts: its changes go to durable storage in groups. Changes gather while the previous group is being
 * written, so a busy room needs one write for very many visitors.
 *
 * Answers that grant or free a slot wait for `confirm`. A place in the line does not: its signed ticket is the proof, and
 * restores the place if it was never stored.
 *
 * When a write fails, the whole group is void. The room is then unavailable until the disk accepts writes again, and is restored
 * from it.
 */
import type { RoomRules } from "../../core/rules.ts";
import type { SetBack } from "../../core/ticket.ts";
import type { World } from "../../core/world.ts";
import type { DurableStorage } from "../../durable/storage.ts";
import {
  KEPT_VERSION,
  type KeptRoom,
  READABLE_VERSION,
  type RoomMemo,
  type RoomWrites,
} from "./kept-room.ts";
import { MemoryRoom } from "./memory-room.ts";
import type { RoomEvents } from "./room-books.ts";
import type { KeptTurn } from "./turns.ts";
import type { Visit } from "./visits.ts";

const RETRY_MS = 1_000;
/** Entries per storage call, as on Cloudflare. */
const ENTRIES_MAX = 128;
const MEMO = "memo";
const PLACES = "places/";
const TURNS = "turn/";
const SET_BACKS = "setback/";
const VISITS = "visit/";
const GATHERED = "gathered/";
const INVITES = "invite/";
const BLOCK_DIGITS = 12;
const READABLE: readonly number[] = [READABLE_VERSION, KEPT_VERSION];

export interface RoomKeeperParts {
  readonly name: string;
  readonly rules: RoomRules;
  readonly events: RoomEvents;
  /** Called again after a failed write, since the old storage cannot be used any more. */
  readonly storage: () => DurableStorage;
  readonly budgetFree: () => number;
  readonly world: World;
}

export class RoomKeeper {
  readonly #parts: RoomKeeperParts;
  #room!: MemoryRoom;
  #storage!: DurableStorage;
  #rules: RoomRules;
  #failure: Error | null = null;
  #gathering: Promise<void> | null = null;
  #underWay: Promise<void> | null = null;
  #stopRetrying: () => void = () => {};

  /** Opens the stored room, or a new one. */
  static async open(parts: RoomKeeperParts): Promise<RoomKeeper> {
    const keeper = new RoomKeeper(parts);
    await keeper.#load();
    await keeper.confirm();
    return keeper;
  }

  private constructor(parts: RoomKeeperParts) {
    this.#parts = parts;
    this.#rules = parts.rules;
  }

  /** The present room. Throws while its storage cannot be written. */
  get room(): MemoryRoom {
    if (this.#failure) throw this.#failure;
    return this.#room;
  }

  /** The same, also while its storage cannot be written. */
  get last(): MemoryRoom {
    return this.#room;
  }

  set rules(rules: RoomRules) {
    this.#rules = rules;
    this.#room.change(rules, this.#parts.world.clock.now());
  }

  get isAway(): boolean {
    return this.#failure !== null;
  }

  /** Resolves when everything that happened in the room so far is on disk. */
  confirm(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#gathering ??= this.#write(this.#underWay);
    return this.#gathering;
  }

  /** The same; null when everything is on disk already. */
  unconfirmed(): Promise<void> | null {
    if (this.room.hasChanges(this.#parts.world.clock.now())) return this.confirm();
    return this.#gathering ?? this.#underWay;
  }

  /** Writes what changed, unless a write is under way. */
  keep(): void {
    if (this.#failure || this.#gathering || this.#underWay) return;
    // `room` throws the failure for callers that must know of it.
    this.unconfirmed()?.catch(() => {});
  }

  async close(): Promise<void> {
    this.#stopRetrying();
    if (this.#failure) return;
    await (this.#gathering ?? this.#underWay);
    await this.#writeChanges(true);
  }

  async #write(before: Promise<void> | null): Promise<void> {
    try {
      // The rest of this turn of the event loop is gathered too, even when no write is under way.
      await before;
      this.#underWay = this.#gathering;
      this.#gathering = null;
      await this.#writeChanges();
    } catch (cause) {
      throw this.#fail(cause);
    } finally {
      if (this.#gathering === null) this.#underWay = null;
    }
  }

  async #writeChanges(isClosed = false): Promise<void> {
    const changes = this.#room.takeChanges(this.#parts.world.clock.now(), isClosed);
    this.#put(changes);
    await this.#storage.sync();
    this.#room.changesKept(changes.memo);
  }

  #put({ memo, blocks, turns, setBacks, visits, gathered, invites }: RoomWrites): void {
    const changed: [string, unknown][] = [[MEMO, memo]];
    const gone: string[] = [];
    const note = (key: string, value: unknown) =>
      value === null ? gone.push(key) : changed.push([key, value]);
    for (const [block, bytes] of blocks) note(blockKey(block), bytes);
    for (const [place, turn] of turns) note(TURNS + place, turn);
    for (const [origin, setBack] of setBacks) note(SET_BACKS + origin, setBack);
    for (const [id, visit] of visits) note(VISITS + id, visit);
    for (const [block, bytes] of gathered) note(GATHERED + block, bytes);
    for (const [id, expiresAt] of invites) note(INVITES + id, expiresAt);
    const storage = this.#storage;
    const options = { allowUnconfirmed: true, noCache: true };
    // A failed write fails the next `sync`, which is awaited.
    const ignore = () => {};
    for (let i = 0; i < changed.length; i += ENTRIES_MAX)
      storage.put(Object.fromEntries(changed.slice(i, i + ENTRIES_MAX)), options).catch(ignore);
    for (let i = 0; i < gone.length; i += ENTRIES_MAX)
      storage.delete(gone.slice(i, i + ENTRIES_MAX), options).catch(ignore);
  }

  async #load(): Promise<void> {
    const { name, events, world, budgetFree } = this.#parts;
    this.#storage = this.#parts.storage();
    const kept = await readKept(this.#storage);
    const now = world.clock.now();
    const parts = { name, rules: this.#rules, events: this.#held(), now, isKept: true, budgetFree };
    const room = new MemoryRoom(parts);
    if (kept) room.restore(kept, now);
    this.#room = room;
    for (const [id, until] of room.ended()) events.onRevoked(id, until);
  }

  /** The room's events, passed on once they are on disk. */
  #held(): RoomEvents {
    const { onTurns, onRevoked, onDraw, onRemark } = this.#parts.events;
    // An event that could not be stored did not happen.
    const ignore = () => {};
    return {
      onTurns: (sequences) => void this.confirm().then(() => onTurns(sequences), ignore),
      onRevoked: (id, until) => void this.confirm().then(() => onRevoked(id, until), ignore),
      onDraw: () => void this.confirm().then(onDraw, ignore),
      onRemark,
    };
  }

  #fail(cause: unknown): Error {
    const error = new Error(`room "${this.#parts.name}" cannot be kept`, { cause });
    if (this.#failure) return error;
    this.#failure = error;
    this.#gathering = null;
    this.#underWay = null;
    this.#parts.world.log.error(
      { err: cause, room: this.#parts.name },
      "the room cannot be kept; trying again",
    );
    this.#retryLater();
    return error;
  }

  #retryLater(): void {
    this.#stopRetrying = this.#parts.world.timers.after(RETRY_MS, () => void this.#retry());
  }

  /** Restores the room from disk, since its state in memory was never confirmed; only once a write succeeds. */
  async #retry(): Promise<void> {
    const { world, name } = this.#parts;
    try {
      await this.#load();
      await this.#writeChanges();
    } catch (cause) {
      world.log.debug({ err: cause, room: name }, "the room still cannot be kept");
      this.#retryLater();
      return;
    }
    this.#failure = null;
    world.log.info({ room: name }, "the room is kept again");
  }
}

function blockKey(block: number): string {
  return PLACES + String(block).padStart(BLOCK_DIGITS, "0");
}

async function readKept(storage: DurableStorage): Promise<KeptRoom | null> {
  const once = { noCache: true };
  const memo = await storage.get<RoomMemo>(MEMO, once);
  if (!memo) return null;
  if (!READABLE.includes(memo.version))
    throw new Error(
      `the room was kept by another version of Fairgate in form ${memo.version}, and this one reads ${READABLE.join(" and ")}; start with that version, or with an empty data directory`,
    );
  const blocks = await storage.list<Uint8Array>({ prefix: PLACES, ...once });
  const turns = await storage.list<KeptTurn | number>({ prefix: TURNS, ...once });
  const setBacks = await storage.list<SetBack>({ prefix: SET_BACKS, ...once });
  const visits = await storage.list<Visit | number>({ prefix: VISITS, ...once });
  const gathered = await storage.list<Uint8Array>({ prefix: GATHERED, ...once });
  const invites = await storage.list<number>({ prefix: INVITES, ...once });
  return {
    memo,
    blocks: cut(blocks, PLACES, Number),
    turns: new Map(cut(turns, TURNS, Number)),
    setBacks: cut(setBacks, SET_BACKS, Number),
    visits: cut(visits, VISITS, (id) => id),
    gathered: cut(gathered, GATHERED, (block) => block),
    invites: cut(invites, INVITES, (id) => id),
  };
}

function* cut<Name, Value>(
  entries: ReadonlyMap<string, Value>,
  prefix: string,
  nameOf: (text: string) => Name,
): Generator<[Name, Value]> {
  for (const [key, value] of entries) yield [nameOf(key.slice(prefix.length)), value];
}
