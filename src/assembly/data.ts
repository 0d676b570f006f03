/**
 * What a gateway keeps between two lives, in one directory: every room, the changes made to rooms at run time, and how
 * far the ring of keys was turned. Without a directory nothing is kept, and everything else is the same.
 *
 * A change made at run time holds until the settings file says something else about its room: then the file is newer
 * (kept-changes.ts).
 */

import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { DurableHost } from "../durable/host.ts";
import { keepPrivate } from "../durable/private-file.ts";
import type { DurableStorage } from "../durable/storage.ts";
import { isKeyringMemo, type KeyringMemo } from "../gateway/tokens/keyring.ts";
import type { ChangeStore } from "./change-store.ts";

const SECRET_FILE = "secret";
const SECRET_BYTES = 32;
const PRIVATE_FOLDER = 0o700;
const RING = "ring";

export interface Data {
  /** Where a room is kept; null when nothing is. */
  readonly storageOf: ((room: string) => DurableStorage) | null;
  /** Where objects are kept that are no rooms; null when nothing is kept in a directory. */
  readonly host: DurableHost | null;
  /** Settles when what is kept can no longer be written, or this process cannot go on for another reason. */
  readonly broken: Promise<Error>;
  /** The changes made to rooms at run time. */
  readonly changes: ChangeStore;
  /** How far the ring of keys was turned; undefined when nothing is kept that can be used. */
  ring(): Promise<KeyringMemo | undefined>;
  keepRing(memo: KeyringMemo): Promise<void>;
  /** Tells when another gateway kept something. Returns the way to stop. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

/** Opens the directory, making it when it is not there. */
export async function openData(directory: string | null, world: World): Promise<Data> {
  if (directory === null) return nothingKept();
  const host = await DurableHost.open({ directory, world });
  // Asked for each time: after a failed write what was got before is of no more use.
  const changes = ownChanges(
    () => host.state("settings").storage,
    () => host.state("settings-aside").storage,
  );
  const keys = () => host.state("keys").storage;
  return {
    host,
    storageOf: (room) => host.state(`room/${room}`).storage,
    broken: host.broken,
    changes,
    ring: async () => usableRing(await keys().get(RING), world),
    keepRing: async (memo) => {
      const storage = keys();
      await storage.put(RING, memo);
      await storage.sync();
    },
    // One process at a time has the directory.
    onChange: () => () => {},
    close: () => host.close(),
  };
}

/** The settings with a secret, made and kept in the directory when none is set. */
export function withKeptSecret(settings: Settings): Settings {
  if (settings.secret !== null || settings.data === null) return settings;
  mkdirSync(settings.data, { recursive: true, mode: PRIVATE_FOLDER });
  const file = join(settings.data, SECRET_FILE);
  const { text: secret } = keepPrivate(file, () => randomBytes(SECRET_BYTES).toString("base64url"));
  if (secret.length < SECRET_BYTES)
    throw new Error(`${file} holds no secret; put back what it held, or remove it to have a new one made`);
  return { ...settings, secret };
}

/** The stored key ring; undefined, with a log line, if it cannot be used. */
export function usableRing(kept: unknown, { log }: World): KeyringMemo | undefined {
  if (kept === undefined || isKeyringMemo(kept)) return kept;
  log.error({}, "what is kept of the ring of keys cannot be used; the keys stay as they are");
  return undefined;
}

/** Changes in the directory, which nobody else reads. Texts are kept as the values they stand for. */
function ownChanges(storage: () => DurableStorage, aside: () => DurableStorage): ChangeStore {
  const texts = async (from: DurableStorage) => {
    const kept = await from.list();
    return new Map([...kept].map(([room, value]) => [room, JSON.stringify(value)]));
  };
  return {
    isOwn: true,
    charactersMax: null,
    mark: (words) => words,
    read: () => texts(storage()),
    replace: async (room, _before, after) => {
      const to = storage();
      if (after === null) await to.delete(room);
      else await to.put(room, JSON.parse(after));
      await to.sync();
      return true;
    },
    readAside: () => texts(aside()),
    putAside: async (room, text) => {
      const to = aside();
      await to.put(room, JSON.parse(text));
      await to.sync();
    },
    forget: async () => {
      for (const from of [storage(), aside()]) {
        await from.deleteAll();
        await from.sync();
      }
    },
  };
}

/** Changes that last as long as the process. */
function passingChanges(): ChangeStore {
  const kept = new Map<string, string>();
  const aside = new Map<string, string>();
  return {
    isOwn: true,
    charactersMax: null,
    mark: (words) => words,
    read: async () => new Map(kept),
    replace: async (room, _before, after) => {
      if (after === null) kept.delete(room);
      else kept.set(room, after);
      return true;
    },
    readAside: async () => new Map(aside),
    putAside: async (room, text) => {
      aside.set(room, text);
    },
    forget: async () => {
      kept.clear();
      aside.clear();
    },
  };
}

function nothingKept(): Data {
  let ring: KeyringMemo | undefined;
  return {
    storageOf: null,
    host: null,
    broken: new Promise(() => {}),
    changes: passingChanges(),
    ring: async () => ring,
    keepRing: async (memo) => {
      ring = memo;
    },
    onChange: () => () => {},
    close: async () => {},
  };
}
