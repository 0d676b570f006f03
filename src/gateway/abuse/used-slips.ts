/**
 * Remembers which slips have given a place, so that none gives two. A slip is remembered until it expires. When there are too
 * many, those used first are forgotten, and slips given no later than these are refused from then on: their holders get new
 * ones. So a flood delays people with old slips a little, and never makes a slip good twice.
 *
 * For the same reason a gateway that has just started refuses slips from before its start: it does not know which were used.
 *
 * Two generations, as in `held-tokens.ts`. Only used slips are stored, not issued ones, so each entry has cost its maker a
 * place.
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
  /** Slips given up to here are refused: whether they were used is forgotten. */
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

  /** False for a slip so old that its use may have been forgotten. */
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

  /** Makes a slip valid again after a join that failed. */
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
