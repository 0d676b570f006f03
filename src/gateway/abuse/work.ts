/**
 * The gateway's side of the proof of work: checks that SHA-256 of `challenge:solution` begins with enough zero bits. One hash to
 * check, about 2^bits to find. The challenge is a slip's text, so a solution is good once, in one room, for as long as the slip.
 *
 * The browser's side is `page/pow.js`.
 */
import { hash } from "node:crypto";

/** Solutions are decimal digits, at most this many: more than any search needs. */
export const SOLUTION_DIGITS_MAX = 16;

/** The request header in which a solution comes. */
export const WORK_HEADER = "Fairgate-Work";

/** True when these digits solve the challenge. More than 32 bits cannot be solved. */
export function isSolved(challenge: string, bits: number, solution: string): boolean {
  if (solution.length > SOLUTION_DIGITS_MAX || !/^[0-9]+$/.test(solution)) return false;
  const digest = hash("sha256", `${challenge}:${solution}`, "buffer");
  return Math.clz32(digest.readUInt32BE(0)) >= bits;
}
