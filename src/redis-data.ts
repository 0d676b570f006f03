/**
 * What gateways with one Redis keep together: changes made to rooms at run time, and how far the ring of keys was turned.
 * What one of them keeps the others hear of. The rooms themselves are the engine's.
 */
import type { RoomSettings, Settings } from "./config/schema.ts";
import { toHex } from "./core/hex.ts";
import type { World } from "./core/world.ts";
import type { Data } from "./data.ts";
import type { RedisLink } from "./engines/redis/link/link.ts";
import { RedisProblem } from "./engines/redis/link/problem.ts";
import type { KeyringMemo } from "./gateway/keyring.ts";
import { changeOnTop, type KeptChange, withChanges } from "./kept-changes.ts";

const RING = "ring";
const NAME_BYTES = 8;
/** Two who change a room at once: the second looks again at what is kept. */
const TRIES_MAX = 10;

export class RedisData implements Data {
  readonly storageOf = null;
  readonly broken = new Promise<never>(() => {});
  readonly #link: RedisLink;
  readonly #world: World;
  readonly #changes: string;
  readonly #keys: string;
  readonly #channel: string;
  readonly #name: string;
  readonly #listeners = new Set<() => void>();
  readonly #stop: (() => void)[];

  constructor(options: { link: RedisLink; world: World; prefix: string }) {
    const { link, world, prefix } = options;
    this.#link = link;
    this.#world = world;
    this.#changes = `${prefix}:changes`;
    this.#keys = `${prefix}:keys`;
    this.#channel = `${prefix}:kept`;
    this.#name = toHex(world.random.bytes(NAME_BYTES));
    const ear = {
      onMessage: (from: string) => {
        if (from !== this.#name) this.#tell();
      },
      onGap: () => this.#tell(),
    };
    this.#stop = [
      link.hear(this.#channel, ear),
      link.onProblem((problem) => {
        if (problem === null) this.#tell();
      }),
    ];
  }

  /** While Redis is away, the settings as they are; `onChange` tells when there is more to know. */
  async withChanges(settings: Settings): Promise<Settings> {
    const kept = await this.#unlessAway(async () => this.#kept());
    if (!kept) return settings;
    const changed = withChanges(settings, kept);
    // Another gateway may have read the file that a change was made to, so it stays for those.
    for (const room of changed.outdated)
      this.#world.log.warn(
        { room },
        "a change made at run time was made to other settings, and does not hold here",
      );
    return changed.settings;
  }

  async keepChange(name: string, file: RoomSettings, change: unknown): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const text = await this.#read(this.#changes, name);
      const before = text === null ? undefined : (JSON.parse(text) as KeptChange);
      const after = JSON.stringify(changeOnTop(before, file, change));
      const [isDone] = await this.#link.call("swap", this.#changes, [name, text ?? "", after]);
      if (isDone === 1) return this.#publish();
    }
    throw new Error(`room "${name}" is being changed by others all the time`);
  }

  /** The others drop what they know of changes when they read their file. */
  async forgetChanges(): Promise<void> {
    await this.#link.command(this.#changes, ["DEL", this.#changes]);
  }

  async ring(): Promise<KeyringMemo | undefined> {
    const text = await this.#unlessAway(() => this.#read(this.#keys, RING));
    return text == null ? undefined : (JSON.parse(text) as KeyringMemo);
  }

  async keepRing(memo: KeyringMemo): Promise<void> {
    await this.#link.command(this.#keys, ["HSET", this.#keys, RING, JSON.stringify(memo)]);
    await this.#publish();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    for (const stop of this.#stop) stop();
    this.#listeners.clear();
  }

  async #kept(): Promise<[room: string, KeptChange][]> {
    const listed = (await this.#link.command(this.#changes, ["HGETALL", this.#changes])) as string[];
    const kept: [string, KeptChange][] = [];
    for (let i = 0; i < listed.length; i += 2) kept.push([listed[i]!, JSON.parse(listed[i + 1]!)]);
    return kept;
  }

  async #read(key: string, field: string): Promise<string | null> {
    return (await this.#link.command(key, ["HGET", key, field])) as string | null;
  }

  async #publish(): Promise<void> {
    await this.#link.command(null, ["PUBLISH", this.#channel, this.#name]);
  }

  async #unlessAway<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (cause) {
      if (!(cause instanceof RedisProblem)) throw cause;
      this.#world.log.debug({ err: cause }, "what gateways keep together cannot be read yet");
      return null;
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
