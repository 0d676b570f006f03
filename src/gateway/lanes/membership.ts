/**
 * Decides which lane a newcomer belongs to. Lanes are tried in their order, foremost first, and the first match wins. Visitors
 * without a match are in the default lane.
 *
 * A lane takes a visitor by address, by a header that a trusted proxy set, by a JWT or by a code, tried in this order, so that a
 * code for one place is not used up by a visitor who belongs to the lane anyway.
 *
 * Invalid codes and JWTs are reported by name and exclude nobody: such visitors are in the default lane. Answers are
 * synchronous, except for a JWT that was not checked lately.
 */
import { type LaneSecrets, laneKey } from "../../config/lane-members.ts";
import type { LaneMembers } from "../../config/lane-schema.ts";
import type { Eventually, Newcomer } from "../../core/engine.ts";
import { laneNumber } from "../../core/lanes.ts";
import { EVERYBODY } from "../../core/rules.ts";
import type { World } from "../../core/world.ts";
import { type Client, createTrust } from "../proxy/trust.ts";
import { readCookie } from "../tokens/cookies.ts";
import { CODE_HEADER, codeInUrl } from "./carried-code.ts";
import {
  type CodeKeys,
  type CodeReading,
  type CodeRefusal,
  codeKeys,
  type LaneCode,
  readCode,
} from "./code.ts";
import {
  createJwtCheck,
  type JwtCheck,
  type JwtRefusal,
  type JwtVerdict,
  withoutScheme,
} from "./jwt-check.ts";
import type { KeySets } from "./key-sets.ts";

/** What lanes may ask about a newcomer. Each is read only when a lane asks for it. */
export interface LaneFacts {
  readonly url: string;
  readonly cookie: string | undefined;
  readonly client: Client;
  /** A header by its name in lower case; a repeated one with all its values, joined. */
  header(name: string): string | undefined;
}

/** `codeUnknownLane`: good, but the room has no such lane. `codeWrongLane`: that lane takes no codes. */
export type LaneRefusal =
  | `code${Capitalize<CodeRefusal | "unknownLane" | "wrongLane">}`
  | `jwt${Capitalize<JwtRefusal>}`;

/** A newcomer's lane, as the engine takes it. */
export interface Belonging extends Pick<Newcomer, "lane" | "invite"> {
  /** What was wrong with the code or JWT. Null: nothing. */
  readonly refusal: LaneRefusal | null;
  /** In words, for the operator. */
  readonly why: string;
}

export interface LaneMembership {
  /** False when there is only the default lane. */
  readonly hasLanes: boolean;
  /** True when an address may contain a code, which only the gateway may see: see `withoutCode`. */
  readonly takesCodes: boolean;
  /** Never fails. */
  laneOf(facts: LaneFacts): Eventually<Belonging>;
}

export interface MembershipParts {
  readonly room: string;
  /** The room's lanes, foremost first. */
  readonly lanes: Readonly<Record<string, { readonly members: LaneMembers }>>;
  /** The keys that sign codes. */
  readonly secrets: { readonly secret: string; readonly previousSecrets: readonly string[] };
  /** The keys that sign JWTs. */
  readonly laneSecrets: LaneSecrets;
  readonly keySets: Pick<KeySets, "at">;
  readonly world: Pick<World, "clock">;
}

interface Lane {
  readonly name: string;
  readonly number: number;
  readonly takesCodes: boolean;
  readonly hasAddress: ((address: string) => boolean) | null;
  readonly header: WantedHeader | null;
  readonly jwt: WantedJwt | null;
}

interface WantedHeader {
  /** As the operator wrote it. */
  readonly name: string;
  readonly lower: string;
  readonly values: ReadonlySet<string>;
}

interface WantedJwt {
  readonly header: string | null;
  readonly cookie: string | null;
  readonly claim: string;
  readonly check: JwtCheck;
}

/** Tries the lanes for one visitor. */
interface Search {
  readonly facts: LaneFacts;
  readonly now: number;
  /** Read when a lane first asks for it; null: there is none. */
  code: CodeReading | null | undefined;
  jwtRefusal: JwtRefusal | null;
}

const ANYWHERE_ELSE: Belonging = {
  lane: EVERYBODY,
  invite: null,
  refusal: null,
  why: "everybody's lane: no other takes them",
};

const WORDS: Readonly<Record<LaneRefusal, string>> = {
  codeMalformed: "what they brought is no code",
  codeForged: "the code was not made for this room with this secret",
  codeExpired: "the code has run out",
  codeUnknownLane: "the code is for a lane that this room does not have",
  codeWrongLane: "the code is for a lane that takes no codes",
  jwtOverlong: "the JWT is too long",
  jwtMalformed: "the JWT cannot be read",
  jwtForged: "the JWT was not signed with the right key in the right way",
  jwtExpired: "the JWT has run out",
  jwtNotYetValid: "the JWT is not valid yet",
  jwtWithoutExpiry: "the JWT does not say when it runs out",
  jwtWrongIssuer: "the JWT is of another issuer",
  jwtWrongAudience: "the JWT is for another audience",
  jwtUnknownKey: "the JWT was signed with a key that is not in the key set",
  jwtKeysAway: "there are no keys to check the JWT by",
  jwtUnusableKey: "the key to check the JWT by is not right",
  jwtBusy: "too many JWTs are being checked",
};

