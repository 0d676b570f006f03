/**
 * First come, first served, in numbers: the Kendall tau distance between the order of joining and that of admission, and how far
 * anyone was from their rightful place. Joining is when a node was asked; admission is when any node first reported the turn;
 * both in simulated time.
 *
 * Counts visitors who heard of their place and were never away. The limits follow from how close visitors came to each other in
 * this very run, so that runs with few visitors are judged as well:
 *
 *   undisturbed   visitors who neither joined nor got their turn while links were broken, shortly after, or around the
 *                 start or end of a process. Half of the pairs that joined within `disorderMs` may be reversed, as if
 *                 drawn by lot, and everyone may have changed places with one neighbour. Nobody may be further from
 *                 their place than the number of visitors who came within `overtakingMaxMs`.
 *   all           parts that are cut off admit their own people, so pairs with a disturbed visitor may be reversed as
 *                 well, but less often than by lot. Judged where `isWhole`.
 */
import { type Turn, unfairness } from "../../../core/fairness.ts";
import type { AnsweredNotice, Check, Notice } from "../notice.ts";
import { Troubles } from "./troubles.ts";

/** The share of pairs with a disturbed visitor that may be reversed; by lot it would be half. */
const DISTURBED_SHARE = 0.3;
const BY_LOT = 0.5;

export interface OrderTerms {
  /** Visitors who came closer together may be in either order. */
  readonly disorderMs: number;
  /** No undisturbed visitor is overtaken by one who came later by more than this. */
  readonly overtakingMaxMs: number;
  /** True: visitors who were disturbed are judged as well. */
  readonly isWhole: boolean;
}

interface Place {
  readonly joinedAt: number;
  /** null: went straight through, without a number. */
  readonly sequence: number | null;
  word: Word | null;
  isCounted: boolean;
}

interface Word {
  readonly rank: number;
  readonly at: number;
}

export interface OrderFigures {
  readonly counted: number;
  readonly tau: number;
  readonly displacement: number;
}

export class Order implements Check {
  readonly name = "order";
  readonly #terms: OrderTerms | null;
  readonly #places = new Map<string, Place>();
  readonly #bySequence = new Map<number, Place>();
  readonly #early = new Map<number, Word>();
  readonly #troubles = new Troubles();
  #ranks = 0;

  /** null: only measures, and promises nothing. */
  constructor(terms: OrderTerms | null) {
    this.#terms = terms;
  }

  see(notice: Notice): string | null {
    this.#troubles.see(notice);
    if (notice.kind === "answered" && notice.request === "join") this.#join(notice);
    else if (notice.kind === "turns")
      for (const sequence of notice.sequences) this.#turn(sequence, notice.at);
    else if (notice.kind === "told") this.#count(notice.id, notice.isSteady);
    else if (notice.kind === "away") this.#count(notice.id, false);
    else if (notice.kind === "ended") return this.#judge();
    return null;
  }

  figures(): OrderFigures {
    return figuresOf(this.#counted().map(turnOf));
  }

  #join({ id, at, askedAt, answer }: AnsweredNotice): void {
    if (answer.kind === "refused") return;
    const sequence = answer.kind === "waiting" ? answer.ticket.sequence : null;
    const word = sequence === null ? this.#word(at) : (this.#early.get(sequence) ?? null);
    const place: Place = { joinedAt: askedAt, sequence, word, isCounted: false };
    this.#places.set(id, place);
    if (sequence !== null) this.#bySequence.set(sequence, place);
  }

  #turn(sequence: number, at: number): void {
    const place = this.#bySequence.get(sequence);
    if (place) place.word ??= this.#word(at);
    else if (!this.#early.has(sequence)) this.#early.set(sequence, this.#word(at));
  }

  #word(at: number): Word {
    return { rank: this.#ranks++, at };
  }

  #count(id: string, isCounted: boolean): void {
    const place = this.#places.get(id);
    if (place) place.isCounted = isCounted;
  }

  #judge(): string | null {
    const terms = this.#terms;
    if (terms === null) return null;
    const counted = this.#counted();
    const calm = counted.filter((place) => !this.#isDisturbed(place));
    const turns = calm.map(turnOf);
    return (
      tooFar(turns, { of: "of the undisturbed visitors", wrongMax: wrongMaxOf(turns, terms) }) ??
      tooFarOff(turns, terms) ??
      (terms.isWhole ? judgeAll(counted.map(turnOf), turns.length, terms) : null)
    );
  }

  #isDisturbed({ joinedAt, word }: Place): boolean {
    return this.#troubles.isAt(joinedAt) || this.#troubles.isAt(word!.at);
  }

  #counted(): Place[] {
    return [...this.#places.values()].filter(({ isCounted, word }) => isCounted && word !== null);
  }
}

function judgeAll(turns: readonly Turn[], calm: number, terms: OrderTerms): string | null {
  const disturbedPairs = pairsOf(turns.length) - pairsOf(calm);
  const wrongMax = wrongMaxOf(turns, terms) + DISTURBED_SHARE * disturbedPairs;
  return tooFar(turns, { of: "of all", wrongMax });
}

function tooFar(turns: readonly Turn[], { of, wrongMax }: { of: string; wrongMax: number }): string | null {
  const { counted, tau, displacement } = figuresOf(turns);
  const tauMax = wrongMax / Math.max(1, pairsOf(counted));
  if (tau <= tauMax) return null;
  const farthest = `somebody was ${displacement} places from theirs`;
  return `the order of admission ${of} (${counted}) is ${tau.toFixed(5)} from that of joining (at most ${tauMax.toFixed(5)}); ${farthest}`;
}

function tooFarOff(turns: readonly Turn[], { overtakingMaxMs }: OrderTerms): string | null {
  const displacement = displacementOf(turns);
  const most = mostWithin(turns, overtakingMaxMs);
  if (displacement <= most) return null;
  return `somebody was ${displacement} places from theirs, and no more than ${most} others came within ${overtakingMaxMs} ms`;
}

function wrongMaxOf(turns: readonly Turn[], { disorderMs }: OrderTerms): number {
  const neighbours = turns.length / 2;
  return neighbours + BY_LOT * pairsWithin(turns, disorderMs);
}

function figuresOf(turns: readonly Turn[]): OrderFigures {
  return { counted: turns.length, tau: unfairness(turns), displacement: displacementOf(turns) };
}

function turnOf({ joinedAt, word }: Place): Turn {
  return { joined: joinedAt, admitted: word!.rank };
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}

function pairsWithin(turns: readonly Turn[], withinMs: number): number {
  return closeBefore(turns, withinMs).reduce((sum, count) => sum + count, 0);
}

function mostWithin(turns: readonly Turn[], withinMs: number): number {
  return Math.max(0, ...closeBefore(turns, withinMs));
}

/** For each, in order of joining: how many joined within that time before them. */
function closeBefore(turns: readonly Turn[], withinMs: number): number[] {
  const joined = turns.map((turn) => turn.joined).sort((a, b) => a - b);
  let first = 0;
  return joined.map((at, i) => {
    while (at - joined[first]! > withinMs) first++;
    return i - first;
  });
}

function displacementOf(turns: readonly Turn[]): number {
  const joined = [...turns].sort((a, b) => a.joined - b.joined || a.admitted - b.admitted);
  const admitted = [...turns].sort((a, b) => a.admitted - b.admitted);
  const ranks = new Map(admitted.map((turn, rank) => [turn, rank]));
  return joined.reduce((most, turn, rank) => Math.max(most, Math.abs(ranks.get(turn)! - rank)), 0);
}
