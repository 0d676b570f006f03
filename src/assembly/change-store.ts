/**
 * Where changes made at run time are stored, as JSON texts: in a directory, in Redis, or with the nodes of a cluster. A text
 * may have been written by another version or by hand, so every text is checked when it is read.
 */
import { isRecord } from "../config/salvage.ts";
import type { AsideChange } from "../office/desk.ts";
import type { Mapping } from "./fitting-change.ts";

/** A change as it is stored. */
export interface KeptChange {
  /** What the file said about the room at the time, as `ChangeStore.mark` returned it. */
  readonly file: string;
  readonly change: Mapping;
}

/** Stores changes, one text per room. */
export interface ChangeStore {
  /** True when no other process reads it. */
  readonly isOwn: boolean;
  /** The longest text; null: no limit. */
  readonly charactersMax: number | null;
  /** A mark of the settings that the file has for a room, to recognise them later. */
  mark(words: string): string;
  /** Null while the store cannot be read. */
  read(): Promise<ReadonlyMap<string, string> | null>;
  /** Replaces a room's text; null is none. False: the stored text is no longer `before`. */
  replace(room: string, before: string | null, after: string | null): Promise<boolean>;
  readAside(): Promise<ReadonlyMap<string, string>>;
  putAside(room: string, text: string): Promise<void>;
  /** Deletes everything, including what was put aside. */
  forget(): Promise<void>;
}

/** The change in a stored text; null if it is not one. */
export function keptIn(text: string): KeptChange | null {
  const value = meaningOf(text);
  if (!isRecord(value) || typeof value.file !== "string" || !isRecord(value.change)) return null;
  try {
    // Something nested too deeply can be parsed but not written.
    JSON.stringify(value.change);
  } catch {
    return null;
  }
  return { file: value.file, change: value.change };
}

/** A change put aside, as `asideText` wrote it; null if the text is not one. */
export function asideOf(room: string, text: string): AsideChange | null {
  const value = meaningOf(text);
  if (!isRecord(value) || typeof value.at !== "number" || typeof value.reason !== "string") return null;
  const settings = Array.isArray(value.settings)
    ? value.settings.filter((one) => typeof one === "string")
    : [];
  return { room, at: value.at, settings, reason: value.reason, change: value.change };
}

/** The parsed JSON; the text itself if it is not JSON. */
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
