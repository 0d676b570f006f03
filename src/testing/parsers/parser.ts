/**
 * What a parser of outside text is, for the table of all of them (`parsers.ts`): how it is called, and which letters could
 * be worst for it. The test and the bench try those, and every special letter alone besides.
 */

/** Letters in a row, as many as are wanted. */
export interface Letters {
  /** Such as `"a" "\\"… "a/"`. */
  readonly name: string;
  text(bytes: number): string;
}

export interface Parser {
  /** What is read, such as `path`. */
  readonly name: string;
  /** Reads one text from outside. What it answers does not matter, nor whether it throws. */
  read(text: string): unknown;
  /** Letters that could be worse for it than any special letter alone. */
  readonly worst: readonly Letters[];
}

/** The same letters again and again, with others before and after. */
export function again(unit: string, { before = "", after = "" } = {}): Letters {
  const quoted = (text: string) => (text === "" ? "" : JSON.stringify(text));
  return {
    name: [quoted(before), `${quoted(unit)}…`, quoted(after)].filter((part) => part !== "").join(" "),
    text: (bytes) => {
      const times = Math.max(0, Math.floor((bytes - before.length - after.length) / unit.length));
      return before + unit.repeat(times) + after;
    },
  };
}

const SPECIAL = [..." \t!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "a", "Z", "0", "\x00", "\n", "\xe9"];

/** Every special letter alone, with a letter behind it that few parsers expect there, and in turn with a plain one. */
export const SPECIAL_LETTERS: readonly Letters[] = SPECIAL.flatMap((letter) => [
  again(letter, { after: "\x01" }),
  again(`a${letter}`),
]);
