/**
 * Presence on the site for visits that other nodes own. The owner is told, and told again until its log shows that it has heard:
 * a lost message must not end a visit and free its slot while the pass is valid.
 */
import type { Presence } from "../../../core/engine.ts";

const AGAIN_MS = 1_000;
const TIMES_MAX = 10;
/** Beyond this many unconfirmed visits, further ones are told once only. */
const UNHEARD_MAX = 50_000;

export interface Touch {
  readonly room: string;
  readonly presence: Presence;
}

interface Unheard extends Touch {
  readonly since: number;
  times: number;
}

export class Touches {
  readonly #unheard = new Map<string, Unheard>();
  #nextAt = Number.POSITIVE_INFINITY;

  told(room: string, presence: Presence, now: number): void {
    const known = this.#unheard.get(presence.id);
    if (known ? known.presence.expiresAt >= presence.expiresAt : this.#unheard.size >= UNHEARD_MAX) return;
    this.#unheard.set(presence.id, { room, presence, since: now, times: 1 });
    this.#nextAt = Math.min(this.#nextAt, now + AGAIN_MS);
  }

  /** What to tell again, of what owners have not confirmed. */
  due(now: number, isHeard: (touch: Touch) => boolean): Touch[] {
    if (now < this.#nextAt) return [];
    const again: Touch[] = [];
    for (const [id, unheard] of this.#unheard) {
      if (now - unheard.since < unheard.times * AGAIN_MS) continue;
      if (isHeard(unheard) || unheard.times >= TIMES_MAX) this.#unheard.delete(id);
      else {
        unheard.times++;
        again.push(unheard);
      }
    }
    this.#nextAt = this.#unheard.size > 0 ? now + AGAIN_MS : Number.POSITIVE_INFINITY;
    return again;
  }

  nextAt(): number {
    return this.#nextAt;
  }
}
