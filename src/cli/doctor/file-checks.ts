/** Files that `run` reads or opens at its start. The data directory itself is in data-checks.ts. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { SECRET_CHARACTERS_MIN } from "../../config/kinds.ts";
import { type Settings, STANDARD_OUTPUT } from "../../config/schema.ts";
import { readPrivate } from "../../durable/private-file.ts";
import { TOKEN_FILE } from "../operate/control-files.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

/** Files that `run` reads or opens at the start: kept secrets that are none, and an access log that cannot be written. */
export function checkFiles({ data, accessLog, secret, control }: Settings): DoctorVerdict[] {
  const kept =
    data === null
      ? []
      : [...(secret === null ? ["secret"] : []), ...(control.token === null ? [TOKEN_FILE] : [])];
  const todo = "Put back what it held, or delete it to have a new one made.";
  const wrong = kept.flatMap((name) => {
    const file = join(data!, name);
    const is = wrongWith(file);
    return is === null ? [] : [about("data", file).problem(is, todo)];
  });
  const to = accessLog === null || accessLog.to === STANDARD_OUTPUT ? null : accessLog.to;
  if (to === null || isWritableFile(to)) return wrong;
  return [
    ...wrong,
    about("access log", to).problem("It cannot be written.", "Make its folder, or name another file."),
  ];
}

/** What is wrong with a kept secret; null where there is none yet. */
function wrongWith(file: string): string | null {
  try {
    const kept = readPrivate(file);
    if (kept === null) return null;
    if (!kept.isOwn) return "It belongs to another user.";
    return kept.text.length < SECRET_CHARACTERS_MIN ? "It holds no secret." : null;
  } catch {
    return "It cannot be read, or is no plain file.";
  }
}

/** A file that is there and may be written, or one that may be made in its folder. */
function isWritableFile(file: string): boolean {
  const isThere = existsSync(file);
  try {
    accessSync(isThere ? file : dirname(file), constants.W_OK);
    return statSync(isThere ? file : dirname(file)).isDirectory() !== isThere;
  } catch {
    return false;
  }
}
