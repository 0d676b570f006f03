/**
 * Checks between the settings of a lane's members, and the secrets they name. The secrets are returned beside the settings,
 * never inside them.
 */
import type { JwtKeys, LaneJwt, LaneMembers } from "./lane-schema.ts";
import { readNamedSecret } from "./named-secret.ts";
import { type Finding, formatPath, type Path } from "./problem.ts";
import type { Known } from "./salvage.ts";
import type { SecretSources } from "./secrets.ts";

const KEY_SETTINGS = ["secretVariable", "secretFile", "publicKey", "jwks"] as const;

/** Rooms as far as they are known, with their lanes. */
export type RoomsWithLanes = Readonly<Record<string, Known<RoomWithLanes> | undefined>>;

interface RoomWithLanes {
  readonly lanes: Record<string, { readonly members: LaneMembers }>;
}

/** The secrets that lanes' JWTs are signed with, by `laneKey`. A map, since JSON.stringify shows nothing of it. */
export type LaneSecrets = ReadonlyMap<string, string>;

export interface LaneSecretsAnswer {
  readonly secrets: LaneSecrets;
  readonly problems: readonly Finding[];
}

export function laneKey(room: string, lane: string): string {
  return `${room}/${lane}`;
}

/** Problems between the settings of the `members` at `path`. `trustedProxies`: undefined where they are not known. */
export function checkLaneMembers(
  members: Known<LaneMembers>,
  path: Path,
  trustedProxies?: readonly string[],
): Finding[] {
  const { jwt } = members;
  const at = [...path, "jwt"];
  return [
    ...checkAnybody(members, path),
    ...checkHeader(members, path, trustedProxies),
    ...(jwt ? [...checkPlaces(jwt, at), ...checkJwtKeys(jwt, at)] : []),
  ];
}

/** The secrets of all lanes, or what is wrong with them. */
export function readLaneSecrets(rooms: RoomsWithLanes, sources: SecretSources): LaneSecretsAnswer {
  const secrets = new Map<string, string>();
  const problems: Finding[] = [];
  for (const [room, settings] of Object.entries(rooms))
    for (const [lane, about] of Object.entries(settings?.lanes ?? {})) {
      const jwt = about?.members?.jwt;
      if (!jwt) continue;
      const path = ["rooms", room, "lanes", lane, "members", "jwt"];
      const answer = readNamedSecret(jwt, path, sources);
      problems.push(...answer.problems);
      const [secret] = answer.secrets;
      if (secret !== undefined) secrets.set(laneKey(room, lane), secret);
    }
  return { secrets, problems };
}

function checkAnybody({ codes, jwt, header, addresses }: Known<LaneMembers>, path: Path): Finding[] {
  if (codes !== false || jwt !== null || header !== null || addresses?.length !== 0) return [];
  const message = `${formatPath(path)} lets nobody into the lane`;
  const hint = "Set codes to true, or write jwt, header or addresses; or take the lane out.";
  return [{ code: "conflict", path, at: "key", message, hint }];
}

function checkHeader(
  { header }: Known<LaneMembers>,
  path: Path,
  trustedProxies: readonly string[] | undefined,
): Finding[] {
  if (!header || trustedProxies === undefined || trustedProxies.length > 0) return [];
  const at = [...path, "header"];
  const message = `${formatPath(at)} is believed only from trustedProxies, and there are none`;
  return [{ code: "conflict", path: at, at: "key", message, hint: "Name the proxies that set it." }];
}

function checkPlaces({ header, cookie }: Known<LaneJwt>, path: Path): Finding[] {
  if (header !== null || cookie !== null) return [];
  const message = `${formatPath(path)} has neither header nor cookie, so there is no JWT to look at`;
  return [{ code: "conflict", path, at: "key", message, hint: "Set one of them, or both." }];
}

/** A JWT is checked by one key. */
export function checkJwtKeys(jwt: Known<JwtKeys>, path: Path): Finding[] {
  if (KEY_SETTINGS.some((key) => jwt[key] === undefined)) return [];
  const [first, second] = KEY_SETTINGS.filter((key) => jwt[key] !== null);
  if (first === undefined) {
    const message = `${formatPath(path)} has nothing to check a JWT by`;
    const hint = "Set one of secretVariable, secretFile, publicKey and jwks.";
    return [{ code: "missing", path, at: "key", message, hint }];
  }
  if (second === undefined) return [];
  const message = `${formatPath([...path, first])} and ${second} are both set`;
  return [{ code: "conflict", path: [...path, second], at: "key", message, hint: "Keep one of them." }];
}
