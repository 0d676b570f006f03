/** How many messages went out, what they were about, and what became of those that did not arrive. */
import type { MessageFate } from "./network.ts";

export interface MessageFigures {
  readonly sent: number;
  readonly arrived: number;
  readonly lost: Readonly<Record<string, number>>;
  /** By the kind of what is in them; one message may carry several things. */
  readonly kinds: Readonly<Record<string, number>>;
}

export class MessageCount {
  #sent = 0;
  #arrived = 0;
  readonly #lost = new Map<string, number>();
  readonly #kinds = new Map<string, number>();

  send(message: unknown): void {
    this.#sent++;
    for (const kind of kindsIn(message)) this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  arrive(): void {
    this.#arrived++;
  }

  lose(fate: MessageFate): void {
    this.#lost.set(fate, (this.#lost.get(fate) ?? 0) + 1);
  }

  figures(): MessageFigures {
    const kinds = [...this.#kinds].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      sent: this.#sent,
      arrived: this.#arrived,
      lost: Object.fromEntries(this.#lost),
      kinds: Object.fromEntries(kinds),
    };
  }
}

function kindsIn(message: unknown): string[] {
  const { bodies } = (message ?? {}) as { bodies?: unknown };
  return (Array.isArray(bodies) ? bodies : [message]).map(kindOf);
}

function kindOf(body: unknown): string {
  const { kind } = (body ?? {}) as { kind?: unknown };
  return typeof kind === "string" ? kind : "other";
}
