/**
 * A parser of untrusted text, for the table of all of them (`parsers.ts`): how it is called, and its worst inputs. The test and
 * the bench try those, and every special character alone.
 */

/** An input of any length. */
export interface Letters {
  /** Such as `"a" "\\"… "a/"`. */
  readonly name: string;
  text(bytes: number): string;
}

export interface Parser {
  /** What is read, such as `path`. */
  readonly name: string;
  /** Reads one untrusted text. The result does not matter, nor whether it throws. */
  read(text: string): unknown;
  /** Inputs that could be worse for it than any special character alone. */
  readonly worst: readonly Letters[];
}

/** The same unit repeated, with text before and after. */
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

/** Every special character repeated, with a character behind it that few parsers expect, and alternating with a plain one. */
export const SPECIAL_LETTERS: readonly Letters[] = SPECIAL.flatMap((letter) => [
  again(letter, { after: "\x01" }),
  again(`a${letter}`),
]);
