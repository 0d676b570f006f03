/**
 * Who gets the last units when more is asked for than is left (Pluijmaekers 2020, tb1 to tb5, sp8, sp9). All requests of one
 * window are put in the order that the shop has chosen; equal ones by admission, then by id, so that the order depends on the
 * requests alone. Then each gets all it asked for or nothing (tb1), and one that does not fit is passed over: those after it
 * may fit.
 *
 * At random (tb2) is by hashes of a seed and the ids: with the seed in the log, anybody can repeat it.
 */
import { toHex } from "../../core/hex.ts";
import { sha256 } from "../../core/sha256.ts";
import type { TieBreak } from "./catalogue.ts";

export interface TieRequest {
  readonly id: string;
  /** Rises from request to request. */
  readonly arrival: number;
  readonly admittedAt: number;
  /** What the asker's basket was worth before, in minor units. */
  readonly basketValue: number;
}

/** The requests that are granted, in the order in which they were. `fits` is asked once for each, and takes what it grants. */
export function decideTie<Request extends TieRequest>(
  requests: readonly Request[],
  fits: (request: Request) => boolean,
  tieBreak: TieBreak,
  seed: string,
): Request[] {
  return inTieOrder(requests, tieBreak, seed).filter(fits);
}

/** The requests in the order in which they are served. */
export function inTieOrder<Request extends TieRequest>(
  requests: readonly Request[],
  tieBreak: TieBreak,
  seed: string,
): Request[] {
  return requests
    .map((request) => ({ request, rank: rankOf(request, tieBreak, seed) }))
    .sort(
      (a, b) =>
        compare(a.rank, b.rank) ||
        a.request.admittedAt - b.request.admittedAt ||
        compare(a.request.id, b.request.id),
    )
    .map(({ request }) => request);
}

/** The lowest is served first. */
function rankOf(request: TieRequest, tieBreak: TieBreak, seed: string): number | string {
  switch (tieBreak) {
    case "first":
      return request.arrival;
    case "random":
      return toHex(sha256(new TextEncoder().encode(`${seed}:${request.id}`)));
    case "earliestAdmitted":
      return request.admittedAt;
    case "latestAdmitted":
      return -request.admittedAt;
    case "highestBasket":
      return -request.basketValue;
  }
}

function compare<Value extends number | string>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
