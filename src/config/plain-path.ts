/**
 * A request's path in the one form in which it is routed and sent. Two readers of a path that is not plain may see
 * different pages: one resolves `..` and the other does not, one takes `%2F` for a slash and the other for a letter. So
 * the path is made plain first (RFC 3986, section 6.2.2; Envoy's `normalize_path` and `merge_slashes`), and the origin
 * gets exactly what was routed:
 *
 *   - dot segments are resolved, encoded ones too, and doubled slashes merged; a backslash is a slash
 *   - letters, digits and `-._~` are not percent-encoded, bytes above 127 are, and the digits of %XX are upper case
 *   - refused: malformed percent-encoding, control characters, what is not UTF-8, a fragment, and dot segments that
 *     only some readers would find (`..;`, `%2F..%2F`, `%252e%252e`)
 *
 * Three things stay as they are, since ordinary sites use them: encoded separators (`%2F`, `%5C`, `%3F`, `%25`), `;`
 * parameters, and a file with a path behind it (`/index.php/buy`). Origins read these differently, so `PlainPath` says
 * up to where all of them agree (`certain`) and which names any of them could find after that (`names`). No dot segment
 * is left to climb with, so whatever an origin makes of the rest lies below the certain part; but for a script, which
 * may take what follows it for a path of its own (`/app/index.php/buy`).
 *
 * Paths are compared by their `key`, which is what the most forgiving origin sees: decoded, without case, accents, or
 * spaces and dots around a name.
 *
 * All of this takes time in proportion to the path's length. Nearly every path is plain already, which `plainEnd` finds
 * in one scan.
 */

export interface PlainPath {
  /** The path to send, and the query as it came. */
  readonly target: string;
  /** The path as it is compared: a slash before every name, none at the end. Empty for `/`. */
  readonly key: string;
  /** How many characters of the key every origin reads alike: all, or up to the slash before the first doubtful name. */
  readonly certain: number;
  /** Every name that an origin could find after the certain part. Null: the whole key is certain. */
  readonly names: ReadonlySet<string> | null;
  /** The first of these, for origins that decode once, twice and so on. Null: it may be any, since a file is among them. */
  readonly firsts: readonly string[] | null;
  /** True when a script is among them: it may route by what follows it, wherever it lies itself. */
  readonly hasScript: boolean;
  /** What was not plain about the path, such as `a dot segment`. Null: it was plain as it came. */
  readonly oddity: string | null;
  /** True when dot segments, doubled slashes or backslashes were resolved, so that its names are other than written. */
  readonly isMoved: boolean;
}

/** Why a path is refused, such as `a control character`. */
export interface BadPath {
  readonly wrong: string;
}

/** What may be done with one ASCII character while a path is scanned. */
const PLAIN = 0;
const SLASH = 1;
const DOT = 2;
const QUERY = 3;
const ODD = 4;

const SCAN = new Uint8Array(128).fill(PLAIN);
SCAN.fill(ODD, 0, 0x21);
for (const odd of "\x7f\\%;#+") SCAN[odd.charCodeAt(0)] = ODD;
SCAN[0x2f] = SLASH;
SCAN[0x2e] = DOT;
SCAN[0x3f] = QUERY;

/**
 * Where the path of a target ends, if it is plain and every origin reads it alike; -1 if it must be read with care.
 * Its key is then the path in lower case, but for a slash at the end.
 */
export function plainEnd(target: string): number {
  let before = -1;
  let hasDot = false;
  for (let i = 0; i < target.length; i++) {
    const code = target.charCodeAt(i);
    const kind = code < 128 ? SCAN[code]! : ODD;
    if (i === 0 ? kind !== SLASH : kind === ODD) return -1;
    if (kind === QUERY) return before === DOT || target.includes("#", i) ? -1 : i;
    if (kind === SLASH) {
      // A dot in a name with more behind it may be a dot segment, or a file's.
      if (before === SLASH || hasDot) return -1;
    } else if (kind === DOT) hasDot = true;
    before = kind;
  }
  return before === DOT || before < 0 ? -1 : target.length;
}

/** Reads a request's target: a path in bytes (one character each), and a query. */
export function readPlainPath(target: string): PlainPath | BadPath {
  if (target.includes("#")) return { wrong: "a fragment" };
  const end = target.indexOf("?");
  const written = end < 0 ? target : target.slice(0, end);
  const segments = new Segments();
  const wrong = segments.read(written);
  if (wrong !== null) return { wrong };
  const reading = compare(segments.names);
  if ("wrong" in reading) return reading;
  const { oddity, isMoved } = segments;
  const query = end < 0 ? "" : target.slice(end);
  return { target: segments.path() + query, ...reading, oddity: oddity ?? reading.oddity, isMoved };
}

