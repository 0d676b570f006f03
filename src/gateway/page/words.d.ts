/** Types of `words.js`, whose own text is put into the page. */
import type { Board, WaitPoint, WaitRange } from "../../core/board.ts";
import type { PluralForms, WaitTexts } from "./languages.ts";

export function aheadOn(board: Pick<Board, "marks">, sequence: number): number | null;
export function waitOn(points: readonly WaitPoint[] | null, ahead: number): WaitRange | null;
export function calmWait(
  shown: WaitRange | null,
  told: WaitRange | null,
  elapsedMs: number,
): WaitRange | null;
export function peopleBehind(ahead: number | null, waiting: number | null): number | null;
export function progress(aheadAtJoin: number, ahead: number): number;
export function numeral(language: string, number: number): string;
export function form(forms: PluralForms, language: string, number: number): string;
export function fill(text: string, values: Readonly<Record<string, string>>): string;
export function waitWords(words: WaitTexts, language: string, waitMs: WaitRange | null): string;
export function tabTitle(tab: {
  heading: string;
  ahead: number | null;
  language: string;
  title: string | null;
}): string;
