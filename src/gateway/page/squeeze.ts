/**
 * Takes out of the page's own script and style what a browser does not need: comments, indentation, spaces around
 * punctuation, and the names of numeric constants. It reads only our own two scripts and one style sheet, is no
 * general minifier, and leans on how they are formatted: every statement ends in a semicolon, no template text inside
 * another, constants in capitals. The browser tests run what comes out of it.
 */

/** Strings stay; comments go, and the space around marks. `+` and `-` keep it where `a + +b` would become `a++b`. */
const SCRIPT_TOKENS = new RegExp(
  [
    /("(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)/,
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*/,
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
const STYLE_TOKENS = /("[^"]*")|\/\*[\s\S]*?\*\/|\s*([{};,>])\s*|(:)\s+|\s+/g;

/** One script out of modules that import only from each other, in the order given. */
export function squeezeScript(modules: readonly string[]): string {
  let source = modules
    .join("\n")
    .replace(/^import [^;]*;$/gm, "")
    .replace(/^export /gm, "");
  for (const [declaration, name = "", value = ""] of source.matchAll(CONSTANT)) {
    const use = new RegExp(`\\b${name}\\b`, "g");
    source = source.replace(declaration, "").replace(use, value.replaceAll("_", ""));
  }
  const bare = source.replace(SCRIPT_TOKENS, (_, text = "", mark = "", brace = "", sign = "") => {
    return text + mark + brace + sign;
  });
  return bare
    .replace(/\n\s*/g, "\n")
    .replace(/([;{}])\n(?=[a-z])/g, "$1")
    .trim();
}

/** The same style in fewer bytes. */
export function squeezeStyle(source: string): string {
  const bare = source.replace(STYLE_TOKENS, (token, text = "", mark = "", colon = "") => {
    return text + mark + colon || (token.startsWith("/*") ? "" : " ");
  });
  return bare.replaceAll(";}", "}").trim();
}