/** True when nothing is in doubt, but for files with a path behind them. The path of a room must be such a one. */
export function isClear({ key, names, target }: PlainPath): boolean {
  if (names === null) return true;
  return !/%2F|%25/.test(target) && key.split("/").every((name, i) => i === 0 || isClearName(name));
}

/** True for the name of a file: a script that is told the rest of the path (CGI's PATH_INFO) may route by that. */
export function isFileName(name: string): boolean {
  return FILE.test(name.toLowerCase());
}

/** True for a letter, a digit, `-`, `_`, `.` and everything beyond ASCII: what goes on with a name in every origin. */
export function isNameCode(code: number): boolean {
  return code > 0x7f || NAME[code] === 1;
}

const NAME = new Uint8Array(128);
for (const letter of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
  NAME[letter.charCodeAt(0)] = 1;

function isClearName(name: string): boolean {
  return trim(name) !== "" && !DOUBTFUL.test(name);
}

const CODE_SLASH = 0x2f;
const CODE_BACKSLASH = 0x5c;
const CODE_PERCENT = 0x25;
const CODE_SEMICOLON = 0x3b;

/** `%XX` for every byte, or the character itself where it needs no encoding. */
const WRITTEN: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9._~-]/.test(character) ? character : escaped(byte);
});

/** Encoded characters that an origin may take for what they stand for. */
const ODD_ESCAPES: Readonly<Record<string, string>> = {
  "%2F": "an encoded slash",
  "%5C": "an encoded backslash",
  "%3B": "an encoded semicolon",
};

/** The names between a path's slashes, each in its plain spelling. */
class Segments {
  readonly names: string[] = [];
  oddity: string | null = null;
  isMoved = false;
  #isFolder = false;

  /** What is wrong with it, or null. */
  read(written: string): string | null {
    if (written.charCodeAt(0) !== CODE_SLASH) return "no slash at its start";
    let name = "";
    for (let i = 1; i < written.length; i++) {
      const code = written.charCodeAt(i);
      if (code === CODE_SLASH || code === CODE_BACKSLASH) {
        if (code === CODE_BACKSLASH) this.#move("a backslash");
        this.#add(name);
        name = "";
      } else if (code === CODE_PERCENT) {
        const byte = byteAt(written, i + 1);
        if (byte < 0) return "malformed percent-encoding";
        if (isControl(byte)) return "a control character";
        name += this.#plain(byte);
        i += 2;
      } else if (code > 0xff || code === 0x20 || isControl(code)) return "a space or control character";
      else {
        if (code === CODE_SEMICOLON) this.oddity ??= "a semicolon";
        if (code > 0x7f) this.oddity ??= "a byte above 127";
        name += code > 0x7f ? WRITTEN[code]! : written[i]!;
      }
    }
    this.#isFolder = name === "" || isDots(name);
    if (name !== "") this.#add(name);
    return null;
  }

  path(): string {
    return `/${this.names.join("/")}${this.#isFolder && this.names.length > 0 ? "/" : ""}`;
  }

  #add(name: string): void {
    if (name === "") this.#move("a doubled slash");
    else if (!isDots(name)) this.names.push(name);
    else {
      this.#move("a dot segment");
      if (name === "..") this.names.pop();
    }
  }

  #move(oddity: string): void {
    this.oddity ??= oddity;
    this.isMoved = true;
  }

  /** An encoded byte as it is to be written. */
  #plain(byte: number): string {
    const text = WRITTEN[byte]!;
    const oddity = text.length === 1 ? "a needlessly encoded character" : ODD_ESCAPES[text];
    if (oddity !== undefined) this.oddity ??= oddity;
    return text;
  }
}

function isDots(name: string): boolean {
  return name === "." || name === "..";
}

function isControl(code: number): boolean {
  return code < 0x20 || code === 0x7f;
}

function escaped(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** The byte that two hexadecimal digits stand for; -1 when they are none. */
function byteAt(text: string, at: number): number {
  const high = digitAt(text, at);
  const low = digitAt(text, at + 1);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at) | 0x20;
  if (code >= 0x30 && code <= 0x39 && text.charCodeAt(at) === code) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
}

