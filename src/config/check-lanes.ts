/** Checks of a room's lanes: their names, their number, their shares, and that somebody can get into each. */
import { laneNumber } from "../core/lanes.ts";
import type { KnownRoom } from "./door-check.ts";
import { LANES_MAX, SHARES_MAX } from "./door-schema.ts";
import { checkLaneMembers } from "./lane-members.ts";
import { isLaneName, LANE_NAME_SHAPE } from "./name.ts";
import { nearest } from "./nearest.ts";
import { type Finding, formatPath, type Path, safeText } from "./problem.ts";

/** The lane for everybody who is in no other; every room has it. */
const EVERYBODYS = "everybody";
const NAME_CHARACTERS_MAX = 60;

/** Problems with the lanes of one room. */
export function checkLanes(room: KnownRoom, path: Path, trustedProxies?: readonly string[]): Finding[] {
  const lanes = Object.entries(room.lanes ?? {});
  const names = lanes.map(([name]) => name);
  const at = [...path, "lanes"];
  return [
    ...checkHowMany(names.length, at),
    ...names.flatMap((name) => checkName(name, at)),
    ...sameNumbers(names, at),
    ...checkShares(room, at),
    ...lanes.flatMap(([name, lane]) =>
      lane?.members ? checkLaneMembers(lane.members, [...at, name, "members"], trustedProxies) : [],
    ),
  ];
}

function checkHowMany(lanes: number, path: Path): Finding[] {
  if (lanes <= LANES_MAX) return [];
  const message = `${formatPath(path)} has ${lanes} lanes`;
  return [{ code: "too-large", path, at: "key", message, hint: `There can be ${LANES_MAX}.` }];
}

function checkName(name: string, path: Path): Finding[] {
  const at = { path: [...path, name], at: "key" } as const;
  if (name === EVERYBODYS) {
    const message = `"${EVERYBODYS}" is the lane of all who belong in no other, and is always there`;
    return [{ ...at, code: "invalid", message, hint: "Give this lane another name." }];
  }
  if (isLaneName(name)) return [];
  const message = `"${safeText(name, NAME_CHARACTERS_MAX)}" cannot be a lane's name`;
  return [{ ...at, code: "invalid", message, hint: `A name is ${LANE_NAME_SHAPE}.` }];
}

/** Tickets know a lane by a number made from its name, so two names must not make the same one. */
function sameNumbers(names: readonly string[], path: Path): Finding[] {
  const first = new Map<number, string>();
  return names.flatMap((name) => {
    const number = laneNumber(name);
    const other = first.get(number);
    if (other === undefined) {
      first.set(number, name);
      return [];
    }
    const message = `lanes ${safeText(other, NAME_CHARACTERS_MAX)} and ${safeText(name, NAME_CHARACTERS_MAX)} cannot be told apart: their names make the same number, ${number}`;
    const hint = "Give one of them another name, such as one with a digit at its end.";
    return [{ code: "conflict", path: [...path, name], at: "key", message, hint }];
  });
}

/** Problems with the sum of the shares of the lanes at `path`. */
export function checkShares({ lanes }: KnownRoom, path: Path): Finding[] {
  const shares = Object.values(lanes ?? {}).map((lane) => lane?.share ?? 0);
  const sum = shares.reduce((total, share) => total + share, 0);
  if (sum <= SHARES_MAX) return [];
  const message = `the shares in ${formatPath(path)} come to ${sum} together, which leaves nothing for everybody else`;
  return [{ code: "conflict", path, at: "key", message, hint: `They should come to ${SHARES_MAX} at most.` }];
}

/** What to say of a lane that a room does not have; `lanes` are those it has. */
export function noSuchLane(name: string, lanes: readonly string[]): { message: string; hint: string } {
  const near = nearest(name, lanes);
  const message = `there is no lane "${safeText(name, NAME_CHARACTERS_MAX)}"`;
  if (near) return { message, hint: `Did you mean ${near}?` };
  if (lanes.length === 0) return { message, hint: "The room has no lanes." };
  return { message, hint: `The room has ${lanes.join(", ")}.` };
}