/** Who belongs to which lane of a room. The lanes' key sets are requested at once. */
export function createMembership(parts: MembershipParts): LaneMembership {
  const lanes = Object.entries(parts.lanes).map(([name, { members }]) => laneFrom(name, members, parts));
  const takesCodes = lanes.some((lane) => lane.takesCodes);
  const keys = takesCodes ? codeKeys(parts.room, parts.secrets) : null;
  return {
    hasLanes: lanes.length > 0,
    takesCodes,
    laneOf(facts) {
      if (lanes.length === 0) return ANYWHERE_ELSE;
      const search: Search = { facts, now: parts.world.clock.now(), code: undefined, jwtRefusal: null };
      return along(lanes, 0, search, keys);
    },
  };
}

function laneFrom(name: string, members: LaneMembers, parts: MembershipParts): Lane {
  const { codes, header, jwt, addresses } = members;
  return {
    name,
    number: laneNumber(name),
    takesCodes: codes,
    // Networks are matched in the same way for every purpose.
    hasAddress: addresses.length === 0 ? null : createTrust(addresses).isTrusted,
    header: header && { name: header.name, lower: header.name.toLowerCase(), values: new Set(header.values) },
    jwt: jwt && {
      header: jwt.header?.toLowerCase() ?? null,
      cookie: jwt.cookie,
      claim: jwt.claim,
      check: createJwtCheck(jwt, {
        secret: parts.laneSecrets.get(laneKey(parts.room, name)) ?? null,
        keySets: parts.keySets,
      }),
    },
  };
}

/** From lane number `index` on; continued later when an answer takes time. */
function along(
  lanes: readonly Lane[],
  index: number,
  search: Search,
  keys: CodeKeys | null,
): Eventually<Belonging> {
  for (let i = index; i < lanes.length; i++) {
    const lane = lanes[i]!;
    const why = whyAtOnce(lane, search.facts);
    if (why !== null) return into(lane, why, null, search);
    const verdict = verdictOf(lane, search);
    if (verdict instanceof Promise)
      return verdict.then(
        (late) => withPapers(lane, late, search, keys) ?? along(lanes, i + 1, search, keys),
      );
    const found = withPapers(lane, verdict, search, keys);
    if (found !== null) return found;
  }
  return intoEverybodys(lanes, search);
}

function whyAtOnce({ hasAddress, header }: Lane, facts: LaneFacts): string | null {
  if (hasAddress?.(facts.client.address)) return `address ${facts.client.address} is among its addresses`;
  // From any other sender it is a claim of the visitor.
  if (header === null || !facts.client.isPeerTrusted) return null;
  const value = facts.header(header.lower)?.trim();
  return value !== undefined && header.values.has(value) ? `header ${header.name} is ${value}` : null;
}

function verdictOf({ jwt }: Lane, { facts, now }: Search): Eventually<JwtVerdict> | null {
  if (jwt === null) return null;
  const inHeader = jwt.header === null ? undefined : facts.header(jwt.header);
  const found = inHeader === undefined ? null : jwt.check.check(withoutScheme(inHeader), now);
  if (found !== null || jwt.cookie === null) return found;
  const inCookie = facts.cookie === undefined ? null : readCookie(facts.cookie, jwt.cookie);
  return inCookie === null ? null : jwt.check.check(inCookie, now);
}

function withPapers(
  lane: Lane,
  verdict: JwtVerdict | null,
  search: Search,
  keys: CodeKeys | null,
): Belonging | null {
  if (verdict?.kind === "member")
    return into(lane, `claim ${lane.jwt!.claim} of the JWT is ${verdict.value}`, null, search);
  if (verdict?.kind === "refused") search.jwtRefusal ??= verdict.reason;
  const code = lane.takesCodes ? codeOf(search, keys!) : null;
  if (code?.lane !== lane.number) return null;
  return into(lane, `a code for ${code.kind === "once" ? "one place" : "any number"}`, code, search);
}

function codeOf(search: Search, keys: CodeKeys): LaneCode | null {
  if (search.code === undefined) {
    const { facts, now } = search;
    const text = facts.header(CODE_HEADER)?.trim() ?? codeInUrl(facts.url);
    search.code = text === null ? null : readCode(text, { keys, now });
  }
  return search.code?.kind === "code" ? search.code.code : null;
}

function into(lane: Lane, why: string, code: LaneCode | null, search: Search): Belonging {
  const invite = code?.kind === "once" ? { id: code.id, expiresAt: code.expiresAt } : null;
  return { lane: lane.number, invite, refusal: refusalOf(search), why: `lane ${lane.name}: ${why}` };
}

function intoEverybodys(lanes: readonly Lane[], search: Search): Belonging {
  const { code } = search;
  const isUnused = code?.kind === "code";
  const isKnown = isUnused && lanes.some((lane) => lane.number === code.code.lane);
  const refusal = isUnused ? (isKnown ? "codeWrongLane" : "codeUnknownLane") : refusalOf(search);
  if (refusal === null) return ANYWHERE_ELSE;
  return { ...ANYWHERE_ELSE, refusal, why: `everybody's lane: ${WORDS[refusal]}` };
}

/** What was refused so far; a code before a JWT, since nobody shows a code by accident. */
function refusalOf({ code, jwtRefusal }: Search): LaneRefusal | null {
  if (code?.kind === "refused") return `code${capitalised(code.reason)}`;
  return jwtRefusal === null ? null : `jwt${capitalised(jwtRefusal)}`;
}

function capitalised<T extends string>(name: T): Capitalize<T> {
  return (name.charAt(0).toUpperCase() + name.slice(1)) as Capitalize<T>;
}
