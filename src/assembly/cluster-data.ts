/**
 * Data shared by the nodes of a cluster: changes made to rooms at run time, and the state of the key ring. Every node gets
 * what any of them stores, and a joining node gets all of it; it is lost when the last node stops. The rooms themselves
 * are the engine's.
 *
 * If two nodes change one room at the same moment, the later change wins as a whole.
 */
import { createHash } from "node:crypto";
import type { World } from "../core/world.ts";
import type { KeyringMemo } from "../gateway/tokens/keyring.ts";
import type { ChangeStore } from "./change-store.ts";
import { type Data, usableRing } from "./data.ts";

const CHANGE = "change/";
const ASIDE = "aside/";
const RING = "ring";
/** Every node stores it and sends it to joining nodes. A custom page may be longer, and belongs in the file. */
const CHANGE_CHARACTERS_MAX = 65_536;

/** Small values that all nodes share; provided by the engine. */
export interface ClusterNotes {
  /** Stores a value; null deletes it. The last write to a name wins. */
  keep(name: string, value: unknown): void;
  kept(): ReadonlyMap<string, unknown>;
  onKept(listener: (name: string) => void): () => void;
}

export class ClusterData implements Data {
  readonly storageOf = null;
  readonly host = null;
  readonly broken: Promise<Error>;
  readonly #notes: ClusterNotes;
  readonly #world: World;
  readonly #listeners = new Set<() => void>();
  readonly #stop: () => void;
  #isWriting = false;

  /** `broken` resolves when this node cannot go on. */
  constructor(options: { notes: ClusterNotes; world: World; broken?: Promise<Error> }) {
    this.#notes = options.notes;
    this.#world = options.world;
    this.broken = options.broken ?? new Promise(() => {});
    this.#stop = this.#notes.onKept((name) => this.#hear(name));
  }

  readonly changes: ChangeStore = {
    isOwn: false,
    charactersMax: CHANGE_CHARACTERS_MAX,
    // A digest, since a room's settings may be long.
    mark: (words) => createHash("sha256").update(words).digest("base64url"),
    read: async () => this.#texts(CHANGE),
    replace: async (room, before, after) => {
      if ((this.#texts(CHANGE).get(room) ?? null) !== before) return false;
      this.#write(CHANGE + room, after === null ? null : JSON.parse(after));
      return true;
    },
    readAside: async () => this.#texts(ASIDE),
    putAside: async (room, text) => {
      // A text that is too long to share is only in the log.
      if (text.length <= CHANGE_CHARACTERS_MAX) this.#write(ASIDE + room, JSON.parse(text));
    },
    // The other nodes forget changes when they read their file.
    forget: async () => {
      for (const prefix of [CHANGE, ASIDE])
        for (const room of this.#texts(prefix).keys()) this.#write(prefix + room, null);
    },
  };

  async ring(): Promise<KeyringMemo | undefined> {
    return usableRing(this.#notes.kept().get(RING) ?? undefined, this.#world);
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

  /** The values whose names start with `prefix`, by the rest of the name. */
  #texts(prefix: string): Map<string, string> {
    const texts = new Map<string, string>();
    for (const [name, value] of this.#notes.kept())
      if (name.startsWith(prefix) && value != null)
        texts.set(name.slice(prefix.length), JSON.stringify(value) ?? "");
    return texts;
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