/** What some origin would cut or decode in a name that was decoded once. */
const DOUBTFUL = /[/\\;?#%]/;
/** Where some origin would end a name. */
const SEPARATORS = /[/\\;?#]/;
/** Versions such as `v1.2` are no files. */
const FILE = /\.[a-z][a-z0-9]{0,4}$/;
/** Files that are run, and told the rest of the path. */
const SCRIPT = /\.(?:php[0-9]?|phtml|f?cgi|p[ly]|rb|lua|as[hp]x?|cfm|dll|exe)$/;
/** Also those beyond ASCII, and the two line breaks of Unicode. */
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/;
const ASCII = /^[\x00-\x7f]*$/;
/** Also characters that nobody sees, such as the soft hyphen. */
const ACCENTS = /[\u0300-\u036f]|\p{Cf}/gu;
const ESCAPE = /%[0-9a-f]{2}/;
const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/g;
const ENCODED_TWICE = "percent-encoding inside percent-encoding";
/** How often an origin may decode what it has decoded before. */
const DECODED_AGAIN_MAX = 2;

type Compared = Pick<PlainPath, "key" | "certain" | "names" | "firsts" | "hasScript" | "oddity">;

/** Names that nobody reads in another way, but for their case. */
const SIMPLE = /^[\w~-]+$/;

/** How origins may read the names of a path. */
function compare(names: readonly string[]): Compared | BadPath {
  let key = "";
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    if (SIMPLE.test(name)) key += `/${name.toLowerCase()}`;
    else {
      const text = readText(name);
      if (typeof text === "object") return text;
      const trimmed = trim(text);
      if (trimmed === "" && text.includes(".")) return { wrong: "a name of dots" };
      const hasMore = i < names.length - 1 && isFileName(trimmed);
      if (hasMore || trimmed === "" || DOUBTFUL.test(text)) return compareDoubtful(key, names.slice(i));
      key += `/${trimmed}`;
    }
  }
  return { key, certain: key.length, names: null, firsts: null, hasScript: false, oddity: null };
}

/** Where all agree on the names up to here, and nobody knows what becomes of the others. */
function compareDoubtful(before: string, names: readonly string[]): Compared | BadPath {
  const text = readText(names.join("/"));
  if (typeof text === "object") return text;
  const rest = namesIn(text);
  if ("wrong" in rest) return rest;
  return { key: `${before}/${text}`, certain: before.length + 1, ...rest };
}

/** Every name that some origin could find in a text that was decoded once, and may be decoded again. */
function namesIn(text: string): Omit<Compared, "key" | "certain"> | BadPath {
  const names = new Set<string>();
  const firsts: string[] = [];
  let hasFile = false;
  let hasScript = false;
  let rest = text;
  for (let again = 0; ; again++) {
    const parts = rest.split(SEPARATORS);
    firsts.push(trim(parts[0]!));
    for (const part of parts) {
      const name = trim(part);
      if (name === "" && part.includes(".")) return { wrong: "a hidden dot segment" };
      names.add(name);
      names.add(beginningOf(name));
      hasFile ||= isFileName(name);
      hasScript ||= SCRIPT.test(name);
    }
    if (!ESCAPE.test(rest)) {
      const oddity = again === 0 ? null : ENCODED_TWICE;
      return { names, firsts: hasFile ? null : firsts, hasScript, oddity };
    }
    if (again === DECODED_AGAIN_MAX) return { wrong: ENCODED_TWICE };
    const further = readText(rest);
    if (typeof further === "object") return further;
    rest = further;
  }
}

/** The text decoded once, as an origin sees it that cares for nothing but the plain letters. */
function readText(encoded: string): string | BadPath {
  let text: string;
  try {
    text = encoded.includes("%") ? encoded.replace(ESCAPES, decodeURIComponent) : encoded;
  } catch {
    return { wrong: "percent-encoding that is not UTF-8" };
  }
  if (!ASCII.test(text))
    // Some letters have their plain form in upper case only, such as the dotless i.
    text = text.normalize("NFKD").replace(ACCENTS, "").toUpperCase();
  if (CONTROLS.test(text)) return { wrong: "a control character" };
  return text.toLowerCase().replaceAll("+", " ");
}

/** The name up to the first letter at which some origin would end it. */
function beginningOf(name: string): string {
  let end = 0;
  while (end < name.length && isNameCode(name.charCodeAt(end))) end++;
  return end === name.length ? name : name.slice(0, end);
}

/** Without spaces around it and dots at its end. */
function trim(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === " " || name[end - 1] === ".")) end--;
  let start = 0;
  while (start < end && name[start] === " ") start++;
  return end - start === name.length ? name : name.slice(start, end);
}
