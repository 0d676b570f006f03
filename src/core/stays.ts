/**
 * How long visits last, and so when slots come free. A visit goes on while its pass is renewed. It ends in one of two
 * ways: its holder *leaves* (by the page, the origin or the operator) and the slot is free at once, or they *stop*, and it
 * is free a session after their last sign of life. When someone stopped is known only afterwards, so it is estimated:
 *
 *  - of all silences that lasted this long, in how many did the visitor come back? (twentieths of a session)
 *  - of all visits that got this old, how many stopped or left then? (steps of age, four to each doubling)
 *
 * Visits still on the site count as far as they got (censored); one that has been silent for a while counts as stopped by the
 * chance that it has. Before anything was seen there is a guess, worth a fraction of one visit; what is learned of all ages
 * fills in for ages with little data. Old counts are halved now and then, so that the estimate follows a site that changes.
 *
 * At most a thousand visits are followed (`visit-sample.ts`).
 */
import { PRESENCE_GRACE_MS } from "./pass.ts";

/** A visit on the site. */
export interface SeenVisit {
  readonly id: string;
  readonly admittedAt: number;
  readonly expiresAt: number;
}

/** The rules that bound visits. */
export interface StayRules {
  readonly sessionDurationMs: number;
  readonly disableSessionRenewal: boolean;
  readonly lingerMs: number;
}

/** What was learned, for the time after a restart: lists of counts. */
export type StaysMemo = readonly (readonly number[])[];

/** A span of time cut into equal steps. */
export interface Steps {
  readonly stepMs: number;
  readonly steps: number;
}

/** How many of those on the site have gone by the end of each step, and the variance of that. */
export interface Departures {
  readonly gone: Float64Array;
  readonly variance: Float64Array;
}

const AGE_STEPS = 64;
const STEPS_PER_DOUBLING = 4;
const FIRST_AGE_MS = 1_000;
const SILENCE_STEPS = 20;
/** A pass is renewed a tenth of a session after the last time, at the earliest. */
const TELLING_SILENCE = 0.1;
/** Counts of more ends than this are halved. */
const ENDS_MAX = 1_200;

/** The guess: means in sessions, and how many ends each is worth. */
const STOP_GUESS = { ends: 0.5, sessions: 0.4 };
const LEAVE_GUESS = { ends: 0.2, sessions: 4 };
/** At each age, the rate over all ages counts as much as this many visits of that age. */
const POOLED_VISITS = 6;
/** An age has data of its own once this many visits were followed through it. */
const SEEN_VISITS = 3;
/** After this many expired passes, what was learned of silences counts half. */
const PROOF_STOPS = 5;
/** The guess of coming back in each step of a silence: nobody before a renewal is due, then ever fewer. */
const BACK_GUESS = Array.from({ length: SILENCE_STEPS }, (_, step) =>
  step < 2 ? 0 : 0.3 * 0.75 ** (step - 2),
);
const BACK_GUESS_VISITS = 3;
const CHANCE_MAX = 0.999;
/** No count comes near. */
const COUNT_MAX = 1e9;
/** A visit counts from when its turn was given; it is first seen when that was used. */
const TURN_USED_WITHIN_MS = 10_000;

/** The age at which each step begins. */
const AGE_STARTS = Float64Array.from({ length: AGE_STEPS + 1 }, (_, step) =>
  step === 0 ? 0 : FIRST_AGE_MS * 2 ** ((step - 1) / STEPS_PER_DOUBLING),
);

interface Followed {
  readonly admittedAt: number;
  /** The last renewal known. */
  seenAt: number;
  expiresAt: number;
  /** Was halved as often as the counts were. */
  weight: number;
  /** The look that saw it last. */
  look: number;
}

