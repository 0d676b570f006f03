/**
 * What is left to buy, for those who still wait in line: whether everything is sold, and how far the rest will probably reach. The
 * second is an estimate from what those who have left took with them, and never a promise: people put things back, and others
 * take more.
 */
import type { ProductView, ShopRoomFigures } from "../rules/commands.ts";

export interface StockOutlook {
  readonly isSoldOut: boolean;
  /** With more people ahead than this, probably nothing will be left. Null: nobody can say. */
  readonly reach: number | null;
}

/** Of fewer visitors nothing is learned. */
const DEPARTED_MIN = 20;
/** Only those clearly beyond the reach are told. */
const CAUTION = 1.5;

/** `isForSale`: whether a product is sold by itself. */
export function stockOutlook(
  products: readonly ProductView[],
  isForSale: (id: string) => boolean,
  figures: ShopRoomFigures | undefined,
): StockOutlook {
  const offered = products.filter(({ id }) => isForSale(id));
  if (offered.length === 0) return { isSoldOut: false, reach: null };
  if (offered.every(({ state }) => state === "soldOut")) return { isSoldOut: true, reach: 0 };
  return { isSoldOut: false, reach: reachOf(offered, figures) };
}

/** What several products share is counted for each, so the reach is rather too long than too short. */
function reachOf(offered: readonly ProductView[], figures: ShopRoomFigures | undefined): number | null {
  if (figures === undefined || figures.departed < DEPARTED_MIN || figures.tickets.sold === 0) return null;
  let left = figures.tickets.reserved + figures.tickets.pending;
  for (const { available } of offered) {
    if (available === null) return null;
    left += available;
  }
  const takenEach = figures.tickets.sold / figures.departed;
  return Math.ceil((left / takenEach) * CAUTION);
}
