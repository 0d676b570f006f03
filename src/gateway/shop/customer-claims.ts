/**
 * Who is one customer over several visits: whom a JWT names that the organiser's site signed and its page sends, in the
 * `Fairgate-Customer` header or a cookie. Someone who brings none is known by their visit. What is brought and is not good is
 * refused, and not taken for nothing: whoever is to be limited must not get around that by spoiling their own token.
 */
import type { CustomerSettings } from "../../config/shop-schema.ts";
import type { Eventually } from "../../core/engine.ts";
import { isVisitName } from "../../core/visit-name.ts";
import { after } from "../ask-engine.ts";
import type { Call } from "../call.ts";
import { headerOf } from "../facts.ts";
import { createJwtCheck, type JwtCheck, type JwtVerdict, withoutScheme } from "../lanes/jwt-check.ts";
import type { KeySets } from "../lanes/key-sets.ts";
import { readCookie } from "../tokens/cookies.ts";
import { CUSTOMER_BYTES_MAX } from "../tokens/shop-token.ts";

/** `refused`: with what was wrong. */
export type CustomerAnswer =
  | { readonly kind: "customer"; readonly customer: string | null }
  | {
      readonly kind: "refused";
      readonly reason: "customerUnknown" | "customerNeeded" | "keysAway";
      readonly why: string;
    };

const NOBODY: CustomerAnswer = { kind: "customer", customer: null };
const NEEDED: CustomerAnswer = {
  kind: "refused",
  reason: "customerNeeded",
  why: "a JWT in Fairgate-Customer is needed here",
};
const MALFORMED: JwtVerdict = { kind: "refused", reason: "malformed" };
/** Nothing is wrong with what was brought; it cannot be looked at now. */
const PASSING = new Set(["keysAway", "busy"]);

export class CustomerClaims {
  readonly #settings: CustomerSettings | null;
  readonly #check: JwtCheck | null;

  constructor(
    settings: CustomerSettings | null,
    parts: { readonly secret: string | null; readonly keySets: Pick<KeySets, "at"> },
  ) {
    this.#settings = settings;
    this.#check = settings && createJwtCheck({ ...settings, values: null }, parts);
  }

  /** The customer behind a call. `known`: whom an earlier call of the same visit named. */
  of({ facts, carrier }: Call, known: string | null): Eventually<CustomerAnswer> {
    const settings = this.#settings;
    if (settings === null) return NOBODY;
    const inCookie = settings.cookie === null ? null : cookieOf(carrier.cookie, settings.cookie);
    const written = withoutScheme(headerOf(facts, "fairgate-customer") ?? "") || inCookie;
    if (!written) return known === null && settings.required ? NEEDED : { kind: "customer", customer: known };
    return after(this.#check!.check(written, facts.now) ?? MALFORMED, answerTo);
  }
}

function cookieOf(header: string | undefined, name: string): string | null {
  return header === undefined ? null : readCookie(header, name);
}

function answerTo(verdict: JwtVerdict): CustomerAnswer {
  if (verdict.kind === "member" && isUsable(verdict.value))
    return { kind: "customer", customer: verdict.value };
  const why = verdict.kind === "refused" ? verdict.reason : "claim";
  return { kind: "refused", reason: PASSING.has(why) ? "keysAway" : "customerUnknown", why };
}

function isUsable(customer: string): boolean {
  return customer !== "" && !isVisitName(customer) && Buffer.byteLength(customer) <= CUSTOMER_BYTES_MAX;
}
