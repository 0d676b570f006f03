/**
 * One end of one edge of the tree: what was told over it, what was heard, and what is still to be sent.
 *
 * Every message carries the end's whole state, so it may be lost, repeated or overtaken: the newest replaces all older ones.
 * `count` tells old from new (Koopmans 2024, section 4.3.2, where no message is lost). A state is sent again every `resendMs`
 * until the other end acknowledges its count (`heard`), at most one message at a time; a peer that stays silent is removed from
 * the tree by others.
 *
 * Every state is answered, even a repeated one, since then the answer was lost. An answer has count 0 and is never answered
 * itself.
 */

import { shape } from "../wire/shapes.ts";

const { number, oneOf, orNull, record, upTo } = shape;

/** The only message body of QPID. */
export interface EdgeState {
  readonly kind: "edge";
  readonly view: number;
  /** Rises with every change of this state. 0: no state, only an acknowledgement. */
  readonly count: number;
  /** Smallest key on the sender's side of this edge; null: none. */
  readonly weight: number | null;
  /** How often the sender has given the root over this edge in this view. */
  readonly handed: number;
  /** What the sender gave along with the root the last time; null once it is known to have arrived. */
  readonly memo: unknown;
  /** The highest count received from the other side. */
  readonly heard: number;
}

/** The weight of a side where nobody waits. */
export const NOBODY = Number.POSITIVE_INFINITY;

const whole = upTo(Number.MAX_SAFE_INTEGER);

/** Whether something from the network has the shape of an edge's state. */
export const isEdgeState = oneOf(
  { edge: record({ view: whole, count: whole, handed: whole, heard: whole, weight: orNull(number) }) },
  "kind",
) as (body: unknown) => body is EdgeState;

export class QpidEdge {
  readonly #view: number;
  readonly #resendMs: number;
  #count = 0;
  #told = NOBODY;
  #handed = 0;
  #memo: unknown = null;
  #acknowledged = 0;
  #heard = 0;
  #weight = NOBODY;
  #taken = 0;
  #isToSend = false;
  #isToAnswer = false;
  /** Null when the state was sent at an unknown time; the next tick starts the wait. */
  #sentAt: number | null = null;

  constructor({ view, resendMs }: { readonly view: number; readonly resendMs: number }) {
    this.#view = view;
    this.#resendMs = resendMs;
  }

  /** Smallest key beyond this edge, as last heard. */
  get weight(): number {
    return this.#weight;
  }

  /** Tells the other end our side's smallest key. */
  tell(weight: number): void {
    if (weight === this.#told) return;
    this.#told = weight;
    this.#change();
  }

  /** Gives the root to the other end. */
  give(memo: unknown): void {
    this.#handed++;
    this.#memo = memo;
    this.#change();
  }

  /** Takes in a state; returns true when it brings the root. An impossible state is ignored as a whole. */
  receive(body: EdgeState, isRootBeyond: boolean): boolean {
    if (body.heard > this.#count) return false;
    const isNew = body.count > this.#heard;
    const roots = isNew ? body.handed - this.#taken : 0;
    // The root comes only from where it is, and crosses an edge once at a time.
    if (roots !== 0 && !(roots === 1 && isRootBeyond)) return false;
    this.#acknowledge(body.heard);
    if (body.count > 0) this.#isToAnswer = true;
    if (!isNew) return false;
    this.#heard = body.count;
    this.#weight = body.weight ?? NOBODY;
    this.#taken = body.handed;
    return roots === 1;
  }

  /** Marks the state to be sent again when the acknowledgement is overdue. */
  tick(now: number): void {
    if (this.#isHeard || this.#isToSend) return;
    // A clock that was set back restarts the wait too, or it could last for hours.
    if (this.#sentAt === null || this.#sentAt > now) this.#sentAt = now;
    else if (now - this.#sentAt >= this.#resendMs) this.#isToSend = true;
  }

  /** When to tick next; minus infinity means at once. */
  nextAt(): number {
    if (this.#isHeard || this.#isToSend) return Number.POSITIVE_INFINITY;
    return this.#sentAt === null ? Number.NEGATIVE_INFINITY : this.#sentAt + this.#resendMs;
  }

  /** Takes the message to be sent, if any. `now` is null when the time is unknown. */
  takeMessage(now: number | null): EdgeState | null {
    if (!this.#isToSend && !this.#isToAnswer) return null;
    const message = this.#isToSend ? this.#state() : this.#answer();
    if (this.#isToSend) this.#sentAt = now;
    this.#isToSend = false;
    this.#isToAnswer = false;
    return message;
  }

  get #isHeard(): boolean {
    return this.#acknowledged === this.#count;
  }

  #change(): void {
    this.#count++;
    this.#isToSend = true;
  }

  #acknowledge(heard: number): void {
    if (heard > this.#acknowledged) this.#acknowledged = heard;
    if (!this.#isHeard) return;
    this.#isToSend = false;
    this.#memo = null;
  }

  #state(): EdgeState {
    const weight = this.#told === NOBODY ? null : this.#told;
    return { ...this.#answer(), count: this.#count, weight, handed: this.#handed, memo: this.#memo };
  }

  #answer(): EdgeState {
    return {
      kind: "edge",
      view: this.#view,
      count: 0,
      weight: null,
      handed: 0,
      memo: null,
      heard: this.#heard,
    };
  }
}
