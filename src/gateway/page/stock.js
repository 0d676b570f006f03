/**
 * The script of a page in front of a shop: says when everything is sold, or probably will be by the visitor's turn. The board
 * tells.
 *
 * Plain JavaScript, inlined after `page.js`.
 */
import { latest, put, reveal, seen, texts, view, watchers } from "./page.js";
import { stockWords } from "./stock-words.js";

watchers.push(() => {
  const text = stockWords(texts.stock, latest.stock ?? view.stock, seen.ahead);
  put("stock", text);
  reveal("stock", text);
});
