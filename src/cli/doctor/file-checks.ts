/** Files that `run` reads or opens at its start. The data directory itself is in data-checks.ts. */
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { SECRET_CHARACTERS_MIN } from "../../config/kinds.ts";
import { type Settings, STANDARD_OUTPUT } from "../../config/schema.ts";
import { TOKEN_FILE } from "../operate/control-files.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

/** Files that `run` reads or opens at the start: kept secrets that are none, and an access log that cannot be written. */
export function checkFiles({ data, accessLog, secret, control }: Settings): DoctorVerdict[] {
  const kept =
    data === null
      ? []
      : [...(secret === null ? ["secret"] : []), ...(control.token === null ? [TOKEN_FILE] : [])];
  const unusable = kept
    .map((name) => join(data!, name))
    .filter((file) => existsSync(file) && !holdsSecret(file));
  const todo = "Put back what it held, or delete it to have a new one made.";
  const wrong = unusable.map((file) => about("data", file).problem("It holds no secret.", todo));
  const to = accessLog === null || accessLog.to === STANDARD_OUTPUT ? null : accessLog.to;
  if (to === null || isWritableFile(to)) return wrong;
  return [
    ...wrong,
    about("access log", to).problem("It cannot be written.", "Make its folder, or name another file."),
  ];
}

function holdsSecret(file: string): boolean {
  try {
    return readFileSync(file, "utf8").trim().length >= SECRET_CHARACTERS_MIN;
  } catch {
    return false;
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
