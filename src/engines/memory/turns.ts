/**
 * Turns that were given and not used yet: when each was given, until when it is firm, and when it is missed. A turn that a
 * restart interrupted gets its whole time again, but keeps the instant at which it was given.
 */
import { Deadlines } from "../../core/deadlines.ts";

/** What is stored of a turn. */
export interface KeptTurn {
  readonly givenAt: number;
  /** Turns given in its lane up to it. */
  readonly letInBefore: number;
  readonly isFirm: boolean;
}

/** A new turn. */
export interface NewTurn extends KeptTurn {
  readonly claimBy: number;
  /** Ignored for a turn that is loose already. */
  readonly firmUntil: number;
}

interface Turn {
  readonly givenAt: number;
  readonly letInBefore: number;
  isFirm: boolean;
  firmUntil: number;
}

export class Turns {
  readonly #turns = new Map<number, Turn>();
  /** By the instant at which they are missed, and at which they go loose. */
  readonly #due = new Deadlines<number>();
  readonly #firmDue = new Deadlines<number>();
  #firm = 0;
  /** Places whose turns were given, loosened or ended since changes were last taken. */
  readonly #changed = new Set<number>();
  readonly #isKept: boolean;

  /** `isKept`: records changes for `takeChanges`. */
  constructor(isKept: boolean) {
    this.#isKept = isKept;
  }

  /** How many are firm, and how many are loose. */
  get firm(): number {
    return this.#firm;
  }

  get loose(): number {
    return this.#turns.size - this.#firm;
  }

  give(place: number, { givenAt, letInBefore, isFirm, claimBy, firmUntil }: NewTurn): void {
    this.#turns.set(place, { givenAt, letInBefore, isFirm, firmUntil });
    this.#due.add(claimBy, place);
    if (isFirm) {
      this.#firm++;
      this.#firmDue.add(firmUntil, place);
    }
    this.#note(place);
  }

  isFirm(place: number): boolean {
    return this.#turns.get(place)?.isFirm === true;
  }

  /** Keeps a firm turn firm until then; it may be used until `claimBy`. */
  lengthen(place: number, { claimBy, firmUntil }: Pick<NewTurn, "claimBy" | "firmUntil">): void {
    const turn = this.#turns.get(place);
    if (!turn) return;
    this.#due.add(claimBy, place);
    turn.firmUntil = firmUntil;
    this.#firmDue.add(firmUntil, place);
  }

  /** Makes turns loose that were firm for long enough, and calls back for each. */
  loosen(now: number, onLoose: () => void): void {
    for (let place = this.#firmDue.takeDue(now); place; place = this.#firmDue.takeDue(now)) {
      const turn = this.#turns.get(place);
      if (!turn?.isFirm || turn.firmUntil > now) continue;
      turn.isFirm = false;
      this.#firm--;
      this.#note(place);
      onLoose();
    }
  }

  /** Ends a turn, used or not, and returns it; undefined when there is none. */
  end(place: number): KeptTurn | undefined {
    const turn = this.#turns.get(place);
    if (!turn) return undefined;
    this.#turns.delete(place);
    if (turn.isFirm) this.#firm--;
    this.#note(place);
    return turn;
  }

  /** Those who have a firm turn. */
  *firmPlaces(): Generator<number> {
    for (const [place, { isFirm }] of this.#turns) if (isFirm) yield place;
  }

  /** A place whose turn may have ended; the caller has to check. */
  takeDue(now: number): number | undefined {
    return this.#due.takeDue(now);
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0;
  }

  /** Turns that began, went loose or ended since the last call; null for one that ended. */
  takeChanges(): Map<number, KeptTurn | null> {
    const changes = new Map<number, KeptTurn | null>();
    for (const place of this.#changed) {
      const turn = this.#turns.get(place);
      changes.set(place, turn ? keptTurn(turn) : null);
    }
    this.#changed.clear();
    return changes;
  }

  #note(place: number): void {
    if (this.#isKept) this.#changed.add(place);
  }
}

function keptTurn({ givenAt, letInBefore, isFirm }: Turn): KeptTurn {
  return { givenAt, letInBefore, isFirm };
}
