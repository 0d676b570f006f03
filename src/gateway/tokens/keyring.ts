/**
 * The keys that sign tickets and passes. Every key is derived from the operator's secret and a generation number, so
 * no key is ever stored: generation n+1 signs, earlier ones still verify until every token they signed
 * has run out. A token carries its key's id: two bytes that name the secret, two bytes of generation.
 *
 * A gateway that kept nothing begins at generation 0 and may meet tokens of later ones. Nobody without the secret can
 * have made those, so a token that verifies under a later generation turns this ring forward too.
 *
 * A new secret is put in front of `previousSecrets`; keys of previous secrets verify and never sign.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto";

const GENERATIONS_AHEAD_MAX = 64;
const GENERATION_MAX = 0xffff;
const MAC_BYTES = 32;

export interface KeyState {
  readonly id: string;
  readonly isSigning: boolean;
  /** When the last token it signed has run out; null while it signs. */
  readonly retiresAt: number | null;
}

/** How far a ring was turned, to be kept between two lives. It holds no secret. */
export interface KeyringMemo {
  readonly name: number;
  readonly generation: number;
  readonly retired: readonly (readonly [id: number, until: number])[];
}

/** More retired keys than this are of no real ring. */
const RETIRED_MAX = 1_000;

/** Whether a value that was kept, by whatever version or hand, can be a ring's. */
export function isKeyringMemo(value: unknown): value is KeyringMemo {
  if (typeof value !== "object" || value === null) return false;
  const { name, generation, retired } = value as Record<string, unknown>;
  const isPair = (pair: unknown) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isFinite);
  const isNumber = (number: unknown) =>
    Number.isInteger(number) && (number as number) >= 0 && (number as number) <= GENERATION_MAX;
  if (!isNumber(name) || !isNumber(generation)) return false;
  return Array.isArray(retired) && retired.length <= RETIRED_MAX && retired.every(isPair);
}

interface Branch {
  readonly name: number;
  readonly secret: string;
  readonly keys: Map<number, KeyObject>;
  generation: number;
}

export class Keyring {
  readonly #branches: Branch[];
  readonly #retired = new Map<number, number>();
  #signing: { id: number; key: KeyObject };

  constructor(secrets: { secret: string; previousSecrets: readonly string[] }) {
    this.#branches = [secrets.secret, ...secrets.previousSecrets].map(newBranch);
    this.#signing = this.#signer();
  }

  get signingId(): number {
    return this.#signing.id;
  }

  sign(message: Uint8Array): Buffer {
    return createHmac("sha256", this.#signing.key).update(message).digest();
  }

  /**
   * Whether this key id made this MAC. A genuine token of a later generation turns the ring forward. Names of secrets
   * are short, so two may share one; each is then tried.
   */
  verify(id: number, message: Uint8Array, mac: Uint8Array, now: number): "genuine" | "forged" | "unknownKey" {
    const generation = id & 0xffff;
    if ((this.#retired.get(id) ?? Number.POSITIVE_INFINITY) <= now) return "unknownKey";
    const named = this.#branches.filter(({ name }) => name === id >>> 16);
    const possible = named.filter((branch) => generation <= branch.generation + GENERATIONS_AHEAD_MAX);
    for (const branch of possible) {
      const expected = createHmac("sha256", keyOf(branch, generation)).update(message).digest();
      if (!timingSafeEqual(expected, mac)) continue;
      this.#turnTo(branch, generation);
      return "genuine";
    }
    return possible.length === 0 ? "unknownKey" : "forged";
  }

  /** The ring turned once: a new key signs, and the one that signs now verifies for `tokenLifeMs` more. */
  turned(turn: { now: number; tokenLifeMs: number }): KeyringMemo {
    const { name, generation, retired } = this.memo();
    if (generation >= GENERATION_MAX) throw new Error("this secret's keys are used up; set a new secret");
    const until = turn.now + turn.tokenLifeMs;
    return { name, generation: generation + 1, retired: [...retired, [this.#signing.id, until]] };
  }

  /** A key for another purpose, from the same secret. */
  derive(purpose: string): Buffer {
    return deriveBytes(this.#branches[0]!.secret, purpose);
  }

  states(): KeyState[] {
    const states: KeyState[] = [{ id: idText(this.#signing.id), isSigning: true, retiresAt: null }];
    for (const [id, retiresAt] of this.#retired) states.push({ id: idText(id), isSigning: false, retiresAt });
    for (const branch of this.#branches.slice(1)) {
      states.push({ id: idText(keyId(branch)), isSigning: false, retiresAt: null });
    }
    return states;
  }

  memo(): KeyringMemo {
    const { name, generation } = this.#branches[0]!;
    return { name, generation, retired: [...this.#retired] };
  }

  /** Turns the ring as far as it was; what was kept under another secret says nothing about this one. */
  restore(memo: KeyringMemo): void {
    const branch = this.#branches[0]!;
    for (const [id, until] of memo.retired) this.#retired.set(id, until);
    if (memo.name === branch.name) this.#turnTo(branch, memo.generation);
  }

  #turnTo(branch: Branch, generation: number): void {
    if (generation <= branch.generation) return;
    branch.generation = generation;
    this.#signing = this.#signer();
  }

  #signer(): { id: number; key: KeyObject } {
    const branch = this.#branches[0]!;
    return { id: keyId(branch), key: keyOf(branch, branch.generation) };
  }
}

function newBranch(secret: string): Branch {
  const name = deriveBytes(secret, "name").readUInt16BE(0);
  return { name, secret, keys: new Map(), generation: 0 };
}

function keyOf(branch: Branch, generation: number): KeyObject {
  let key = branch.keys.get(generation);
  if (!key) {
    key = createSecretKey(deriveBytes(branch.secret, `token key ${generation}`));
    branch.keys.set(generation, key);
  }
  return key;
}

function keyId(branch: Branch): number {
  return ((branch.name << 16) | branch.generation) >>> 0;
}

function deriveBytes(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "fairgate", purpose, MAC_BYTES));
}

function idText(id: number): string {
  return id.toString(16).padStart(8, "0");
}
