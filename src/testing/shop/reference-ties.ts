/** Who is served first where several visitors want more of one product than is left. */
import { createHash } from "node:crypto";
import type { Product, TieBreak } from "../../shop/rules/catalogue.ts";
import type { Shopper, Wish } from "../../shop/rules/commands.ts";
import { plainPrice } from "./reference-lines.ts";
import type { ReferenceState } from "./reference-state.ts";
import { needsOf } from "./reference-stock.ts";

export interface TiedRequest {
  readonly shopper: Shopper;
  readonly wish: Wish;
}

/** Requests for one product in the order in which they are served: as they came where there is enough for all of them. */
export function servedInOrder(
  shop: ReferenceState,
  requests: readonly TiedRequest[],
  seed: string,
): TiedRequest[] {
  const tieBreak = tieBreakFor(shop, requests);
  if (tieBreak === null) return [...requests];
  const value = ({ shopper }: TiedRequest) => plainPrice(shop.basketOf(shopper.visitor)?.tickets ?? []);
  const lot = ({ shopper }: TiedRequest) =>
    createHash("sha256").update(`${seed}:${shopper.visitor}`).digest("hex");
  return [...requests].sort((a, b) => {
    const byAdmission = a.shopper.admittedAt - b.shopper.admittedAt;
    if (tieBreak === "random") return lot(a) < lot(b) ? -1 : 1;
    if (tieBreak === "latestAdmitted") return -byAdmission;
    return (tieBreak === "highestBasket" ? value(b) - value(a) : 0) || byAdmission;
  });
}

/** The tie-break of the first product of which more is wanted than is left. */
function tieBreakFor({ stock }: ReferenceState, requests: readonly TiedRequest[]): TieBreak | null {
  const wished = stock.products.get(requests[0]?.wish.product ?? "");
  const gathers = ({ tieBreak, tieWindowMs }: Product) => tieBreak !== "first" && tieWindowMs > 0;
  if (!wished) return null;
  for (const [id, each] of needsOf(stock.products, wished.id)) {
    const scarce = stock.products.get(id)!;
    const wanted = requests.reduce((sum, { wish }) => sum + wish.count * each, 0);
    const left = stock.own(id, null);
    if (left === null || left >= wanted) continue;
    if (gathers(scarce)) return scarce.tieBreak;
    if (gathers(wished)) return wished.tieBreak;
  }
  return null;
}
