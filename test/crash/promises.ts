/**
 * What operators were promised: a change that was acknowledged is in force until the next one. A change without an answer may be
 * in force or not, until it is seen which.
 */
export interface Promised {
  readonly kind: "wanted" | "granted" | "found";
  readonly name: string;
  /** null as "wanted": the new value is not known beforehand. */
  readonly value: string | null;
}

const ANYTHING = null;

export class Promises {
  /** The values that each may have. */
  readonly #may = new Map<string, Set<string | null>>();

  /** Takes a note; returns a sentence when what was found is not what was promised. */
  note({ kind, name, value }: Promised): string | null {
    const may = this.#may.get(name);
    if (kind === "wanted") {
      // Until something is promised, any value may stay.
      this.#may.set(name, new Set(may ?? [ANYTHING]).add(value));
      return null;
    }
    this.#may.set(name, new Set([value]));
    if (kind === "granted" || !may || may.has(ANYTHING) || may.has(value)) return null;
    return `${name} was promised as ${[...may].join(" or ")}, and is ${value}`;
  }
}
