/**
 * A temporary folder of its own for a run of the tests. What a test forgets there is named, and makes the run fail; and
 * whatever happens, the folder is gone at the end.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempFolder {
  /** Names of what is in it. */
  leftovers(): string[];
}

/** Makes the folder, and makes it that of this process and of all it starts. It is removed when this process exits. */
export function useOwnTempFolder(): TempFolder {
  // A short name: addresses of local sockets are made below it, and these may have some hundred letters.
  const path = mkdtempSync(join(tmpdir(), "fairgate-"));
  for (const name of ["TMPDIR", "TMP", "TEMP"]) process.env[name] = path;
  process.on("exit", () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return { leftovers: () => readdirSync(path).sort() };
}
