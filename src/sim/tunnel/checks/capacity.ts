/**
 * Never more on the site than `totalActiveUsers`, at any instant. Counts distinct ids that any node answered "entered", from that
 * answer until their pass expires or a node is told that they leave.
 *
 * Stated exceptions: when every node that knew anything has died, the cluster forgot who is on the site, and for one session
 * twice as many may be there. If a lost part's slots are given out again before its passes have expired (`reclaimAfterMs` below a
 * session), both parts may fill the site. A visitor who leaves in one part of a split cluster and shows the same ticket in the
 * other, which cannot know, is admitted again: one visitor, not counted twice. And visits that began in a part that died before
 * the others heard of them are unknown until their pass is seen again; it must have died in that same cut, or before the parts
 * had met.
 */
import { Deadlines } from "../../../core/deadlines.ts";
import type { AnsweredNotice, Check, Notice } from "../notice.ts";

/** Clocks differ, and a slot is held a little longer than a pass is valid. */
const UNSURE_MS = 2_500;
/** For this long after a cut parts may not have met. */
const SPLIT_ECHO_MS = 10_000;

export interface CapacityTerms {
  readonly totalActiveUsers: number;
  readonly sessionMs: number;
  /** True: a lost part's slots are given out while its visits may go on. */
  readonly isOverlapStated: boolean;
}

export class Capacity implements Check {
  readonly name = "capacity";
  /** The most that were on the site at once. */
  most = 0;
  readonly #terms: CapacityTerms;
  /** By id: when the pass expires. */
  readonly #onSite = new Map<string, number>();
  readonly #deadlines = new Deadlines<string>();
  #forgotAt = Number.NEGATIVE_INFINITY;
  #isSplit = false;
  #splitAt = Number.NEGATIVE_INFINITY;
  /** By id: when the visitor of the latest visit was admitted, which identifies the visit. */
  readonly #visits = new Map<string, number>();
  readonly #leftAt = new Map<string, number>();
  readonly #leftInOtherPart = new Set<string>();
  readonly #givenApart = new Map<string, number>();

  constructor(terms: CapacityTerms) {
    this.#terms = terms;
  }

  see(notice: Notice): string | null {
    if (notice.kind === "answered" && notice.answer.kind === "entered" && !this.#hasLeft(notice)) {
      this.#visits.set(notice.id, notice.answer.pass.admittedAt);
      if (this.#isApart(notice.at)) this.#givenApart.set(notice.id, notice.station);
      return this.#enter(notice.id, notice.expiresAt!, notice.at);
    }
    if (notice.kind === "renewed" && this.#isKnown(notice.id)) this.#extend(notice.id, notice.expiresAt);
    if (notice.kind === "leaving") this.#leave(notice.id, notice.at);
    if (notice.kind === "split") {
      if (!this.#isApart(notice.at)) this.#givenApart.clear();
      this.#isSplit = notice.isSplit;
      this.#splitAt = notice.at;
    }
    if (notice.kind === "stopped") {
      this.#bury(notice.station, notice.at);
      if (notice.isLast) this.#forgotAt = notice.at;
    }
    return null;
  }

  #enter(id: string, expiresAt: number, at: number): string | null {
    this.#expire(at);
    this.#extend(id, expiresAt);
    const count = this.#onSite.size;
    this.most = Math.max(this.most, count);
    const allowed = this.#allowed(at);
    return count > allowed
      ? `${count} visitors are on the site, and ${allowed} are the most that may be`
      : null;
  }

  /**
   * True when they left in the other part, or while the answer was on its way: then the visit was over before it was counted. A
   * visitor who shows the ticket of a visit they are leaving may be told of it once more; `Once` judges for how long.
   */
  #hasLeft({ id, askedAt, answer }: AnsweredNotice): boolean {
    const leftAt = this.#leftAt.get(id);
    if (leftAt === undefined) return false;
    const isSame = answer.kind === "entered" && this.#visits.get(id) === answer.pass.admittedAt;
    return isSame || leftAt >= askedAt || this.#leftInOtherPart.has(id);
  }

  #leave(id: string, at: number): void {
    this.#onSite.delete(id);
    this.#leftAt.set(id, at);
    if (this.#isApart(at)) this.#leftInOtherPart.add(id);
  }

  #isApart(at: number): boolean {
    return this.#isSplit || at - this.#splitAt <= SPLIT_ECHO_MS;
  }

  /** A node died while cut off: no other node knows the visitors it admitted, so they no longer count. */
  #bury(station: number, at: number): void {
    if (!this.#isApart(at)) return;
    for (const [id, giver] of this.#givenApart) if (giver === station) this.#onSite.delete(id);
  }

  #isKnown(id: string): boolean {
    return !this.#leftAt.has(id) && (this.#onSite.has(id) || this.#givenApart.has(id));
  }

  #allowed(at: number): number {
    const { totalActiveUsers, sessionMs, isOverlapStated } = this.#terms;
    const isForgetful = at - this.#forgotAt <= sessionMs + UNSURE_MS;
    return isForgetful || isOverlapStated ? 2 * totalActiveUsers : totalActiveUsers;
  }

  #extend(id: string, expiresAt: number): void {
    const known = this.#onSite.get(id);
    if (known !== undefined && known >= expiresAt) return;
    this.#onSite.set(id, expiresAt);
    if (known === undefined) this.#deadlines.add(expiresAt, id);
  }

  #expire(at: number): void {
    for (let id = this.#deadlines.takeDue(at); id !== undefined; id = this.#deadlines.takeDue(at)) {
      const expiresAt = this.#onSite.get(id);
      if (expiresAt === undefined) continue;
      if (expiresAt > at) this.#deadlines.add(expiresAt, id);
      else this.#onSite.delete(id);
    }
  }
}
