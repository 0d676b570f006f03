/** A run in figures: how much happened, who was let in and when, and how far from the order of joining. */
import type { Capacity } from "./checks/capacity.ts";
import type { Order, OrderFigures } from "./checks/order.ts";
import type { MessageFigures } from "./message-count.ts";
import type { Tunnel } from "./tunnel.ts";

export interface Figures extends OrderFigures {
  readonly events: number;
  readonly simulatedMs: number;
  readonly messages: MessageFigures;
  readonly visitors: number;
  readonly entered: number;
  readonly onSiteMost: number;
  /** Milliseconds from coming to being let in. */
  readonly waitMs: { readonly middle: number; readonly p95: number; readonly most: number };
  /** Made-up tickets and passes that were sent away. */
  readonly forgeries: number;
}

/** The figures of a run so far, by its tunnel and these two of its checks. */
export function runFigures(
  { crowd, messages, loop, gateway }: Tunnel,
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
