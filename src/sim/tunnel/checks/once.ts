/**
 * Each visitor is admitted at most once: one ticket gives one visit, however often and wherever it is shown, and none once its
 * visit is over. Being told of the same visit again is fine. After a visitor was told that they left, neither their ticket nor
 * their pass is valid.
 *
 * Stated exceptions: nodes that cannot talk may each admit a visitor who shows the ticket on both sides; a visit, or its end,
 * that died with its node may be repeated; and so may all, when every node that knew has died. What one part knows, all know soon
 * after they have met.
 */
import type { AnsweredNotice, Check, Notice, RenewedNotice } from "../notice.ts";
import { Disturbances, SPREAD_MS } from "./disturbances.ts";

interface Visit {
  readonly admittedAt: number;
  readonly at: number;
  readonly station: number;
  readonly life: number;
  expiresAt: number;
  left: { readonly at: number; readonly station: number; readonly life: number } | null;
}

export class Once implements Check {
  readonly name = "once";
  readonly #visits = new Map<string, Visit>();
  readonly #disturbances = new Disturbances();

  see(notice: Notice): string | null {
    this.#disturbances.see(notice);
    if (notice.kind === "answered" && notice.answer.kind === "entered")
      return this.#enter(notice, notice.answer.pass.admittedAt);
    const visit =
      notice.kind === "left" || notice.kind === "renewed" ? this.#visits.get(notice.id) : undefined;
    if (visit && notice.kind === "left") visit.left ??= notice;
    return visit && notice.kind === "renewed" ? this.#renew(visit, notice) : null;
  }

  #enter(notice: AnsweredNotice, admittedAt: number): string | null {
    const { id, at, station, life } = notice;
    const known = this.#visits.get(id);
    const expiresAt = notice.expiresAt!;
    if (known?.admittedAt === admittedAt) return this.#repeat(known, notice);
    this.#visits.set(id, { admittedAt, at, station, life, expiresAt, left: null });
    if (!known || this.#isExcused(known)) return null;
    return `visitor ${notice.visitor} (${id}) was given a second visit, ${Math.round(at - known.at)} ms after the first`;
  }

  #isExcused(first: Visit): boolean {
    const { at } = first;
    return (
      this.#disturbances.isSplitSince(at) ||
      this.#disturbances.isForgottenSince(at) ||
      this.#disturbances.mayBeLost(first)
    );
  }

  #repeat(visit: Visit, { id, at, visitor, expiresAt }: AnsweredNotice): string | null {
    const endedAt = this.#endOf(visit);
    visit.expiresAt = Math.max(visit.expiresAt, expiresAt!);
    if (this.#isNews(endedAt, at) || this.#disturbances.isForgottenSince(visit.at)) return null;
    return `visitor ${visitor} (${id}) was let in again ${Math.round(at - endedAt)} ms after the visit was over`;
  }

  #renew(visit: Visit, { id, at, expiresAt }: RenewedNotice): string | null {
    const { left } = visit;
    if (left === null || this.#disturbances.mayBeLost(left)) {
      visit.expiresAt = Math.max(visit.expiresAt, expiresAt);
      return null;
    }
    if (this.#isNews(left.at, at) || this.#disturbances.isForgottenSince(left.at)) return null;
    return `the pass of ${id} was taken ${Math.round(at - left.at)} ms after they were told that they left`;
  }

  /** True while some node need not know yet what one was told then. */
  #isNews(toldAt: number, at: number): boolean {
    return at <= toldAt + SPREAD_MS || this.#disturbances.isApart(at);
  }

  #endOf({ left, expiresAt }: Visit): number {
    if (left === null || this.#disturbances.mayBeLost(left)) return expiresAt;
    return Math.min(left.at, expiresAt);
  }
}
