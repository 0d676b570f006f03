/**
 * The server-side functions as texts: the rules of the door and the state of a room, file after file. There are two libraries:
 * one for exact lines and one for relaxed lines, which replaces some functions by its own. Names carry a version, made from the
 * text, so gateways of two versions can run side by side during an upgrade.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

export interface Library {
  /** As Redis loads them. */
  readonly parts: readonly LibraryPart[];
  functionName(name: string): string;
}

export interface LibraryPart {
  readonly name: string;
  readonly text: string;
}

const VERSION_LENGTH = 8;
/** Prefix of the names of functions for a relaxed line. */
export const IN_SHARDS = "shards/";

/** Reads both libraries of rooms. */
export function roomLibrary(): Library {
  const files = (folder: string) => luaFiles(new URL(`lua/${folder}`, import.meta.url));
  const shared = [...files("rules/"), ...files("")];
  const exact = libraryOf("fairgate", [...shared, ...files("exact/")]);
  const inShards = libraryOf("fairgate_relaxed", [...shared, ...files("relaxed/")]);
  return {
    parts: [...exact.parts, ...inShards.parts],
    functionName: (called) =>
      called.startsWith(IN_SHARDS)
        ? inShards.functionName(called.slice(IN_SHARDS.length))
        : exact.functionName(called),
  };
}

/** A library of these files, in this order. `VERSION` in them becomes the family's name and version. */
export function libraryOf(family: string, files: readonly URL[]): Library {
  const body = files.map((file) => readFileSync(file, "utf8")).join("\n");
  const hash = createHash("sha256").update(body).digest("hex").slice(0, VERSION_LENGTH);
  const name = `${family}_${hash}`;
  const text = `#!lua name=${name}\n${body.replaceAll("VERSION", name)}`;
  return { parts: [{ name, text }], functionName: (called) => `${name}_${called}` };
}

/** The files of a folder by name; names begin with their place in the order. */
export function luaFiles(folder: URL): URL[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".lua"))
    .sort()
    .map((name) => new URL(name, folder));
}
