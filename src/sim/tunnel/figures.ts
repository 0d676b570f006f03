/** A run in figures: how much happened, who was admitted and when, and how far from the order of joining. */
import type { Capacity } from "./checks/capacity.ts";
import type { Order, OrderFigures } from "./checks/order.ts";
import type { SimCrowd } from "./crowd.ts";
import type { EventLoop } from "./event-loop.ts";
import type { SimGateway } from "./gateway.ts";
import type { MessageFate } from "./network.ts";

export interface Figures extends OrderFigures {
  readonly events: number;
  readonly simulatedMs: number;
  readonly messages: MessageFigures;
  readonly visitors: number;
  readonly entered: number;
  readonly onSiteMost: number;
  /** Milliseconds from arrival to admission. */
  readonly waitMs: { readonly middle: number; readonly p95: number; readonly most: number };
  /** Made-up tickets and passes that were refused. */
  readonly forgeries: number;
}

/** The figures of a run so far, from its tunnel and two of its checks. */
export function runFigures(
  {
    crowd,
    messages,
    loop,
    gateway,
  }: { crowd: SimCrowd; messages: MessageCount; loop: EventLoop; gateway: SimGateway },
  { capacity, order }: { capacity: Capacity; order: Order },
): Figures {
  const waits = crowd.all
    .flatMap(({ cameAt, enteredAt }) => (enteredAt === null ? [] : [enteredAt - cameAt]))
    .sort((a, b) => a - b);
  return {
    events: loop.done,
    simulatedMs: Math.round(loop.time),
    messages: messages.figures(),
    visitors: crowd.all.length,
    entered: waits.length,
    onSiteMost: capacity.most,
    waitMs: { middle: at(waits, 0.5), p95: at(waits, 0.95), most: at(waits, 1) },
    forgeries: gateway.refused,
    ...order.figures(),
  };
}

function at(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return 0;
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!);
}

export interface MessageFigures {
  readonly sent: number;
  readonly arrived: number;
  readonly lost: Readonly<Record<string, number>>;
  /** By the kind of their bodies; one message may have several. */
  readonly kinds: Readonly<Record<string, number>>;
}

/** Counts messages by kind, and what became of those that did not arrive. */
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
