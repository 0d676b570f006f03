/**
 * Minifies the page's own scripts and style: removes comments, indentation and spaces around punctuation, inlines numeric
 * constants and shortens the names of functions and variables. It is not a general minifier and relies on our formatting:
 * every statement ends in a semicolon, no template text inside another and no braces inside its `${}`, constants in capitals,
 * no default values in patterns. The browser tests run the result.
 */

const TEXT = /("(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)/;
const COMMENTS = new RegExp(`${TEXT.source}|/\\*[\\s\\S]*?\\*/|//[^\\n]*`, "g");
/** Strings stay; spaces around punctuation go, but not where `a + +b` would become `a++b`. */
const SCRIPT_TOKENS = new RegExp(
  [
    TEXT,
    /[;,](?=\s*\})|,(?=\s*[)\]])/,
    /\s*([=*<>?:,;{()[\]&|!])\s*/,
    /\s*(\})[ \t]*/,
    / ([-+/]) (?=[\w("`[])/,
  ]
    .map((part) => part.source)
    .join("|"),
  "g",
);
const CONSTANT = /^const ([A-Z][A-Z_]+) = ([\d_.]+);$/gm;
const DECLARED = /\b(?:function|const|let) (\w+)/g;
const PARAMETERS = /(?:\bfunction \w+|[(,=] ?)\(([\w, ]+)\)(?= =>| \{)/g;
const INSIDE = /\$\{[^}]*\}/g;
/** A name that is not a property behind a dot. */
const NAME = /(?<=\.\.\.|[^.\w])[A-Za-z_]\w*/g;
const TOKEN = new RegExp(`${TEXT.source}|\\.{3}|\\w+|\\s+|\\S`, "g");
/** Shorter names are kept. */
const NAME_LENGTH_MIN = 3;
/** Words of the language as short as the names given. */
const RESERVED = ["as", "do", "if", "in", "of"];
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const STYLE_TOKENS = /("[^"]*")|\/\*[\s\S]*?\*\/|\s*([{};,>])\s*|(:)\s+|\s+/g;

/** One script out of modules that import only from each other, in the order given. */
export function squeezeScript(modules: readonly string[]): string {
  let source = modules
    .join("\n")
    .replace(COMMENTS, (_, text = "") => text)
    .replace(/^import [^;]*;$/gm, "")
    .replace(/^export /gm, "");
  for (const [declaration, name = "", value = ""] of source.matchAll(CONSTANT)) {
    const use = new RegExp(`\\b${name}\\b`, "g");
    source = source.replace(declaration, "").replace(use, value.replaceAll("_", ""));
  }
  const bare = shortenNames(source).replace(
    SCRIPT_TOKENS,
    (_, text = "", mark = "", brace = "", sign = "") => {
      return text + mark + brace + sign;
    },
  );
  return bare
    .replace(/\s*\n\s*/g, "\n")
    .replace(/([;{}])\n(?=[a-zA-Z])/g, "$1")
    .trim();
}

/** Gives functions, variables and parameters a letter or two as their names. Properties keep theirs. */
function shortenNames(source: string): string {
  const tokens = tokensOf(source);
  const code = tokens.map(({ text }) => (text.startsWith("`") ? insidesOf(text) : text)).join(" ");
  const uses = new Map<string, number>();
  for (const [name] of code.matchAll(/\w+/g)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const declared = new Set(tokens.filter(({ role }) => role === "shorthand").map(({ text }) => text));
  for (const [, name = ""] of source.matchAll(DECLARED)) declared.add(name);
  for (const [, list = ""] of source.matchAll(PARAMETERS))
    for (const name of list.split(", ")) declared.add(name);
  const names = [...declared]
    .filter((name) => name.length >= NAME_LENGTH_MIN)
    .sort((a, b) => uses.get(b)! - uses.get(a)!);
  const free = freeNames(new Set([...RESERVED, ...uses.keys()]));
  const shorter = new Map(names.map((name) => [name, free.next().value]));
  const shorten = (name: string) => shorter.get(name) ?? name;
  return tokens
    .map(({ text, role }) => {
      if (role === "property") return text;
      if (role === "shorthand") return shorter.has(text) ? `${text}:${shorten(text)}` : text;
      return text.startsWith("`")
        ? text.replace(INSIDE, (inside) => inside.replace(NAME, shorten))
        : shorten(text);
    })
    .join("");
}

/** `.name` and `{ name: … }` are properties; `{ name }` is a property and a variable. */
interface Token {
  readonly text: string;
  readonly role: "property" | "shorthand" | "other";
}

function tokensOf(source: string): Token[] {
  const texts = source.match(TOKEN) ?? [];
  const marks = texts.filter((text) => text.trim() !== "");
  const open: string[] = [];
  let index = -1;
  return texts.map((text) => {
    if (text.trim() === "") return { text, role: "other" };
    index++;
    if ("([{".includes(text)) open.push(text);
    else if (")]}".includes(text)) open.pop();
    const before = marks[index - 1] ?? "";
    const after = marks[index + 1] ?? "";
    const isKey = /^\w/.test(text) && open.at(-1) === "{" && "{,".includes(before) && ":,}".includes(after);
    if (before === "." || (isKey && after === ":")) return { text, role: "property" };
    return { text, role: isKey ? "shorthand" : "other" };
  });
}

/** The code inside a template text. */
function insidesOf(text: string): string {
  return Array.from(text.matchAll(INSIDE), ([inside]) => inside.slice(2, -1)).join(" ");
}

function* freeNames(taken: ReadonlySet<string>): Generator<string, never> {
  for (let length = 1; ; length++) for (const name of namesOf(length)) if (!taken.has(name)) yield name;
}

function namesOf(length: number): string[] {
  if (length === 0) return [""];
  return namesOf(length - 1).flatMap((start) => [...LETTERS].map((letter) => start + letter));
}

/** The same style in fewer bytes. */
export function squeezeStyle(source: string): string {
  const bare = source.replace(STYLE_TOKENS, (token, text = "", mark = "", colon = "") => {
    return text + mark + colon || (token.startsWith("/*") ? "" : " ");
  });
  return bare.replaceAll(";}", "}").replace(/\b0\./g, ".").trim();
}
