/**
 * Data shared by the gateways on one Redis: changes made to rooms at run time, and the state of the key ring. Every gateway
 * hears of what another stores. The rooms themselves are the engine's.
 */
import { toHex } from "../core/hex.ts";
import type { World } from "../core/world.ts";
import type { RedisLink } from "../engines/redis/link/link.ts";
import { RedisProblem } from "../engines/redis/link/problem.ts";
import type { KeyringMemo } from "../gateway/tokens/keyring.ts";
import type { ChangeStore } from "./change-store.ts";
import { type Data, usableRing } from "./data.ts";

const RING = "ring";
const NAME_BYTES = 8;
/** The longest text of changes to a room; most of it can be a custom page. */
const TEXT_CHARACTERS_MAX = 16 * 1_048_576;

export class RedisData implements Data {
  readonly storageOf = null;
  readonly host = null;
  readonly broken = new Promise<never>(() => {});
  readonly #link: RedisLink;
  readonly #world: World;
  readonly #changes: string;
  readonly #aside: string;
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
    this.#aside = `${prefix}:changes-aside`;
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

  readonly changes: ChangeStore = {
    isOwn: false,
    charactersMax: TEXT_CHARACTERS_MAX,
    mark: (words) => words,
    // While Redis is away this is null; `onChange` fires when it is back.
    read: () => this.#unlessAway(() => this.#readAll(this.#changes)),
    replace: async (room, before, after) => {
      const [isDone] = await this.#link.call("swap", this.#changes, [room, before ?? "", after ?? ""]);
      if (isDone === 1) await this.#publish();
      return isDone === 1;
    },
    readAside: async () => (await this.#unlessAway(() => this.#readAll(this.#aside))) ?? new Map(),
    putAside: async (room, text) => {
      await this.#link.command(this.#aside, ["HSET", this.#aside, room, text]);
    },
    // The other gateways forget changes when they read their file.
    forget: async () => {
      for (const key of [this.#changes, this.#aside]) await this.#link.command(key, ["DEL", key]);
    },
  };

  async ring(): Promise<KeyringMemo | undefined> {
    const text = await this.#unlessAway(() => this.#read(this.#keys, RING));
    if (text === null) return undefined;
    try {
      return usableRing(JSON.parse(text), this.#world);
    } catch {
      return usableRing(text, this.#world);
    }
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

  async #readAll(key: string): Promise<Map<string, string>> {
    const listed = (await this.#link.command(key, ["HGETALL", key])) as string[];
    const kept = new Map<string, string>();
    for (let i = 0; i < listed.length; i += 2) kept.set(listed[i]!, listed[i + 1]!);
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
      this.#world.log.debug({ err: cause }, "the data that gateways share cannot be read yet");
      return null;
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
