/** A ledger as the rest of the process asks it: through its stub, so that every answer comes later, once it is on disk. */
import type { Verified } from "../ledger/verify.ts";
import type { PaymentEvent, PaymentReply, ShopCalls } from "../rules/commands.ts";

type Asked<Calls> = {
  readonly [Name in keyof Calls]: Calls[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Answer>
    : never;
};

export interface ShopDesk extends Asked<ShopCalls> {
  /** What the provider said of an attempt. With one secret for each ticket that an order of it would have. */
  payment(
    event: PaymentEvent,
    parts: { readonly orderId: string; readonly secrets: readonly string[] },
    now: number,
  ): Promise<PaymentReply>;
  ticketCount(attempt: string): Promise<number>;
  /** Recounts everything from what is stored, and compares. */
  verify(): Promise<Verified>;
}
