/**
 * The server-side functions as one text: the rules of the door and the books of a room, file after file. Its functions
 * carry a version, made from the text, so gateways of two versions can work side by side while one takes over from the
 * other.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

export interface Library {
  readonly name: string;
  readonly text: string;
  functionName(name: string): string;
}

const VERSION_LENGTH = 8;

/** Reads the library of rooms. */
export function roomLibrary(): Library {
  const folder = new URL("lua/", import.meta.url);
  return libraryOf("fairgate", [...luaFiles(new URL("rules/", folder)), ...luaFiles(folder)]);
}

/** A library of these files, in this order. `VERSION` in them becomes the family's name and version. */
export function libraryOf(family: string, files: readonly URL[]): Library {
  const body = files.map((file) => readFileSync(file, "utf8")).join("\n");
  const hash = createHash("sha256").update(body).digest("hex").slice(0, VERSION_LENGTH);
  const name = `${family}_${hash}`;
  return {
    name,
    text: `#!lua name=${name}\n${body.replaceAll("VERSION", name)}`,
    functionName: (called) => `${name}_${called}`,
  };
}

/** The files of a folder by name, which begins with their place in the order. */
export function luaFiles(folder: URL): URL[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".lua"))
    .sort()
    .map((name) => new URL(name, folder));
}
