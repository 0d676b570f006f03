/** How a place stands, as entries tell it to others: when it is taken over, claimed again, or copied. */
import { type AdoptEntry, HOW, OP } from "../log/entries.ts";
import { ADMITTED, type Claim, LAPSED, ON_SITE, type Place } from "./place.ts";

/** Whose claims to a place are void, as entries tell it. */
export function voidsOf({ voids }: Place): (string | number)[] {
  return voids?.flatMap(({ owner, head }) => [owner, head]) ?? [];
}

/** What a place is now, as an entry that makes the same of it elsewhere. */
export function standingOf(place: Place, claim: Claim): AdoptEntry[4] {
  const { key, lane, id, joinedAt } = place;
  const { state, until, admittedAt, firmUntil } = claim;
  if (state === LAPSED) return [OP.lapse, key, lane, HOW.asBefore, until];
  if (state === ADMITTED) return [OP.turn, key, lane, HOW.asBefore, until, admittedAt, firmUntil];
  if (state === ON_SITE) return [OP.visit, key, lane, HOW.asBefore, id, joinedAt, admittedAt, 0, until];
  return [OP.wait, key, lane, HOW.asBefore, id];
}
