/**
 * The fenced blocks of a document. The word after the fence is the language; what follows are tags:
 *
 *   sh              every command is run to its end and must succeed
 *   sh run          the same, but the last command keeps running, and must answer
 *   sh control      the commands need a running Fairgate with a room `main`
 *   sh gathering    they need one with the settings above, during the prequeue of the event in them
 *   sh drawn        they need the same after the draw, and the receipt of a visitor who gathered in `receipt.json`
 *   sh skip=REASON  not run, for the reason given
 */
export interface Block {
  readonly line: number;
  readonly language: string;
  readonly tag: string;
  readonly text: string;
}

const FENCE = /^(```+)([^\n`]*)\n([\s\S]*?)^\1[ \t]*$/gm;
/** In a list item, where a block would not be found. */
const INDENTED = /^[ \t]+```sh\b/m;
/** Other names for the same languages would be ignored silently, so they are not allowed. */
const OTHER_SHELLS = new Set(["bash", "shell", "console", "zsh", "shell-session"]);
const SHELL_TAG = /^(|run|control|gathering|drawn|skip=\S.*)$/;

/** Every fenced block, in order. Throws on one that would be skipped by mistake. */
export function blocksOf(document: string): Block[] {
  const indented = INDENTED.exec(document);
  if (indented)
    throw new Error(`line ${lineAt(document, indented.index)}: a block of commands is not indented`);
  return [...document.matchAll(FENCE)].map((match) => {
    const line = lineAt(document, match.index);
    const [language = "", ...tags] = match[2]!.trim().split(/\s+/);
    const tag = tags.join(" ");
    if (OTHER_SHELLS.has(language)) throw new Error(`line ${line}: write \`sh\`, not \`${language}\``);
    if (language === "sh" && !SHELL_TAG.test(tag)) throw new Error(`line ${line}: there is no tag "${tag}"`);
    return { line, language, tag, text: match[3]! };
  });
}

function lineAt(document: string, index: number): number {
  return document.slice(0, index).split("\n").length;
}

/** A block's commands: one per line, joined where a line ends in a backslash. */
export function commandsOf(block: Block): string[] {
  const lines = block.text.replace(/\\\n\s*/g, "").split("\n");
  return lines.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
}
