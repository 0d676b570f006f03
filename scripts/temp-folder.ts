/**
 * A temporary folder of its own for a run of the tests. Files that a test leaves there are listed and fail the run; the folder is
 * always removed at the end.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempFolder {
  /** Names of the files in it. */
  leftovers(): string[];
}

/** Makes the folder, and makes it TMPDIR for this process and all that it starts. It is removed when this process exits. */
export function useOwnTempFolder(): TempFolder {
  // A short name: paths of local sockets are below it, and these may have about a hundred characters.
  const path = mkdtempSync(join(tmpdir(), "fairgate-"));
  for (const name of ["TMPDIR", "TMP", "TEMP"]) process.env[name] = path;
  process.on("exit", () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return { leftovers: () => readdirSync(path).sort() };
}
