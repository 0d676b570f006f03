/**
 * What the YAML parser found, in words for people. The parser's own messages may quote the text, and with it a secret,
 * so only its codes are used.
 */
import type { ErrorCode, YAMLError } from "yaml";

export interface SyntaxWords {
  readonly message: string;
  readonly hint: string;
}

const INDENT =
  "Settings that belong together start in the same column, two spaces further in than the line above them.";
const ALIAS = "Write the value out.";

const WORDS: Partial<Record<ErrorCode, SyntaxWords>> = {
  BAD_ALIAS: { message: "this alias stands for nothing", hint: ALIAS },
  ALIAS_PROPS: { message: "an alias cannot have a tag or an anchor", hint: ALIAS },
  BAD_DQ_ESCAPE: {
    message: "there is a backslash that means nothing here",
    hint: "Use single quotes to have backslashes as they are.",
  },
  BAD_INDENT: { message: "the line is not indented like its neighbours", hint: INDENT },
  BAD_SCALAR_START: { message: "a value cannot start with this character", hint: "Put the value in quotes." },
  BLOCK_AS_IMPLICIT_KEY: {
    message: "there is more than one setting on this line",
    hint: "Put each setting on its own line.",
  },
  BLOCK_IN_FLOW: {
    message: "a block cannot be inside brackets",
    hint: "Close the brackets first, or write it all in brackets.",
  },
  MULTILINE_IMPLICIT_KEY: {
    message: "a colon with a space after it is missing",
    hint: 'Settings are written as "setting: value".',
  },
  MULTIPLE_DOCS: { message: "there is more than one document in the file", hint: "Take the --- line out." },
  TAB_AS_INDENT: {
    message: "the line is indented with a tab",
    hint: "Use spaces; YAML does not allow tabs here.",
  },
  TAG_RESOLVE_FAILED: { message: "this tag is not known", hint: "Settings need no tags; take it out." },
  RESOURCE_EXHAUSTION: {
    message: "the file is nested too deeply to be read",
    hint: "Settings need a few levels only.",
  },
};

const UNKNOWN: SyntaxWords = {
  message: "this is not valid YAML",
  hint: 'Settings are written as "setting: value", one a line. Quotes and brackets must be closed.',
};

/** The words for one of the parser's errors. */
export function syntaxWords(error: YAMLError): SyntaxWords {
  return missingCharacter(error) ?? openBracket(error) ?? WORDS[error.code] ?? UNKNOWN;
}

function openBracket(error: YAMLError): SyntaxWords | null {
  if (error.code !== "BAD_INDENT" || !/^Flow \w+ in block/.test(error.message)) return null;
  return {
    message: "a bracket is still open before this line",
    hint: "Close it, with ] or }, where it belongs.",
  };
}

function missingCharacter(error: YAMLError): SyntaxWords | null {
  if (error.code !== "MISSING_CHAR") return null;
  if (error.message.includes("quote"))
    return { message: "a quote is not closed", hint: "Close it on the same line." };
  if (error.message.includes("space")) return { message: "a space is missing here", hint: "Write one." };
  return UNKNOWN;
}
