/**
 * What a gateway keeps between two lives, in one directory: every room, the changes made to rooms at run time, and how
 * far the ring of keys was turned. Without a directory nothing is kept, and everything else is the same.
 *
 * A change made at run time holds until the settings file says something else about its room: then the file is newer.
 */

import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RoomSettings, Settings } from "./config/schema.ts";
import type { World } from "./core/world.ts";
import { DurableHost } from "./durable/host.ts";
import type { DurableStorage } from "./durable/storage.ts";
import type { KeyringMemo } from "./gateway/keyring.ts";
import { changeOnTop, type KeptChange, withChanges } from "./kept-changes.ts";

const SECRET_FILE = "secret";
const SECRET_BYTES = 32;
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
const RING = "ring";

export interface Data {
  /** Where a room is kept; null when nothing is. */
  readonly storageOf: ((room: string) => DurableStorage) | null;
  /** Settles when what is kept can no longer be written, or this process cannot go on for another reason. */
  readonly broken: Promise<Error>;
  /** The settings with the changes of an earlier life in them. */
  withChanges(settings: Settings): Promise<Settings>;
  /** Keeps a change to a room, on top of what `before` has. Resolves when it is on disk. */
  keepChange(name: string, file: RoomSettings, change: unknown): Promise<void>;
  /** The file was read again, and says it all. */
  forgetChanges(): Promise<void>;
  ring(): Promise<KeyringMemo | undefined>;
  keepRing(memo: KeyringMemo): Promise<void>;
  /** Tells when another gateway kept something. Returns the way to stop. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

/** Opens the directory, making it when it is not there. */
export async function openData(directory: string | null, world: World): Promise<Data> {
  if (directory === null) return NOTHING_KEPT;
  const host = await DurableHost.open({ directory, world });
  // Asked for each time: after a failed write what was got before is of no more use.
  const changes = () => host.state("settings").storage;
  const keys = () => host.state("keys").storage;
  return {
    storageOf: (room) => host.state(`room/${room}`).storage,
    broken: host.broken,
    withChanges: async (settings) => {
      const storage = changes();
      const changed = withChanges(settings, await storage.list<KeptChange>());
      for (const room of changed.outdated) {
        world.log.warn({ room }, "the settings say something else now; a change made at run time is dropped");
        await storage.delete(room);
      }
      return changed.settings;
    },
    keepChange: async (name, file, change) => {
      const storage = changes();
      await storage.put(name, changeOnTop(await storage.get<KeptChange>(name), file, change));
      await storage.sync();
    },
    forgetChanges: async () => {
      const storage = changes();
      await storage.deleteAll();
      await storage.sync();
    },
    ring: () => keys().get<KeyringMemo>(RING),
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
  if (!existsSync(file)) {
    const text = `${randomBytes(SECRET_BYTES).toString("base64url")}\n`;
    writeFileSync(file, text, { mode: PRIVATE_FILE, flag: "wx", flush: true });
  }
  chmodSync(file, PRIVATE_FILE);
  const secret = readFileSync(file, "utf8").trim();
  if (secret.length < SECRET_BYTES)
    throw new Error(`${file} holds no secret; put back what it held, or remove it to have a new one made`);
  return { ...settings, secret };
}

const NOTHING_KEPT: Data = {
  storageOf: null,
  broken: new Promise(() => {}),
  withChanges: async (settings) => settings,
  keepChange: async () => {},
  forgetChanges: async () => {},
  ring: async () => undefined,
  keepRing: async () => {},
  onChange: () => () => {},
  close: async () => {},
};
