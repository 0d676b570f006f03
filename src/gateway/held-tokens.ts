/**
 * Tokens this gateway has verified lately, by their text, so that a visitor's next request costs no cryptography.
 * What is kept with a token is what a gateway must remember between two requests of one visitor; losing it costs
 * only time.
 *
 * Two generations bound it: when the young one is full it becomes the old one, and what is still used moves over.
 */
import type { Pass } from "../core/pass.ts";
import type { Ticket } from "../core/ticket.ts";

const GENERATION_TOKENS_MAX = 50_000;
const KEY_CHARACTERS = 12;

export type Held = HeldTicket | HeldPass;

export interface HeldTicket {
  readonly kind: "ticket";
  /** Replaced when its holder is shown a smaller `ahead`. */
  ticket: Ticket;
  /** The ticket's sequence as JSON has it. */
  readonly sequenceText: string;
  /** Check-ins before this instant get the last answer again. */
  nextCheckInAt: number;
  /** Text in ASCII, or null before the first. */
  lastAnswer: string | null;
}

export interface HeldPass {
  readonly kind: "pass";
  readonly pass: Pass;
  /** What the origin was told of this visitor, and by whom it was worked out. */
  described: Described | null;
  /** The same pass with more time, once one was made for it. */
  renewed: { readonly token: string; readonly pass: Pass } | null;
  /** True once this gateway has told the engine of it: an engine that lost its memory learns of the visit so. */
  isReported: boolean;
}

/** Headers for the origin; good as long as the same signer signs in the same way. */
export interface Described {
  readonly signer: object;
  readonly kind: string;
  readonly headers: readonly string[];
}

export class HeldTokens {
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();

  get(token: string): Held | undefined {
    const key = keyOf(token);
    const entry = this.#young.get(key);
    if (entry) return entry.token === token ? entry.held : undefined;
    const aged = this.#old.get(key);
    if (aged?.token !== token) return undefined;
    this.set(token, aged.held);
    return aged.held;
  }

  set(token: string, held: Held): void {
    if (this.#young.size >= GENERATION_TOKENS_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(keyOf(token), { token, held });
  }
}

interface Entry {
  readonly token: string;
  readonly held: Held;
}

/** The end of a token is the end of its MAC: as good as random, and much quicker to look up than the whole. */
function keyOf(token: string): string {
  return token.slice(-KEY_CHARACTERS);
}
