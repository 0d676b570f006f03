/**
 * The guard before a room's line: decides whether a visitor without a place may join now, and keeps the counts that this takes.
 * It knows nothing of HTTP, and is told the time.
 *
 *   budget used up ───────────────────────────────▶ tooMany
 *   no slip, or none that is good ────────────────▶ comeBack, with a new slip (and work to do for it)
 *   slip, too young, or work not done ────────────▶ comeBack, with the same slip
 *   slip that gave a place a moment ago ──────────▶ comeBack: that place is still on its way
 *   slip and a solution that is none ─────────────▶ wrongWork
 *   slip, old enough, work done, never used ──────▶ ok: the slip is used, the join is counted, until it is given back
 *
 * What a visitor was asked to do is enough, even if it has become harder since. The exception is a slip that is too far below
 * the present difficulty: otherwise slips could be hoarded while they are cheap.
 */
import type { AbuseSettings } from "../../config/abuse-schema.ts";
import { difficulty } from "../../core/difficulty.ts";
import { JoinBudget } from "../../core/join-budget.ts";
import { JoinRate } from "../../core/join-rate.ts";
import type { Random } from "../../core/world.ts";
import { type Whereabouts, whereabouts } from "../../sockets/whereabouts.ts";
import type { Keyring } from "../tokens/keyring.ts";
import { isCurrent, type PastVisits, readSlip, SLIP_ID_BYTES, type Slip, slipToken } from "./slip.ts";
import { UsedSlips } from "./used-slips.ts";
import { isSolved } from "./work.ts";

/** How old a slip must be to give a place, where the second contact is asked for. */
const ENTRY_DELAY_MS = 1_000;
/** How long after a slip was used the answer with its place may still be on the way. */
const ON_ITS_WAY_MS = 5_000;
/** A slip may ask for this many bits less than one given now. */
const BITS_BEHIND_MAX = 2;

/** A visitor without a place who wants one. */
export interface Joining {
  readonly address: string;
  /** The slip's text, if they carry one. */
  readonly slip: string | null;
  /** The solution that they sent. */
  readonly solution: string | null;
  /** They hold a place and give it up for the new one; they have shown a slip and done the work for that place. */
  readonly hasPlace: boolean;
  /** They must prove that they keep a cookie, even if the settings do not ask for it. */
  readonly mustProve: boolean;
  /** The record of earlier visits in their token; a slip carries it on. */
  readonly past: PastVisits;
  readonly now: number;
}

/** Why a visitor may not join yet; each reason is counted under its name. */
export type JoinHold =
  | "addressBudget"
  | "networkBudget"
  | "firstContact"
  | "badSlip"
  | "usedSlip"
  | "tooSoon"
  | "noWork"
  | "easyWork"
  | "wrongWork";

export interface WorkChallenge {
  readonly challenge: string;
  readonly bits: number;
}

export interface MayJoin {
  readonly kind: "ok";
  /** The record of their earlier visits. */
  readonly past: PastVisits;
  /** They came back with a slip, so they can keep a token. */
  readonly isProven: boolean;
  /** Gives back all that the join took: budgets, slip, join rate. For a join that failed; a second call does nothing. */
  giveBack(now: number): void;
}

export interface ComeBack {
  readonly kind: "comeBack";
  readonly reason: JoinHold;
  /** The slip to hand out. Null: they keep what they have, and no cookie is set. */
  readonly slip: string | null;
  /** What to do in the meantime. Null: nothing. */
  readonly work: WorkChallenge | null;
  /** Not sooner than this. */
  readonly waitMs: number;
}

export interface TooMany {
  readonly kind: "tooMany";
  readonly reason: "addressBudget" | "networkBudget";
  readonly retryAfterSeconds: number;
}

export interface WrongWork {
  readonly kind: "wrongWork";
  readonly reason: "wrongWork";
}

export type JoinVerdict = MayJoin | ComeBack | TooMany | WrongWork;

interface Parts {
  readonly room: string;
  readonly settings: AbuseSettings;
  readonly keyring: Keyring;
  readonly random: Pick<Random, "bytes">;
  readonly now: number;
}

export class AbuseGuard {
  readonly #parts: Parts;
  readonly #byAddress: JoinBudget | null;
  readonly #byNetwork: JoinBudget | null;
  readonly #used: UsedSlips;
  readonly #rate: JoinRate;

  /** `before`: the guard whose counts are carried on. */
  constructor(parts: Parts, before: AbuseGuard | null) {
    const { settings, now } = parts;
    this.#parts = parts;
    this.#byAddress = keptBudget(before ? before.#byAddress : null, settings.joinsPerMinutePerAddress, now);
    this.#byNetwork = keptBudget(before ? before.#byNetwork : null, settings.joinsPerMinutePerNetwork, now);
    this.#used = before ? before.#used : new UsedSlips(now);
    this.#rate = before ? before.#rate : new JoinRate();
  }

