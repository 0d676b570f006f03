/**
 * Where changes made at run time are kept, as texts of JSON: in a directory, in Redis, or with the nodes of a cluster. What
 * is read there may have been written by another version or by a hand, so every text is looked at before it is believed.
 */

import type { AsideChange } from "../office/desk.ts";
import { isMapping, type Mapping } from "./fitting-change.ts";

/** A change as it is kept. */
export interface KeptChange {
  /** What the file said of the room when it was changed, as `ChangeStore.mark` has it. */
  readonly file: string;
  readonly change: Mapping;
}

/** Where changes are kept, one text for each room. What is read may have been written by anybody. */
export interface ChangeStore {
  /** True when no other process reads it. */
  readonly isOwn: boolean;
  /** The longest text; null: any. */
  readonly charactersMax: number | null;
  /** What is kept of the words that a file has for a room, to know them again. */
  mark(words: string): string;
  /** Null while it cannot be read. */
  read(): Promise<ReadonlyMap<string, string> | null>;
  /** Puts one text in place of another, null for none. False: there is yet another one by now. */
  replace(room: string, before: string | null, after: string | null): Promise<boolean>;
  readAside(): Promise<ReadonlyMap<string, string>>;
  putAside(room: string, text: string): Promise<void>;
  /** Forgets everything, also what was put aside. */
  forget(): Promise<void>;
}

/** The change that a text stands for; null when it is none. */
export function keptIn(text: string): KeptChange | null {
  const value = meaningOf(text);
  if (!isMapping(value) || typeof value.file !== "string" || !isMapping(value.change)) return null;
  if (jsonOf(value.change) === null) return null;
  return { file: value.file, change: value.change };
}

/** Null for what is nested too deep to be written, though it could be read. */
function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

/** What was put aside, as `asideText` wrote it; null when it was not. */
export function asideOf(room: string, text: string): AsideChange | null {
  const value = meaningOf(text);
  if (!isMapping(value) || typeof value.at !== "number" || typeof value.reason !== "string") return null;
  const settings = Array.isArray(value.settings)
    ? value.settings.filter((one) => typeof one === "string")
    : [];
  return { room, at: value.at, settings, reason: value.reason, change: value.change };
}

/** The value that a text stands for; the text itself where it stands for none. */
export function meaningOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function asideText({ at, settings, reason, change }: Omit<AsideChange, "room">): string {
  return JSON.stringify({ at, settings, reason, change });
}
