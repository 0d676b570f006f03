/**
 * What SWIM knows here of one peer, and how that changes.
 *
 *            no word, no ack in a period, or news of it            suspicion expired, or news of it
 *     alive ─────────────────────────────────────────▶ suspect ─────────────────────────────────▶ dead
 *           ◀─────────────────────────────────────────                                    (for this id, for good)
 *        a word from it, an ack through another, news of a higher incarnation
 *
 * News is judged by its incarnation alone (SWIM, section 4.2): the higher one wins, and of two equal ones the suspicion. A
 * suspicion counts once: after the peer's own word cleared it, repeating it has no effect.
 */
import type { SwimNews, SwimState } from "./swim-body.ts";

export class SwimPeer {
  readonly id: string;
  /** The state last returned by `takeVerdicts`. */
  verdict: SwimState = "alive";
  is: SwimState = "alive";
  #incarnation = 0;
  /** The highest incarnation in which anyone suspects it; -1 for none. */
  #suspectedAs = -1;
  /** When a suspect will be dead; else Infinity. */
  deadAt = Number.POSITIVE_INFINITY;
  /** The sequence number of the last probe: acks of older ones are late. */
  asked = -1;
  #answered = -1;
  /** False from when an answer came only through others until it answers by itself. */
  isDirect = true;
  /** Peers through which the last answer came, the quickest first. */
  ways: readonly string[] = [];

  constructor(id: string) {
    this.id = id;
  }

  get news(): SwimNews {
    return { peer: this.id, incarnation: this.#incarnation, is: this.is };
  }

  /** What it should hear of itself: a suspicion it has not refuted, or that it is held for dead. */
  get ownNews(): SwimNews | null {
    if (this.is === "dead") return this.news;
    const isSuspected = this.#suspectedAs >= this.#incarnation;
    return isSuspected ? { peer: this.id, incarnation: this.#suspectedAs, is: "suspect" } : null;
  }

  suspect(deadAt: number): void {
    this.is = "suspect";
    this.#suspectedAs = this.#incarnation;
    this.deadAt = deadAt;
  }

  spare({ moreMs, leastAt }: { moreMs: number; leastAt: number }): void {
    if (this.is === "suspect") this.deadAt = Math.max(this.deadAt + moreMs, leastAt);
  }

  bury(): void {
    this.is = "dead";
    this.deadAt = Number.POSITIVE_INFINITY;
  }

  /** It lives, so a suspicion is over here. That one exists is kept, for the peer to hear and refute. */
  clear(): void {
    if (this.is !== "suspect") return;
    this.is = "alive";
    this.deadAt = Number.POSITIVE_INFINITY;
  }

  /** Takes in news that it lives. False when that is nothing new. */
  learnAlive(incarnation: number): boolean {
    if (incarnation <= this.#incarnation) return false;
    this.#incarnation = incarnation;
    this.clear();
    return true;
  }

  /** Takes in news that it is suspect. False when that is nothing new. */
  learnSuspect(incarnation: number, deadAt: number): boolean {
    if (incarnation < this.#incarnation || incarnation <= this.#suspectedAs) return false;
    this.#incarnation = incarnation;
    this.suspect(deadAt);
    return true;
  }

  ask(seq: number): void {
    this.asked = seq;
  }

  answer(): void {
    this.clear();
    this.#answered = this.asked;
    this.isDirect = true;
    this.ways = [];
  }

  /** The last probe was answered through another peer, which says nothing once the peer has answered by itself. */
  answerThrough(way: string): void {
    this.clear();
    const isFirst = this.#answered !== this.asked;
    if (!isFirst && this.isDirect) return;
    this.#answered = this.asked;
    this.isDirect = false;
    this.ways = isFirst ? [way] : [...this.ways.filter((other) => other !== way), way];
  }
}
