/**
 * What the nodes of a cluster keep together: changes made to rooms at run time, and how far the ring of keys was turned.
 * What one of them keeps the others hear of, and a node that joins hears all of it; when the last node ends it is gone.
 * The rooms themselves are the engine's.
 *
 * Of two who change one room at the same moment the later one wins, whole.
 */
import { createHash } from "node:crypto";
import type { RoomSettings, Settings } from "./config/schema.ts";
import type { World } from "./core/world.ts";
import type { Data } from "./data.ts";
import type { KeyringMemo } from "./gateway/keyring.ts";
import { changeOnTop, fileTextOf, type KeptChange, withChanges } from "./kept-changes.ts";

const CHANGE = "change/";
const RING = "ring";
/** Everyone keeps it and tells it to whoever joins. A page of one's own may be longer, and belongs into the file. */
const CHANGE_CHARACTERS_MAX = 65_536;

/** Small values that all nodes have; the engine's part of this. */
export interface Notes {
  /** The last to write a name wins. null: nothing. */
  keep(name: string, value: unknown): void;
  kept(): ReadonlyMap<string, unknown>;
  onKept(listener: (name: string) => void): () => void;
}

export class ClusterData implements Data {
  readonly storageOf = null;
  readonly broken: Promise<Error>;
  readonly #notes: Notes;
  readonly #world: World;
  readonly #listeners = new Set<() => void>();
  readonly #stop: () => void;
  #isWriting = false;

  /** `broken` settles when this node cannot go on. */
  constructor(options: { notes: Notes; world: World; broken?: Promise<Error> }) {
    this.#notes = options.notes;
    this.#world = options.world;
    this.broken = options.broken ?? new Promise(() => {});
    this.#stop = this.#notes.onKept((name) => this.#hear(name));
  }

  async withChanges(settings: Settings): Promise<Settings> {
    const changed = withChanges(settings, this.#changesTo(settings));
    // Another node may have read the file that a change was made to, so it stays for those.
    for (const room of changed.outdated)
      this.#world.log.warn(
        { room },
        "a change made at run time was made to other settings, and does not hold here",
      );
    return changed.settings;
  }

  async keepChange(name: string, file: RoomSettings, change: unknown): Promise<void> {
    const before = this.#changeOf(name, file);
    const after = changeOnTop(before, file, change);
    const { length } = JSON.stringify(after.change);
    if (length > CHANGE_CHARACTERS_MAX)
      throw new Error(
        `the changes to room "${name}" have ${length} characters, and nodes keep at most ${CHANGE_CHARACTERS_MAX} of them; write them into the settings file`,
      );
    this.#write(CHANGE + name, { file: digest(after.file), change: after.change });
  }

  /** The others drop what they know of changes when they read their file. */
  async forgetChanges(): Promise<void> {
    for (const [name, value] of this.#notes.kept())
      if (name.startsWith(CHANGE) && value !== null) this.#write(name, null);
  }

  async ring(): Promise<KeyringMemo | undefined> {
    const memo = this.#notes.kept().get(RING);
    return isMemo(memo) ? memo : undefined;
  }

  async keepRing(memo: KeyringMemo): Promise<void> {
    this.#write(RING, memo);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#stop();
    this.#listeners.clear();
  }

  /** Of what the file says only a digest is kept, since it may be long: here it is the file's text again. */
  #changesTo({ rooms }: Settings): [room: string, KeptChange][] {
    const names = [...this.#notes.kept().keys()].filter((name) => name.startsWith(CHANGE));
    return names.flatMap((name): [string, KeptChange][] => {
      const room = name.slice(CHANGE.length);
      if (!Object.hasOwn(rooms, room)) return [];
      const change = this.#changeOf(room, rooms[room]!);
      return change ? [[room, change]] : [];
    });
  }

  #changeOf(name: string, room: RoomSettings): KeptChange | undefined {
    const kept = this.#notes.kept().get(CHANGE + name);
    if (!isChange(kept)) return undefined;
    const text = fileTextOf(room);
    return { file: kept.file === digest(text) ? text : "", change: kept.change };
  }

  #write(name: string, value: unknown): void {
    this.#isWriting = true;
    try {
      this.#notes.keep(name, value);
    } finally {
      this.#isWriting = false;
    }
  }

  #hear(name: string): void {
    const isOurs = name === RING || name.startsWith(CHANGE);
    const isDropped = this.#notes.kept().get(name) == null;
    if (!isOurs || isDropped || this.#isWriting) return;
    for (const listener of this.#listeners) listener();
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** A node of another version may keep anything. */
function isChange(value: unknown): value is KeptChange {
  return isMapping(value) && typeof value.file === "string" && isMapping(value.change);
}

function isMemo(value: unknown): value is KeyringMemo {
  if (!isMapping(value)) return false;
  const { name, generation, retired } = value;
  const isPair = (pair: unknown) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isFinite);
  return (
    Number.isInteger(name) && Number.isInteger(generation) && Array.isArray(retired) && retired.every(isPair)
  );
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
