/** How many letters went out, what they were about, and what became of those that did not arrive. */
import type { LetterFate } from "./network.ts";

export interface LetterFigures {
  readonly sent: number;
  readonly arrived: number;
  readonly lost: Readonly<Record<string, number>>;
  /** By the kind of what is in them; one letter may carry several things. */
  readonly kinds: Readonly<Record<string, number>>;
}

export class LetterCount {
  #sent = 0;
  #arrived = 0;
  readonly #lost = new Map<string, number>();
  readonly #kinds = new Map<string, number>();

  send(letter: unknown): void {
    this.#sent++;
    for (const kind of kindsIn(letter)) this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  arrive(): void {
    this.#arrived++;
  }

  lose(fate: LetterFate): void {
    this.#lost.set(fate, (this.#lost.get(fate) ?? 0) + 1);
  }

  figures(): LetterFigures {
    const kinds = [...this.#kinds].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      sent: this.#sent,
      arrived: this.#arrived,
      lost: Object.fromEntries(this.#lost),
      kinds: Object.fromEntries(kinds),
    };
  }
}

function kindsIn(letter: unknown): string[] {
  const { bodies } = (letter ?? {}) as { bodies?: unknown };
  return (Array.isArray(bodies) ? bodies : [letter]).map(kindOf);
}

function kindOf(body: unknown): string {
  const { kind } = (body ?? {}) as { kind?: unknown };
  return typeof kind === "string" ? kind : "other";
}
