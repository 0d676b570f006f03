/**
 * What is said of the stock behind the room, on the server for the first view and in the page for every update. Plain JavaScript,
 * because its text is inlined into the page; `stock-words.d.ts` gives it types.
 */

/** That all of it is sold, or will probably not reach this place; else nothing. */
export function stockWords(words, stock, ahead) {
  if (stock.isSoldOut) return words.soldOut;
  return stock.reach !== null && ahead > stock.reach ? words.short : "";
}
