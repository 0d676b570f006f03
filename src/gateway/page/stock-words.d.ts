/** Types of `stock-words.js`, whose own text is put into the page. */
import type { StockNotice } from "../../core/board.ts";
import type { Texts } from "./languages.ts";

export function stockWords(words: Texts["stock"], stock: StockNotice, ahead: number | null): string;
