/**
 * Which address of an origin gets a request.
 *
 * The best standing goes first (`address-health.ts`); among equals the address with the fewest requests under way, and
 * where these are equal too they take turns. An address whose rest is over gets one request as its trial at once. When all
 * are down, the one that failed longest ago is tried: a guess is better than no answer.
 *
 * **At most half of the addresses rest.** If more than half of those that can be reached are failing, the site may be
 * overloaded, or a visitor may break requests on purpose; leaving them out would only load the others more. They are all
 * used then (Envoy calls this panic routing), each still offered less by its errors.
 *
 * **An address that fails fast draws no traffic.** It has few requests under way just because it fails, so by load alone it
 * would get most of them. An address with clearly more errors than the best is therefore offered only part of an equal share,
 * counted in requests and not in time: each choice earns it a fraction of a request, and it is eligible with a whole one.
 *
 * **Sticky.** With a key, the address is the one with the highest hash of key and address (rendezvous hashing, Thaler and
 * Ravishankar 1996): the same on every gateway, evenly spread, and without its address a visitor moves while nobody else
 * does. Neither load nor errors move anyone; only an address that cannot serve does.
 */
import { type AddressHealth, type AddressUser, STANDING } from "./address-health.ts";

/** The share of the addresses within reach that may rest. */
const RESTING_MAX = 1 / 2;
/** Relative to the best address, what is left of good answers where an address is held back; above, it is only luck. */
const HELD_BACK_BELOW = 0.8;
/** The least an address is offered of its equal share, so that it is noticed when it is well again. */
export const OFFERED_MIN = 0.05;

/** The most requests that an address saves up while it is held back. */
const CREDIT_MAX = 1;

export interface Candidate {
  readonly health: AddressHealth;
  /** For rendezvous hashing; the same on every gateway. */
  readonly hash: number;
  /** Requests under way and waiting. */
  load(): number;
  /** Parts of a request that it was offered while held back. */
  credit: number;
}

/** A request that needs an address. */
export interface Seeker extends AddressUser {
  /** Addresses that failed this request already. */
  readonly tried: readonly Candidate[];
  /** True when it may be sent again if the address fails it. */
  readonly isRepeatable: boolean;
  /** How often it has been. */
  readonly repeats: number;
  readonly stickyKey: string | null;
}

/** Ranks beside the standings, the better the lower. */
const TRIAL = -1;
const HELD_BACK = 0.5;

export class Choice<T extends Candidate> {
  readonly #candidates: readonly T[];
  readonly #isSticky: boolean;
  #turn = 0;
  /** As surveyed for the choice that is being made. */
  #reachable = 0;
  #areAllUsed = false;
  #errorShareMin = 0;

  constructor(candidates: readonly T[], isSticky: boolean) {
    this.#candidates = candidates;
    this.#isSticky = isSticky;
  }

  /** The address to use next, leaving out those tried; null when none is left. */
  pick(seeker: Seeker, now: number): T | null {
    const candidates = this.#candidates;
    const { stickyKey } = seeker;
    if (candidates.length === 1) return seeker.tried.length === 0 ? candidates[0]! : null;
    this.#survey(now);
    const best = this.#best(seeker, now, this.#isSticky && stickyKey !== null ? hashOf(stickyKey) : null);
    if (best !== null) this.#choose(best, seeker, now);
    return best;
  }

  /** True when an address other than this one and those tried could serve the request. */
  hasOther(seeker: Seeker, than: T, now: number): boolean {
    return this.#candidates.some(
      (candidate) =>
        candidate !== than &&
        !seeker.tried.includes(candidate) &&
        candidate.health.standing(now, false) < STANDING.unwell,
    );
  }

  #survey(now: number): void {
    let reachable = 0;
    let failing = 0;
    let errorShareMin = 1;
    for (const { health } of this.#candidates) {
      const standing = health.standing(now, false);
      if (standing >= STANDING.unwell) continue;
      reachable++;
      if (standing === STANDING.failing) failing++;
      errorShareMin = Math.min(errorShareMin, health.errorShare(now));
    }
    this.#reachable = reachable;
    this.#areAllUsed = failing > reachable * RESTING_MAX;
    this.#errorShareMin = errorShareMin;
  }

  /** By `keyHash`; or without one by load, those with equal loads in turn. */
  #best(seeker: Seeker, now: number, keyHash: number | null): T | null {
    const candidates = this.#candidates;
    let best: T | null = null;
    let bestRank = Number.POSITIVE_INFINITY;
    for (let i = 0; i < candidates.length; i++) {
      const candidate = candidates[(this.#turn + i) % candidates.length]!;
      if (seeker.tried.includes(candidate)) continue;
      const rank =
        keyHash === null ? this.#rank(candidate, seeker, now) : this.#rankForKey(candidate, seeker, now);
      if (rank > bestRank) continue;
      if (best !== null && rank === bestRank && !isPreferred(candidate, best, rank, keyHash)) continue;
      best = candidate;
      bestRank = rank;
    }
    return best;
  }

  #rank(candidate: T, seeker: Seeker, now: number): number {
    const { health } = candidate;
    const standing = health.standing(now, false);
    if (standing === STANDING.failing) {
      if (health.isTrialDue(now, seeker.isRepeatable)) return TRIAL;
      if (!this.#areAllUsed) return standing;
    } else if (standing !== STANDING.well) return standing;
    return this.#isHeldBack(candidate, now) ? HELD_BACK : STANDING.well;
  }

  /** A trial waits for somebody who belongs to the address. */
  #rankForKey({ health }: T, seeker: Seeker, now: number): number {
    const standing = health.standing(now, true);
    if (standing !== STANDING.failing) return standing;
    return this.#areAllUsed || health.isTrialDue(now, seeker.isRepeatable) ? STANDING.well : standing;
  }

  #isHeldBack(candidate: T, now: number): boolean {
    const offered = this.#offered(candidate, now);
    if (offered === 1) return false;
    candidate.credit = Math.min(candidate.credit + offered / this.#reachable, CREDIT_MAX);
    return candidate.credit < 1;
  }

  /** The part of its equal share that the address is offered. */
  #offered({ health }: T, now: number): number {
    const errorShare = health.errorShare(now);
    if (errorShare === 0) return 1;
    const good = (1 - errorShare) / (1 - this.#errorShareMin);
    return good >= HELD_BACK_BELOW ? 1 : Math.max(good, OFFERED_MIN);
  }

  #choose(candidate: T, seeker: Seeker, now: number): void {
    this.#turn = (this.#candidates.indexOf(candidate) + 1) % this.#candidates.length;
    const { health } = candidate;
    if (health.standing(now, false) === STANDING.failing && health.isTrialDue(now, seeker.isRepeatable))
      health.beginTrial(seeker);
    if (candidate.credit > 0) candidate.credit = Math.max(0, candidate.credit - 1);
  }
}

/** Of two with one rank: of those that are down, the one that failed longer ago is preferred. */
function isPreferred(one: Candidate, other: Candidate, rank: number, keyHash: number | null): boolean {
  if (rank === STANDING.down) return one.health.failedAt < other.health.failedAt;
  return keyHash === null ? one.load() < other.load() : mix(keyHash ^ one.hash) > mix(keyHash ^ other.hash);
}

/** A text as 32 bits (FNV-1a). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix(hash);
}

/** Spreads 32 bits evenly, each to another (the end of MurmurHash3). */
function mix(bits: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