  /** Whether they may join. With "ok" the join is counted: it must be made now, or given back. */
  mayJoin(joining: Joining): JoinVerdict {
    const { entryDelay, proofOfWork } = this.#parts.settings;
    const hasBudget = this.#byAddress !== null || this.#byNetwork !== null;
    const from = hasBudget ? whereabouts(joining.address) : null;
    const overdrawn = from && this.#overdrawn(from, joining.now);
    if (overdrawn) return overdrawn;
    const isSlipWanted = entryDelay || proofOfWork !== null || joining.mustProve;
    if (joining.hasPlace || !isSlipWanted) return this.#join(from, null, joining);
    const slip = this.#slipOf(joining);
    return "kind" in slip ? slip : this.#join(from, slip, joining);
  }

  #overdrawn(from: Whereabouts, now: number): TooMany | null {
    const addressMs = this.#byAddress?.waitMs(from.address, now) ?? 0;
    const networkMs = this.#byNetwork?.waitMs(from.network, now) ?? 0;
    const waitMs = Math.max(addressMs, networkMs);
    if (waitMs === 0) return null;
    const reason = addressMs > 0 ? "addressBudget" : "networkBudget";
    return { kind: "tooMany", reason, retryAfterSeconds: Math.ceil(waitMs / 1_000) };
  }

  /** All that a join takes, and the one way to give it back. */
  #join(from: Whereabouts | null, slip: Slip | null, { past, now }: Joining): MayJoin {
    const [byAddress, byNetwork] = [this.#byAddress, this.#byNetwork];
    const ofAddress = from && byAddress?.take(from.address, now);
    const ofNetwork = from && byNetwork?.take(from.network, now);
    if (slip) this.#used.use(slip, now);
    this.#rate.add(now);
    let isGivenBack = false;
    const giveBack = (later: number) => {
      if (isGivenBack) return;
      isGivenBack = true;
      if (ofAddress) byAddress?.giveBack(ofAddress, later);
      if (ofNetwork) byNetwork?.giveBack(ofNetwork, later);
      if (slip) this.#used.giveBack(slip);
      this.#rate.giveBack(now);
    };
    return { kind: "ok", past: slip?.past ?? past, isProven: slip !== null, giveBack };
  }

  /** The slip that gives them a place, or why they get none yet. */
  #slipOf(joining: Joining): Slip | ComeBack | WrongWork {
    const { now, slip: text } = joining;
    if (text === null) return this.#newSlip("firstContact", joining.past, now);
    const { room, keyring, settings } = this.#parts;
    const slip = readSlip(text, { room, keyring, now });
    if (slip === null) return this.#newSlip("badSlip", joining.past, now);
    if (!isCurrent(slip, now) || !this.#used.isKnown(slip)) return this.#newSlip("badSlip", slip.past, now);
    const usedAt = this.#used.usedAt(slip);
    if (usedAt !== null) return this.#again(slip, usedAt, now);
    if (settings.proofOfWork !== null && this.#isTooEasy(slip, now))
      return this.#newSlip("easyWork", slip.past, now);
    const work = settings.proofOfWork === null ? null : { challenge: text, bits: slip.bits };
    const waitMs = settings.entryDelay ? Math.max(0, slip.givenAt + ENTRY_DELAY_MS - now) : 0;
    if (waitMs > 0) return { kind: "comeBack", reason: "tooSoon", slip: null, work, waitMs };
    return work === null ? slip : checkWork(slip, work, joining.solution);
  }

  /**
   * A slip was shown again. Two tabs may have shown it at once: one of them has the place, and a new slip for the other would
   * replace its cookie. A client that still has the slip after a while never got that cookie, and starts anew.
   */
  #again({ past }: Slip, usedAt: number, now: number): ComeBack {
    if (now - usedAt >= ON_ITS_WAY_MS) return this.#newSlip("usedSlip", past, now);
    return { kind: "comeBack", reason: "usedSlip", slip: null, work: null, waitMs: ENTRY_DELAY_MS };
  }

  /** Also true for a slip from before there was work to do. */
  #isTooEasy({ bits }: Slip, now: number): boolean {
    return bits < Math.max(1, this.#bits(now) - BITS_BEHIND_MAX);
  }

  #newSlip(reason: JoinHold, past: PastVisits, now: number): ComeBack {
    const { room, keyring, random, settings } = this.#parts;
    const id = Buffer.from(random.bytes(SLIP_ID_BYTES)).readUIntBE(0, SLIP_ID_BYTES);
    const bits = this.#bits(now);
    const slip = slipToken({ id, givenAt: now, bits, past }, room, keyring);
    const work = bits === 0 ? null : { challenge: slip, bits };
    return { kind: "comeBack", reason, slip, work, waitMs: settings.entryDelay ? ENTRY_DELAY_MS : 0 };
  }

  #bits(now: number): number {
    const rules = this.#parts.settings.proofOfWork;
    return rules === null ? 0 : difficulty(rules, this.#rate.perSecond(now));
  }
}

function checkWork(slip: Slip, work: WorkChallenge, solution: string | null): Slip | ComeBack | WrongWork {
  if (solution === null) return { kind: "comeBack", reason: "noWork", slip: null, work, waitMs: 0 };
  return isSolved(work.challenge, work.bits, solution) ? slip : { kind: "wrongWork", reason: "wrongWork" };
}

/** The same budget while its size stays the same, so that other settings can change without losing its counts. */
function keptBudget(before: JoinBudget | null, perMinute: number | null, now: number): JoinBudget | null {
  if (perMinute === null) return null;
  return before?.perMinute === perMinute ? before : new JoinBudget({ perMinute, now });
}