export class Stays {
  readonly #stopped = new Float64Array(AGE_STEPS);
  readonly #left = new Float64Array(AGE_STEPS);
  /** Visits at risk in each step of age; one that came to only a part of the step counts as that part. */
  readonly #passed = new Float64Array(AGE_STEPS);
  readonly #back = new Float64Array(SILENCE_STEPS);
  /** Those of them that left. */
  readonly #leftOut = new Float64Array(SILENCE_STEPS);
  /** Silences that came to each step. */
  readonly #silent = new Float64Array(SILENCE_STEPS);
  readonly #followed = new Map<string, Followed>();
  #looks = 0;
  /** Chance, for each step of silence, that the visitor has stopped. */
  #gone = new Float64Array(SILENCE_STEPS + 1);
  /** Cumulative hazards at the start of each step of age. */
  #stopBy = new Float64Array(AGE_STEPS + 1);
  #leaveBy = new Float64Array(AGE_STEPS + 1);
  #known = 0;
  /** Ages up to here were seen of some visits. */
  #seenAge = 0;
  #session = 1;
  #rules: StayRules = { sessionDurationMs: 1, disableSessionRenewal: false, lingerMs: 0 };
  #now = 0;
  /** When it was looked before. */
  #lookedAt = 0;

  /** Takes in who is on the site now: the same sample of all visits each time. */
  look(visits: Iterable<SeenVisit>, rules: StayRules, now: number): void {
    this.#rules = rules;
    this.#session = rules.sessionDurationMs;
    this.#lookedAt = this.#looks === 0 ? now : this.#now;
    this.#now = now;
    const look = ++this.#looks;
    for (const visit of visits) this.#see(visit, look, now);
    for (const [id, followed] of this.#followed) {
      if (followed.look === look) continue;
      this.#followed.delete(id);
      this.#end(followed, now);
    }
    this.#halve();
    this.#learnGone();
    this.#learnHazards();
  }

  /** How many visits the estimate rests on: those followed now. */
  get size(): number {
    return this.#followed.size;
  }

