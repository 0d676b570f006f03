/**
 * Random numbers from one seed, with a separate stream for everything that has a name: each visitor, each link, each fault.
 * Drawing from one stream does not change the others, so switching a fault off leaves the rest of the run as it was, as far as
 * the run itself allows.
 *
 * Integer arithmetic only: the same numbers on every machine.
 */
import type { Dice } from "../../core/relaxed.ts";
import { seededFraction } from "../hand-world.ts";

export type { Dice };

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The stream of this name under this seed. */
export function diceOf(seed: number, ...name: readonly (string | number)[]): Dice {
  let state = mixed(0x9e3779b9, seed);
  for (const part of name) state = typeof part === "number" ? mixed(state, part) : mixedText(state, part);
  return seededFraction(state);
}

export function between(dice: Dice, { from, to }: Range): number {
  return from + (to - from) * dice();
}

export function wholeBetween(dice: Dice, { from, to }: Range): number {
  return from + Math.floor((to - from + 1) * dice());
}

export function oneOf<T>(dice: Dice, list: readonly T[]): T {
  return list[Math.floor(dice() * list.length)]!;
}

/** 32 hexadecimal digits that begin with `number`, so ids of different numbers differ. */
export function visitorIdOf(dice: Dice, number: number): string {
  return [number, ...Array.from({ length: 3 }, () => Math.floor(dice() * 2 ** 32))]
    .map((word) => word.toString(16).padStart(8, "0"))
    .join("");
}

function mixedText(state: number, text: string): number {
  for (let i = 0; i < text.length; i++) state = mixed(state, text.charCodeAt(i));
  return mixed(state, text.length);
}

/** Mixes in both halves of a whole number below 2^53 (the finaliser of MurmurHash3). */
function mixed(state: number, value: number): number {
  state = stirred(state ^ (value >>> 0));
  return stirred(state ^ Math.floor(value / 2 ** 32));
}

function stirred(state: number): number {
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) + 0x6d2b79f5;
}
