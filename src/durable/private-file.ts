/**
 * Small files in the data directory for their owner alone: secrets, tokens, notes. Somebody else who may write in that directory
 * could put a link or a pipe where a file should be, to have another file read, closed or written over, or the process hang. So
 * links are not followed, nothing but a plain file is read, and a note is replaced as a whole.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

const PRIVATE_FILE = 0o600;
const OTHERS = 0o077;
const BYTES_MAX = 65_536;
/** Windows has neither links nor pipes that open like files. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const IS_LINK = new Set(["ELOOP", "EMLINK"]);

export interface PrivateText {
  readonly text: string;
  /** True when others than its owner may use the file, or might have until now. */
  readonly isOpen: boolean;
  /** False when the file belongs to another user. To root, what belongs to the owner of its directory is as good as own. */
  readonly isOwn: boolean;
}

/** What a file holds; null when there is none. Throws when it is no plain file. */
export function readPrivate(file: string): PrivateText | null {
  return withFile(file, (_, kept) => kept);
}

/** What a file holds, made at the first time, and closed to others from now on. Throws when it is not this user's own plain file. */
export function keepPrivate(file: string, make: () => string): PrivateText {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined)
    writeFileSync(file, `${make()}\n`, { mode: PRIVATE_FILE, flag: "wx", flush: true });
  const kept = withFile(file, (descriptor, found) => {
    if (!found.isOwn)
      throw new Error(`${file} belongs to another user; start Fairgate as that user, or give it to this one`);
    fchmodSync(descriptor, PRIVATE_FILE);
    return found;
  });
  if (kept === null) throw new Error(`${file} was taken away while it was read`);
  return kept;
}

/** Writes a file in the place of what was there, at once. */
export function replacePrivate(file: string, text: string): void {
  const unfinished = `${file}.${process.pid}.new`;
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, `${text}\n`, { mode: PRIVATE_FILE, flag: "wx" });
  renameSync(unfinished, file);
}

/** True when others than its owner may use a file. Windows has no such rights. */
export function isOpenToOthers({ mode }: Pick<Stats, "mode">): boolean {
  return process.platform !== "win32" && (mode & OTHERS) !== 0;
}

function withFile<T>(file: string, use: (descriptor: number, found: PrivateText) => T): T | null {
  const descriptor = openPlain(file);
  if (descriptor === null) return null;
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Error(`${file} is no plain file; put one in its place, or delete it`);
    if (stats.size > BYTES_MAX) throw new Error(`${file} is too large for what it should hold`);
    const text = readFileSync(descriptor, "utf8").trim();
    return use(descriptor, { text, isOpen: isOpenToOthers(stats), isOwn: isOwn(file, stats) });
  } finally {
    closeSync(descriptor);
  }
}

function isOwn(file: string, { uid }: Stats): boolean {
  // Windows has no such owners.
  const own = process.geteuid?.() ?? uid;
  return uid === own || (own === 0 && uid === statSync(dirname(file)).uid);
}

/** Null: it is not there. A pipe is opened without waiting for who writes to it. */
function openPlain(file: string): number | null {
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    if (IS_LINK.has(code))
      throw new Error(`${file} is a link; put the file itself there, or delete it`, { cause });
    throw cause;
  }
}
