/** The data directory, where there is one: whether it can be written, what is left of the disk, and who is using it. */
import { existsSync, lstatSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { holderOf } from "../../durable/directory-lock.ts";
import { isBusy } from "../../durable/problem.ts";
import { about, type DoctorVerdict, roughly } from "./verdict.ts";

const FREE_CAUTION_BYTES = 1_024 ** 3;
const FREE_PROBLEM_BYTES = 100 * 1_024 ** 2;
const EVERYBODY_WRITES = 0o002;

/** Verdicts on a data directory, which need not be there yet. */
export function checkData(directory: string): DoctorVerdict[] {
  const verdict = about("data", directory);
  const found = nearest(directory);
  if (!statSync(found).isDirectory())
    return [
      verdict.problem(
        `${found === directory ? "It" : found} is not a directory.`,
        "Name another with --data.",
      ),
    ];
  if (!isWritable(found)) {
    const todo = "Let the user that Fairgate runs as write there, or choose another directory.";
    return [verdict.problem(`${found} cannot be written by this user.`, todo)];
  }
  const is = found === directory ? "It can be written." : "It does not exist yet, and can be created.";
  const foreign = found === directory ? foreignFile(directory) : null;
  const todo = "Start Fairgate as the user who owns it, or give it to this one (chown).";
  const first =
    foreign === null ? verdict.ok(is) : verdict.problem(`${foreign} belongs to another user.`, todo);
  const shared =
    "Every user of this machine can write there, and put other files in the place of Fairgate's.";
  const open =
    found === directory && isOpenToAll(directory) ? [verdict.caution(shared, `chmod 700 ${directory}`)] : [];
  return [first, ...open, checkSpace(found, directory), checkHolder(directory)];
}

function isOpenToAll(directory: string): boolean {
  return process.platform !== "win32" && (statSync(directory).mode & EVERYBODY_WRITES) !== 0;
}

/** The first file in it that this user may not change; `run` sets the rights of those that only it may read. */
function foreignFile(directory: string): string | null {
  const own = process.geteuid?.();
  if (own === undefined || own === 0) return null;
  const files = readdirSync(directory).map((name) => join(directory, name));
  return files.find((file) => (lstatSync(file, { throwIfNoEntry: false })?.uid ?? own) !== own) ?? null;
}

/** The directory itself, or the nearest one above it that exists. */
function nearest(directory: string): string {
  return existsSync(directory) ? directory : nearest(dirname(directory));
}

/** Writes a file and takes it away again: rights alone do not tell of a disk that is read-only or full. */
function isWritable(directory: string): boolean {
  const file = join(directory, `.fairgate-check-${process.pid}`);
  try {
    writeFileSync(file, "fairgate", { flag: "wx" });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(file, { force: true });
  }
}

function checkSpace(found: string, directory: string): DoctorVerdict {
  const { bavail, bsize } = statfsSync(found);
  const free = bavail * bsize;
  const disk = about("disk", directory);
  const is = `${roughly(free)} are free.`;
  if (free < FREE_PROBLEM_BYTES) return disk.problem(is, "Make room: a line that cannot be written stops.");
  return free < FREE_CAUTION_BYTES ? disk.caution(is, "Make room before many people come.") : disk.ok(is);
}

/** Whether another process holds the directory: only one can, and others do not start. */
function checkHolder(directory: string): DoctorVerdict {
  const holds = about("process", directory);
  if (!isHeld(join(directory, "lock"))) return holds.ok("No Fairgate runs on it now.");
  const is = `The Fairgate of process ${holderOf(directory) ?? "unknown"} runs on it; a second one would not start.`;
  return holds.caution(is, "Send it SIGHUP to have it read the settings again, or stop it first.");
}

function isHeld(file: string): boolean {
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    database.exec("SELECT name FROM sqlite_schema");
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}
