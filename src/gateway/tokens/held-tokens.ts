/**
 * Tokens this gateway has verified lately, by their text, so that a visitor's next request costs no cryptography.
 * What is kept with a token is what a gateway must remember between two requests of one visitor; losing it costs
 * only time.
 *
 * Two generations bound it: when the young one is full it becomes the old one, and what is still used moves over.
 */
import type { Pass } from "../../core/pass.ts";
import type { Ticket } from "../../core/ticket.ts";
import type { Badge } from "./token.ts";

const GENERATION_TOKENS_MAX = 50_000;
/** How many of a token's last characters make its key. */
const KEY_CHARACTERS = 8;

export type Held = HeldTicket | HeldPass;

export interface HeldTicket {
  readonly kind: "ticket";
  /** Replaced when its holder is shown a smaller `ahead`. */
  ticket: Ticket;
  readonly badge: Badge;
  /** How every answer to it begins; see `waitingOpening`. Another one when a draw changes its sequence. */
  opening: string;
  /** Check-ins before this instant get the last answer again. */
  nextCheckInAt: number;
  /** Text in ASCII, or null before the first. */
  lastAnswer: string | null;
}

export interface HeldPass {
  readonly kind: "pass";
  readonly pass: Pass;
  readonly badge: Badge;
  /** What the origin was told of this visitor, with the signer that made it. */
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
  #young = new Map<number, Entry>();
  #old = new Map<number, Entry>();

  get(token: string): Held | undefined {
    const key = keyOf(token);
    const entry = this.#young.get(key);
    if (entry?.token === token) return entry.held;
    const aged = this.#old.get(key);
    if (aged?.token !== token) return undefined;
    this.#put(key, aged);
    return aged.held;
  }

  /** Answers given before the places of a room changed hands are not given again. */
  forgetAnswers(room: string): void {
    for (const { held } of [...this.#young.values(), ...this.#old.values()])
      if (held.kind === "ticket" && held.ticket.room === room) held.lastAnswer = null;
  }

  set(token: string, held: Held): void {
    this.#put(keyOf(token), { token: ownText(token), held });
  }

  #put(key: number, entry: Entry): void {
    if (this.#young.size >= GENERATION_TOKENS_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, entry);
  }
}

/** The text in memory of its own: a part of a Cookie header would keep the whole header for as long as it is held. */
function ownText(ascii: string): string {
  return Buffer.from(ascii, "latin1").toString("latin1");
}

interface Entry {
  readonly token: string;
  readonly held: Held;
}

/**
 * A number from the end of a token, which is the end of its MAC and so as good as random. Two tokens with one number
 * only take turns in being remembered. A text as key would have to be hashed whole and interned by the map.
 */
function keyOf(token: string): number {
  let key = 0;
  for (let at = Math.max(0, token.length - KEY_CHARACTERS); at < token.length; at++)
    key = (Math.imul(key, 31) + token.charCodeAt(at)) | 0;
  return key;
}
