/** `node:fs` for modules of the single executable that read files beside them: those files are in the executable. */
import * as fs from "node:fs";
import { getAsset, getAssetKeys } from "node:sea";

export * from "node:fs";

type File = Parameters<typeof fs.readFileSync>[0];

export function readFileSync(file: File, encoding: "utf8"): string {
  return isAsset(file) ? getAsset(keyOf(file), encoding) : fs.readFileSync(file, encoding);
}

/** The names in a folder of the executable, without those in folders below it. */
export function readdirSync(folder: URL): string[] {
  const names = getAssetKeys().filter((key) => key.startsWith(keyOf(folder)));
  return names.map((key) => key.slice(keyOf(folder).length)).filter((name) => !name.includes("/"));
}

const isAsset = (file: File): file is URL => file instanceof URL && file.protocol === "asset:";

const keyOf = (file: URL): string => file.pathname.slice(1);
