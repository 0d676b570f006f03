/**
 * Key sets at an address (JWKS): fetched, cached, and fetched again when they are old or a token names an unknown key.
 *
 *   fresh (10 min) ──▶ used, while it is fetched anew (1 h) ──▶ nobody is believed until it is fetched
 *
 * However many visitors come, the address is requested at most every few seconds: one request at a time, not soon after a
 * failure, and not soon after a success because of unknown keys, which anyone can name. While there are no keys, one line a
 * minute is logged.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey, type LocalJWKSet } from "jose";
import { request } from "undici";
import { KEY_SET_CHARACTERS_MAX, parseKeySet } from "../../config/jwt-keys.ts";
import type { World } from "../../core/world.ts";

export const KEYS_FRESH_MS = 10 * 60_000;
export const KEYS_USED_MAX_MS = 60 * 60_000;
export const FETCH_TIMEOUT_MS = 5_000;
/** The longest that a visitor waits for a fetch; the fetch itself goes on. */
export const VISITOR_PATIENCE_MS = 1_000;
/** From a failed fetch to the next one. */
export const RETRY_MS = 10_000;
/** From a fetch to the next one because of an unknown key. */
export const UNKNOWN_KEY_RETRY_MS = 30_000;
export const COMPLAINT_PERIOD_MS = 60_000;
/** The most addresses remembered: all that settings have named since the start. */
const ADDRESSES_MAX = 1_000;

/** There are no keys to verify with. */
export class KeysAway extends Error {}

/** Gets a document, or fails. */
export type Fetch = (url: string, signal: AbortSignal) => Promise<string>;

/** One for the whole gateway, so that keys survive a change of settings. */
export class KeySets {
  readonly #world: World;
  readonly #fetch: Fetch;
  readonly #known = new Map<string, RemoteKeys>();

  constructor(world: World, fetch: Fetch = fetchDocument) {
    this.#world = world;
    this.#fetch = fetch;
  }

  /** The keys at an address, which is requested at once. While there are none, looking one up fails with `KeysAway`. */
  at(url: string): JWTVerifyGetKey {
    let keys = this.#known.get(url);
    if (keys === undefined) {
      if (this.#known.size >= ADDRESSES_MAX) this.#known.clear();
      keys = new RemoteKeys(url, this.#world, this.#fetch);
      this.#known.set(url, keys);
    }
    return keys.find;
  }
}

class RemoteKeys {
  readonly #url: string;
  readonly #world: World;
  readonly #fetch: Fetch;
  #keys: LocalJWKSet | null = null;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #complainedAt = Number.NEGATIVE_INFINITY;
  #underWay: Promise<void> | null = null;

  constructor(url: string, world: World, fetch: Fetch) {
    this.#url = url;
    this.#world = world;
    this.#fetch = fetch;
    void this.#refresh();
  }

  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#current();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.#isRenewed(keys))) throw error;
      return (await this.#current())(header, token);
    }
  };

  /** The present keys; slightly old ones are used while new ones are fetched. */
  async #current(): Promise<LocalJWKSet> {
    const age = this.#world.clock.now() - this.#fetchedAt;
    if (this.#keys !== null && age < KEYS_USED_MAX_MS) {
      if (age >= KEYS_FRESH_MS) void this.#refresh();
      return this.#keys;
    }
    this.#keys = null;
    await this.#refreshSoon();
    if (this.#keys === null) throw new KeysAway("the key set cannot be fetched");
    return this.#keys;
  }

  /** True when the keys differ from these. */
  async #isRenewed(before: LocalJWKSet): Promise<boolean> {
    if (this.#world.clock.now() - this.#fetchedAt >= UNKNOWN_KEY_RETRY_MS) await this.#refreshSoon();
    return this.#keys !== before;
  }

  /** Fetches, and waits for it as long as a visitor can be made to wait. */
  async #refreshSoon(): Promise<void> {
    let stop = () => {};
    const enough = new Promise<void>((resolve) => {
      stop = this.#world.timers.after(VISITOR_PATIENCE_MS, resolve);
    });
    await Promise.race([this.#refresh(), enough]);
    stop();
  }

  /** Fetches, unless a fetch failed a moment ago. Never fails. */
  async #refresh(): Promise<void> {
    if (this.#underWay === null && this.#world.clock.now() - this.#failedAt < RETRY_MS) {
      this.#complain("it could not be fetched a moment ago");
      return;
    }
    this.#underWay ??= this.#load().finally(() => {
      this.#underWay = null;
    });
    await this.#underWay;
  }

  async #load(): Promise<void> {
    try {
      const set = parseKeySet(await this.#fetchInTime());
      if (set === null) throw new Error('the answer is not a key set, which is JSON with a list "keys"');
      this.#keys = createLocalJWKSet(set as JSONWebKeySet);
      this.#fetchedAt = this.#world.clock.now();
      this.#failedAt = Number.NEGATIVE_INFINITY;
    } catch (cause) {
      this.#failedAt = this.#world.clock.now();
      this.#complain((cause as Error).message);
    }
  }

  async #fetchInTime(): Promise<string> {
    const patience = new AbortController();
    const tooLate = new Promise<never>((_, reject) => {
      patience.signal.addEventListener("abort", () => reject(patience.signal.reason));
    });
    const stop = this.#world.timers.after(FETCH_TIMEOUT_MS, () =>
      patience.abort(new Error(`no answer within ${FETCH_TIMEOUT_MS} ms`)),
    );
    try {
      return await Promise.race([this.#fetch(this.#url, patience.signal), tooLate]);
    } finally {
      stop();
    }
  }

  #complain(reason: string): void {
    const now = this.#world.clock.now();
    if (now - this.#complainedAt < COMPLAINT_PERIOD_MS) return;
    this.#complainedAt = now;
    const effect = this.#keys === null ? "nobody gets into a lane by a JWT" : "the keys from before are used";
    this.#world.log.warn({ url: shown(this.#url), reason }, `a key set cannot be fetched; ${effect}`);
  }
}

/** The address without its query, which may contain a secret. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** Fetches a document over http, up to the size limit of a key set. Redirects are not followed. */
async function fetchDocument(url: string, signal: AbortSignal): Promise<string> {
  const headers = { accept: "application/jwk-set+json, application/json", "user-agent": "fairgate" };
  const { statusCode, body } = await request(url, { signal, headers, reset: true });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (statusCode !== 200 || bytes > KEY_SET_CHARACTERS_MAX) break;
    chunks.push(chunk);
  }
  if (statusCode !== 200) throw new Error(`the answer has status ${statusCode}, not 200`);
  if (bytes > KEY_SET_CHARACTERS_MAX)
    throw new Error(`the answer has more than ${KEY_SET_CHARACTERS_MAX} bytes`);
  return Buffer.concat(chunks).toString("utf8");
}
