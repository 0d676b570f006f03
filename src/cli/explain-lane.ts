/**
 * Which lane a request would get and why, for `fairgate check --url`. The gateway's own membership is asked.
 * Nothing is fetched for it, so a JWT that is checked by a key set at an address counts for nothing here, and
 * is said to.
 */
import { randomBytes } from "node:crypto";
import type { RoomSettings, Settings } from "../config/schema.ts";
import { KeysAway } from "../gateway/lanes/key-sets.ts";
import { createMembership, type LaneFacts } from "../gateway/lanes/membership.ts";
import type { Trust } from "../gateway/proxy/trust.ts";
import type { Question } from "./question.ts";

const SECRET_BYTES = 32;
const NOTHING_IS_FETCHED = {
  at: () => async () => {
    throw new KeysAway("nothing is fetched here");
  },
};

/** One thing that was looked at. */
export interface AnswerPart {
  readonly about: string;
  readonly lines: readonly string[];
  /** The same for programs. */
  readonly facts: unknown;
}

export interface Explained extends Omit<AnswerPart, "about"> {
  /** Why this sends the request straight to the origin; null when it does not. */
  readonly straight: string | null;
}

export interface AskedRequest {
  readonly question: Question;
  /** Path and query as the origin gets them. */
  readonly target: string;
  readonly settings: Settings;
  readonly trust: Trust;
  /** The room the request belongs to. */
  readonly name: string;
  /** Its settings, those of an event that is on laid over them. */
  readonly room: RoomSettings;
}

/** The lane, or that there are none. It sends nobody past the line. */
export async function explainLane(asked: AskedRequest): Promise<Explained> {
  const { settings, name, room } = asked;
  const membership = createMembership({
    room: name,
    lanes: room.lanes,
    secrets: { secret: settings.secret ?? madeUp(), previousSecrets: settings.previousSecrets },
    laneSecrets: settings.laneSecrets,
    keySets: NOTHING_IS_FETCHED,
    world: { clock: { now: Date.now } },
  });
  if (!membership.hasLanes) return { lines: ["the room has no lanes"], facts: null, straight: null };
  const { why, lane, invite, refusal } = await membership.laneOf(factsOf(asked));
  const lines = [why, ...remarks(settings, refusal)];
  return { lines, facts: { lane, why, refusal, isOnce: invite !== null }, straight: null };
}

function factsOf({ question, trust }: AskedRequest): LaneFacts {
  const { headers } = question.arrival;
  const header = (name: string) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
  return { url: question.target, cookie: header("cookie"), header, client: trust.client(question.arrival) };
}

/** What this answer does not know, and the gateway would. */
function remarks({ secret, data }: Settings, refusal: string | null): string[] {
  if (refusal === "codeForged" && secret === null)
    return [`the secret is kept in ${data}, so no code can be checked here; see \`fairgate codes check\``];
  if (refusal === "jwtKeysAway") return ["the key set is not fetched here; a running Fairgate would"];
  return [];
}

/** Where no secret is known, one that has signed nothing. */
function madeUp(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}