  /** Relative doubt about how long visits last, from how many ends were seen. */
  get doubt(): number {
    return 1 / Math.sqrt(1.5 + this.#known);
  }

  /** What part of a mean visit is the session after the last sign of life, which the rules set. */
  get knownShare(): number {
    const { disableSessionRenewal } = this.#rules;
    const mean = this.meanHoldMs();
    return Math.min(1, (this.#chanceOfStop() * (disableSessionRenewal ? mean : this.#silenceMs)) / mean);
  }

  /** The same as far as no pass was seen to run out yet: those who seem to have stopped may all come back. */
  get unprovenShare(): number {
    if (this.#rules.disableSessionRenewal) return 0;
    return (this.knownShare * PROOF_STOPS) / (PROOF_STOPS + sum(this.#stopped));
  }

  /** What part of a mean visit lies at ages to which hardly any visit was followed yet. */
  get unseenShare(): number {
    const to = this.#rules.disableSessionRenewal ? this.#session : Number.POSITIVE_INFINITY;
    return (this.#meanTo(to) - this.#meanTo(Math.min(to, this.#seenAge))) / this.meanHoldMs();
  }

  /** How long a visit that begins now is expected to hold its slot. */
  meanHoldMs(): number {
    if (this.#rules.disableSessionRenewal) return this.#meanTo(this.#session) + PRESENCE_GRACE_MS;
    return this.#meanTo(Number.POSITIVE_INFINITY) + this.#chanceOfStop() * this.#silenceMs;
  }

  /** Departures of those on the site, when there are `size` of them. Those followed stand for all. */
  departures(size: number, { stepMs, steps }: Steps): Departures {
    const gone = new Float64Array(steps);
    const variance = new Float64Array(steps);
    if (this.#followed.size === 0 || size <= 0) return this.#unseen(size, { stepMs, steps });
    const share = size / this.#followed.size;
    const isFixed = this.#rules.disableSessionRenewal;
    const active = new Float64Array(AGE_STEPS);
    const activeAge = new Float64Array(AGE_STEPS);
    let oldest = 0;
    for (const { admittedAt, seenAt, expiresAt } of this.#followed.values()) {
      const endsIn = Math.max(0, expiresAt + PRESENCE_GRACE_MS - this.#now);
      const age = this.#now - admittedAt;
      oldest = Math.max(oldest, age);
      if (isFixed) {
        this.#addFixed(gone, { age, endsIn, share, stepMs });
        continue;
      }
      const chance = this.#goneAfter(this.#now - seenAt);
      add(gone, endsIn / stepMs, chance * share);
      add(variance, endsIn / stepMs, chance * (1 - chance) * share);
      const step = ageStep(age);
      active[step]! += (1 - chance) * share;
      activeAge[step]! += (1 - chance) * share * age;
    }
    cumulate(gone);
    cumulate(variance);
    const hazards = this.#hazardsBy(stepMs, steps + Math.ceil(oldest / stepMs));
    for (let step = 0; step < AGE_STEPS; step++) {
      const weight = active[step]!;
      if (weight <= 0) continue;
      const ends = new Float64Array(steps);
      this.#addActive(ends, hazards, { fromMs: activeAge[step]! / weight, weight, stepMs });
      cumulate(ends);
      for (let i = 0; i < steps; i++) {
        gone[i]! += ends[i]!;
        variance[i]! += ends[i]! * (1 - ends[i]! / weight);
      }
    }
    return { gone, variance };
  }

  /** What share of visits has ended by the end of each step from when their turn was given. */
  hold({ stepMs, steps }: Steps): Float64Array {
    const gone = new Float64Array(steps);
    if (this.#rules.disableSessionRenewal)
      this.#addFixed(gone, {
        age: 0,
        endsIn: this.#session + PRESENCE_GRACE_MS,
        share: 1,
        stepMs,
      });
    else this.#addActive(gone, this.#hazardsBy(stepMs, steps), { fromMs: 0, weight: 1, stepMs });
    return cumulate(gone);
  }

  memo(): StaysMemo {
    return this.#counts().map((counts) => Array.from(counts, (count) => Math.round(count * 1_000) / 1_000));
  }

  /** Takes over what was learned; a memo of another shape is left aside. */
  restore(memo: StaysMemo): void {
    const counts = this.#counts();
    const isGood = (part: readonly number[], index: number) =>
      part.length === counts[index]?.length && part.every((value) => value >= 0 && value < COUNT_MAX);
    if (memo.length === counts.length && memo.every(isGood))
      for (const [index, part] of memo.entries()) counts[index]!.set(part);
  }

  /** All that is learned. */
  #counts(): readonly Float64Array[] {
    return [this.#stopped, this.#left, this.#passed, this.#back, this.#leftOut, this.#silent];
  }

  /** From the last sign of life until the slot is free. */
  get #silenceMs(): number {
    return this.#session + PRESENCE_GRACE_MS;
  }

  #see({ id, admittedAt, expiresAt }: SeenVisit, look: number, now: number): void {
    const seenAt = Math.min(now, Math.max(admittedAt, expiresAt - this.#session));
    const known = this.#followed.get(id);
    if (!known) {
      this.#followed.set(id, { admittedAt, seenAt: admittedAt, expiresAt, weight: 1, look });
      // Only a newcomer's life is known from its start.
      if (admittedAt >= this.#lookedAt - TURN_USED_WITHIN_MS) this.#renewed(this.#followed.get(id)!, seenAt);
      else this.#followed.get(id)!.seenAt = seenAt;
      return;
    }
    known.look = look;
    known.expiresAt = expiresAt;
    if (seenAt > known.seenAt) this.#renewed(known, seenAt);
  }

  #renewed(followed: Followed, seenAt: number): void {
    const { admittedAt, weight } = followed;
    const silentMs = seenAt - followed.seenAt;
    if (silentMs > 0) {
      this.#silence(silentMs, weight, true);
      this.#pass(this.#passed, followed.seenAt - admittedAt, seenAt - admittedAt, weight);
    }
    followed.seenAt = seenAt;
  }

  /** A silence that lasted so long, and ended by the visitor's doing or not at all. */
  #silence(silentMs: number, weight: number, isBack: boolean): void {
    const last = isBack ? this.#silenceStep(silentMs) : SILENCE_STEPS - 1;
    for (let step = 0; step <= last; step++) this.#silent[step]! += weight;
    if (isBack) this.#back[last]! += weight;
  }

  #end({ admittedAt, seenAt, expiresAt, weight }: Followed, now: number): void {
    const isExpired = now >= expiresAt + PRESENCE_GRACE_MS - 1;
    // A first pass that nobody came back with is short, and says nothing of visits.
    if (isExpired && expiresAt - admittedAt < this.#session * (1 - 1 / SILENCE_STEPS)) return;
    const seenAge = seenAt - admittedAt;
    if (isExpired) {
      if (this.#rules.disableSessionRenewal) {
        this.#pass(this.#passed, seenAge, expiresAt - admittedAt, weight);
        return;
      }
      this.#silence(this.#session, weight, false);
      this.#happen(this.#passed, this.#stopped, seenAge, weight);
      return;
    }
    // It left some time since the last look.
    const leftAt = Math.max(seenAt, (this.#lookedAt + now) / 2);
    this.#silence(leftAt - seenAt, weight, true);
    this.#leftOut[this.#silenceStep(leftAt - seenAt)]! += weight;
    this.#pass(this.#passed, seenAge, leftAt - admittedAt, weight);
    this.#happen(this.#passed, this.#left, leftAt - admittedAt, weight);
  }

  /** Something happens at this age: the step counts whole. */
  #happen(passed: Float64Array, counts: Float64Array, age: number, weight: number): void {
    const step = ageStep(age);
    counts[step]! += weight;
    const length = AGE_STARTS[step + 1]! - AGE_STARTS[step]!;
    passed[step]! += weight * Math.max(0, 1 - (age - AGE_STARTS[step]!) / length);
  }

  #pass(passed: Float64Array, from: number, to: number, weight: number): void {
    for (let step = ageStep(from); step < AGE_STEPS && AGE_STARTS[step]! < to; step++) {
      const start = AGE_STARTS[step]!;
      const end = AGE_STARTS[step + 1]!;
      passed[step]! += (weight * (Math.min(to, end) - Math.max(from, start))) / (end - start);
    }
  }

  #halve(): void {
    if (sum(this.#stopped) + sum(this.#left) <= ENDS_MAX) return;
    for (const counts of this.#counts()) for (let i = 0; i < counts.length; i++) counts[i]! /= 2;
    for (const followed of this.#followed.values()) followed.weight /= 2;
  }

  #learnGone(): void {
    const silent = Float64Array.from(this.#silent);
    for (const { seenAt, weight } of this.#followed.values()) {
      // Steps that are over without a sign of life.
      const over = this.#silenceStep(this.#now - seenAt);
      for (let step = 0; step < over; step++) silent[step]! += weight;
    }
    let leaves = 0;
    for (let step = 0; step < SILENCE_STEPS; step++) {
      // Those who leave do so out of any silence, so what is known of shorter ones holds for longer ones.
      leaves = (this.#leftOut[step]! + leaves * BACK_GUESS_VISITS) / (silent[step]! + BACK_GUESS_VISITS);
      const back = this.#back[step]! + Math.max(BACK_GUESS[step]!, leaves) * BACK_GUESS_VISITS;
      this.#gone[step] = 1 - Math.min(1, back / (silent[step]! + BACK_GUESS_VISITS));
    }
    this.#gone[SILENCE_STEPS] = 1;
    for (let step = SILENCE_STEPS - 1; step >= 0; step--) this.#gone[step]! *= this.#gone[step + 1]!;
  }

  #learnHazards(): void {
    const stopped = Float64Array.from(this.#stopped);
    const atRiskOfStop = Float64Array.from(this.#passed);
    const atRiskOfLeave = Float64Array.from(this.#passed);
    const isFixed = this.#rules.disableSessionRenewal;
    let sure = 0;
    for (const { admittedAt, seenAt, weight } of this.#followed.values()) {
      const silentMs = this.#now - seenAt;
      const chance = isFixed ? 0 : this.#goneAfter(silentMs);
      const ages = [seenAt - admittedAt, this.#now - admittedAt] as const;
      this.#pass(atRiskOfLeave, ...ages, weight * (1 - chance));
      // Before a renewal is due a silence says nothing.
      if (silentMs < this.#session * TELLING_SILENCE) continue;
      this.#pass(atRiskOfStop, ...ages, weight * (1 - chance));
      if (chance > 0) this.#happen(atRiskOfStop, stopped, ages[0], weight * chance);
      if (chance > 0.5) sure += weight * chance;
    }
    this.#seenAge = AGE_STARTS[atRiskOfLeave.findLastIndex((visits) => visits >= SEEN_VISITS) + 1]!;
    this.#known = sum(this.#left) + sum(this.#stopped) + sure;
    const stops = isFixed ? null : this.#chances(stopped, atRiskOfStop, STOP_GUESS);
    const leaves = this.#chances(this.#left, atRiskOfLeave, LEAVE_GUESS);
    for (let step = 0; step < AGE_STEPS; step++) {
      this.#stopBy[step + 1] = this.#stopBy[step]! - Math.log(1 - (stops?.[step] ?? 0));
      this.#leaveBy[step + 1] = this.#leaveBy[step]! - Math.log(1 - leaves[step]!);
    }
  }

  /** The chance of an end in each step of age: as counted there, and where little was counted, as at all ages together. */
  #chances(ends: Float64Array, atRisk: Float64Array, guess: typeof STOP_GUESS): Float64Array {
    let timeMs = guess.ends * guess.sessions * this.#session;
    // A visit that was not followed from its start may end in a step in which it hardly counts as having been at risk.
    for (let step = 0; step < AGE_STEPS; step++)
      timeMs += Math.max(0, atRisk[step]! - ends[step]! / 2) * lengthOf(step);
    const rate = (sum(ends) + guess.ends) / timeMs;
    return ends.map((count, step) => {
      const pooled = 1 - Math.exp(-rate * lengthOf(step));
      return Math.min(CHANCE_MAX, (count + POOLED_VISITS * pooled) / (atRisk[step]! + POOLED_VISITS));
    });
  }

  #silenceStep(silentMs: number): number {
    return Math.max(0, Math.min(SILENCE_STEPS - 1, Math.floor((silentMs / this.#session) * SILENCE_STEPS)));
  }

  #goneAfter(silentMs: number): number {
    const at = Math.max(0, Math.min(SILENCE_STEPS, (silentMs / this.#session) * SILENCE_STEPS));
    const step = Math.min(SILENCE_STEPS - 1, Math.floor(at));
    return this.#gone[step]! + (at - step) * (this.#gone[step + 1]! - this.#gone[step]!);
  }

  /** Of visits that begin, the share that ends by stopping. */
  #chanceOfStop(): number {
    if (this.#rules.disableSessionRenewal) return Math.exp(-this.#at(this.#leaveBy, this.#session));
    let chance = 0;
    for (let step = 0; step < AGE_STEPS; step++) {
      const stop = this.#stopBy[step + 1]! - this.#stopBy[step]!;
      const leave = this.#leaveBy[step + 1]! - this.#leaveBy[step]!;
      const lived = Math.exp(-this.#stopBy[step]! - this.#leaveBy[step]!);
      chance += stop + leave === 0 ? 0 : (lived * (1 - Math.exp(-stop - leave)) * stop) / (stop + leave);
    }
    return chance;
  }

  /** Mean age at which a visit stops or leaves, where it is cut off at `mostMs`. */
  #meanTo(mostMs: number): number {
    let mean = 0;
    for (let step = 0; step < AGE_STEPS && AGE_STARTS[step]! < mostMs; step++) {
      const length = Math.min(mostMs, AGE_STARTS[step + 1]!) - AGE_STARTS[step]!;
      const from = this.#stopBy[step]! + this.#leaveBy[step]!;
      const to = this.#stopBy[step + 1]! + this.#leaveBy[step + 1]!;
      const hazard = to - from;
      mean += length * Math.exp(-from) * (hazard < 1e-9 ? 1 : (1 - Math.exp(-hazard)) / hazard);
    }
    return mean;
  }

  #at(by: Float64Array, age: number): number {
    const step = ageStep(age);
    const start = AGE_STARTS[step]!;
    const share = Math.min(1, (age - start) / (AGE_STARTS[step + 1]! - start));
    return by[step]! + share * (by[step + 1]! - by[step]!);
  }

  /** Cumulative hazards at the ages that are whole steps. */
  #hazardsBy(stepMs: number, steps: number): Hazards {
    const stop = new Float64Array(steps + 2);
    const leave = new Float64Array(steps + 2);
    for (let step = 0; step < steps + 2; step++) {
      stop[step] = this.#at(this.#stopBy, step * stepMs);
      leave[step] = this.#at(this.#leaveBy, step * stepMs);
    }
    return { stop, leave };
  }

  /** Visits of this age that go on: in each step some stop, and are gone after their session, and some leave. */
  #addActive(
    gone: Float64Array,
    hazards: Hazards,
    { fromMs, weight, stepMs }: { fromMs: number; weight: number; stepMs: number },
  ): void {
    const silence = this.#silenceMs / stepMs;
    const linger = this.#rules.lingerMs / stepMs;
    const from = Math.floor(fromMs / stepMs);
    const share = fromMs / stepMs - from;
    let stop = between(hazards.stop, from, share);
    let leave = between(hazards.leave, from, share);
    let living = weight;
    for (let step = 0; step < gone.length && living > weight * 1e-4; step++) {
      const stopNext = between(hazards.stop, from + step + 1, share);
      const leaveNext = between(hazards.leave, from + step + 1, share);
      const stops = stopNext - stop;
      const hazard = stops + leaveNext - leave;
      if (hazard > 0) {
        const ended = living * (1 - Math.exp(-hazard));
        // Ends spread over the step: counted at its middle.
        add(gone, step + 0.5 + silence, (ended * stops) / hazard);
        add(gone, step + 0.5 + linger, ended * (1 - stops / hazard));
        living -= ended;
      }
      stop = stopNext;
      leave = leaveNext;
    }
  }

  /** A visit that ends at a set instant, unless its holder leaves before. */
  #addFixed(
    gone: Float64Array,
    { age, endsIn, share, stepMs }: { age: number; endsIn: number; share: number; stepMs: number },
  ): void {
    let left = this.#at(this.#leaveBy, age);
    let living = share;
    for (let step = 0; step < gone.length && (step + 1) * stepMs < endsIn; step++) {
      const next = this.#at(this.#leaveBy, age + (step + 1) * stepMs);
      const leaves = living * (1 - Math.exp(left - next));
      add(gone, step + 0.5 + this.#rules.lingerMs / stepMs, leaves);
      living -= leaves;
      left = next;
    }
    add(gone, endsIn / stepMs, living);
  }

  /** Nobody was seen who is there: as if they were spread evenly over what a visit lasts. */
  #unseen(size: number, { stepMs, steps }: Steps): Departures {
    const mean = this.meanHoldMs();
    const shares = Float64Array.from({ length: steps }, (_, step) =>
      Math.min(1, ((step + 1) * stepMs) / mean),
    );
    const all = Math.max(0, size);
    return {
      gone: shares.map((share) => all * share),
      variance: shares.map((share) => all * share * (1 - share)),
    };
  }
}

function lengthOf(step: number): number {
  return AGE_STARTS[step + 1]! - AGE_STARTS[step]!;
}

interface Hazards {
  readonly stop: Float64Array;
  readonly leave: Float64Array;
}

function between(by: Float64Array, step: number, share: number): number {
  const before = by[step]!;
  return before + share * (by[Math.min(step + 1, by.length - 1)]! - before);
}

function ageStep(age: number): number {
  if (age < FIRST_AGE_MS) return 0;
  return Math.min(AGE_STEPS - 1, 1 + Math.floor(STEPS_PER_DOUBLING * Math.log2(age / FIRST_AGE_MS) + 1e-9));
}

/**
 * Adds at an instant, in steps. What is counted in a step stands for its middle, so an instant between two middles is shared by
 * both steps: rounded to one of them it would be off by up to half a step, and every later turn with it. What comes after the
 * last step is left out.
 */
function add(counts: Float64Array, at: number, weight: number): void {
  const before = Math.max(0, at - 0.5);
  const step = Math.floor(before);
  const later = before - step;
  if (step < counts.length) counts[step]! += weight * (1 - later);
  if (step + 1 < counts.length) counts[step + 1]! += weight * later;
}

function cumulate(counts: Float64Array): Float64Array {
  for (let i = 1; i < counts.length; i++) counts[i]! += counts[i - 1]!;
  return counts;
}

function sum(counts: Float64Array): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
