/**
 * Places whose holders have not yet proved that they keep a cookie. A waiting page names its place in the address of a
 * stylesheet. A browser that requests the stylesheet without the cookie will never come back with it, so its place is given up,
 * and nobody behind it waits for a turn that cannot be used.
 *
 *   page for someone without a cookie ──▶ unproven ──any request with the ticket──▶ forgotten: they keep it
 *                                            │ style asked for without a cookie, by the same browser
 *                                            ▼ and a moment later still unproven
 *                                         given up
 *
 * A wrong guess would cost somebody their place. So the stylesheet must be requested soon, from the same address and by the same
 * browser; and one request with the ticket, before or just after, is proof. Scanners that request it too change nothing.
 */
import type { Engine } from "../core/engine.ts";
import type { Ticket } from "../core/ticket.ts";
import type { World } from "../core/world.ts";
import type { Sender } from "./abuse/binding.ts";
import type { AskEngine } from "./ask-engine.ts";

/** The longest time between the page and its stylesheet. */
const ASKED_WITHIN_MS = 30_000;
/** How long a request with the ticket may be overtaken by one without. */
const PROOF_WITHIN_MS = 2_000;
/** Beyond this many the oldest are left to lapse; so is a place whose browser has a longer user agent. */
const UNPROVEN_MAX = 10_000;
const USER_AGENT_CHARACTERS_MAX = 512;

interface Unproven {
  readonly ticket: Ticket;
  readonly sender: Sender;
  readonly givenAt: number;
}

interface UnprovenParts {
  readonly engine: Engine;
  readonly ask: AskEngine;
  readonly world: World;
}

export class UnprovenPlaces {
  readonly #parts: UnprovenParts;
  /** By the ticket's id, oldest first. */
  readonly #places = new Map<string, Unproven>();

  constructor(parts: UnprovenParts) {
    this.#parts = parts;
  }

  /** A page with this place was sent to a visitor without a cookie. */
  add(ticket: Ticket, sender: Sender): void {
    const givenAt = this.#parts.world.clock.now();
    if ((sender.userAgent?.length ?? 0) > USER_AGENT_CHARACTERS_MAX) return;
    this.#places.set(ticket.id, { ticket, sender, givenAt });
    for (const [id, { givenAt: before }] of this.#places) {
      if (this.#places.size <= UNPROVEN_MAX && givenAt - before <= ASKED_WITHIN_MS) break;
      this.#places.delete(id);
    }
  }

  /** Their cookie came back. */
  prove(id: string): void {
    if (this.#places.size > 0) this.#places.delete(id);
  }

  /** That page's stylesheet was requested without a cookie. */
  miss(id: string, { address, userAgent }: Sender): void {
    const { engine, ask } = this.#parts;
    const place = this.#places.get(id);
    if (place?.sender.address !== address || place.sender.userAgent !== userAgent) return;
    if (this.#parts.world.clock.now() - place.givenAt > ASKED_WITHIN_MS) return;
    this.#parts.world.timers.after(PROOF_WITHIN_MS, () => {
      if (this.#places.get(id) !== place) return;
      this.#places.delete(id);
      void ask.ask(() => engine.leave(place.ticket, true));
    });
  }
}
