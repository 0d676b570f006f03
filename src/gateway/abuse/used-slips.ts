/**
 * Which slips have given a place already, so that none gives two. A slip is remembered until it has run out; when there
 * are too many to remember, those used first are forgotten, and from then on no slip given as early as one of them is
 * taken: its holder gets a new one. So a flood costs people with old slips a moment, and never makes a slip good twice.
 *
 * For the same reason a gateway that has just started takes no slip from before: it does not know which were used.
 *
 * Two generations, as in `held-tokens.ts`: only what was used is here, not what was given out, so each entry has cost
 * its maker a place.
 */
import { SLIP_LIFE_MS, type Slip } from "./slip.ts";

/** The most slips in one generation. */
export const GENERATION_SLIPS_MAX = 250_000;

interface Generation {
  /** By slip id, when it was used. */
  readonly usedAt: Map<number, number>;
  readonly since: number;
  /** When the last of its slips was given. */
  latestGivenAt: number;
}

export class UsedSlips {
  readonly #slipsMax: number;
  #young: Generation;
  #old: Generation;
  /** Slips given up to here cannot be told from used ones. */
  #unknownUntil: number;

  constructor(now: number, slipsMax = GENERATION_SLIPS_MAX) {
    this.#slipsMax = slipsMax;
    this.#young = newGeneration(now);
    this.#old = newGeneration(now);
    this.#unknownUntil = now - 1;
  }

  /** How many slips are remembered. */
  get size(): number {
    return this.#young.usedAt.size + this.#old.usedAt.size;
  }

  /** False for a slip so old that it may have been used. */
  isKnown({ givenAt }: Slip): boolean {
    return givenAt > this.#unknownUntil;
  }

  /** When this slip was used, or null if it was not. */
  usedAt({ id }: Slip): number | null {
    return this.#young.usedAt.get(id) ?? this.#old.usedAt.get(id) ?? null;
  }

  use(slip: Slip, now: number): void {
    const young = this.#young;
    if (young.usedAt.size >= this.#slipsMax || now - young.since >= SLIP_LIFE_MS) this.#turn(now);
    this.#young.usedAt.set(slip.id, now);
    this.#young.latestGivenAt = Math.max(this.#young.latestGivenAt, slip.givenAt);
  }

  /** Makes a slip good again that gave no place after all. */
  giveBack({ id }: Slip): void {
    this.#young.usedAt.delete(id);
    this.#old.usedAt.delete(id);
  }

  #turn(now: number): void {
    this.#unknownUntil = Math.max(this.#unknownUntil, this.#old.latestGivenAt);
    this.#old = this.#young;
    this.#young = newGeneration(now);
  }
}

function newGeneration(since: number): Generation {
  return { usedAt: new Map(), since, latestGivenAt: Number.NEGATIVE_INFINITY };
}
