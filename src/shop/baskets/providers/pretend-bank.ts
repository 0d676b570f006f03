/**
 * The other side of `PretendProvider`: a provider with payments, without money. It keeps payments in memory, tells the shop what
 * becomes of them, and does what the shop asks, once however often it is asked.
 *
 *             pay                    capture
 *   opened ───────▶ authorised ────────────────▶ captured ──refund──▶ refunded
 *      │                │                           ▲
 *      │ decline        │ void                      │ pay, where payments are captured at once
 *      ▼                ▼                           │
 *   failed           voided                      opened
 *
 * An event is sent until it is acknowledged. How it is sent can be made as bad as the real ones are at their worst (`Mischief`):
 * late, several times, in another order, with a wrong time.
 */
import type { World } from "../../../core/world.ts";
import { type HeaderLookup, signWebhook, verifyWebhook, type WebhookKeys } from "../standard-webhooks.ts";
import { isJsonObject, readJsonObject } from "./provider.ts";

const SENDS_MAX = 40;
const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 30_000;
const ID_BYTES = 12;
const ACTIONS = ["capture", "void", "refund"] as const;
const PATH = /^\/payments\/([\w-]{1,100})\/(\w{1,20})$/;

type State = "opened" | "authorised" | "captured" | "refunded" | "voided" | "failed";
type Told = "authorised" | "succeeded" | "failed" | "refunded";

export interface BankPayment {
  readonly id: string;
  readonly attempt: string;
  readonly amount: number;
  readonly currency: string;
  readonly isCapturedAtOnce: boolean;
  readonly state: State;
}

/** How events are sent. */
export interface Mischief {
  /** One copy of an event for each delay. */
  delaysMs(): readonly number[];
  /** Added to the time that one sending claims. */
  skewMs(): number;
}

export const HONEST: Mischief = { delaysMs: () => [0], skewMs: () => 0 };

/** One sending of an event to the shop; the status that the shop answers with. Rejects when there is no answer. */
export type SendEvent = (event: {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}) => Promise<number>;

export interface BankParts {
  readonly keys: WebhookKeys;
  readonly world: Pick<World, "clock" | "random" | "timers">;
  readonly send: SendEvent;
  readonly mischief?: Mischief;
}

export class PretendBank {
  readonly #parts: Required<BankParts>;
  readonly #payments = new Map<string, BankPayment>();
  #unacknowledged = 0;

  constructor(parts: BankParts) {
    this.#parts = { mischief: HONEST, ...parts };
  }

  /** Events that the shop has not acknowledged yet. */
  get unacknowledged(): number {
    return this.#unacknowledged;
  }

  get payments(): readonly BankPayment[] {
    return [...this.#payments.values()];
  }

  /** The visitor comes to pay. */
  open(wanted: Pick<BankPayment, "attempt" | "amount" | "currency" | "isCapturedAtOnce">): BankPayment {
    const payment = { ...wanted, id: `pay_${this.#randomId()}`, state: "opened" } as const;
    this.#payments.set(payment.id, payment);
    return payment;
  }

  /** The visitor's card is good. */
  pay(id: string): BankPayment {
    const payment = this.#payments.get(id);
    if (payment?.state !== "opened") throw new Error(`the payment ${id} is not open`);
    return payment.isCapturedAtOnce
      ? this.#move(payment, "captured", "succeeded")
      : this.#move(payment, "authorised", "authorised");
  }

  /** The visitor's card is not good. */
  decline(id: string): BankPayment {
    const payment = this.#payments.get(id);
    if (payment?.state !== "opened") throw new Error(`the payment ${id} is not open`);
    return this.#move(payment, "failed", "failed");
  }

  /** A request of the shop; the status to answer with. */
  serve(request: {
    readonly path: string;
    readonly header: HeaderLookup;
    readonly body: Uint8Array;
  }): number {
    const { keys, world } = this.#parts;
    const verified = verifyWebhook({ ...request, now: world.clock.now() }, keys);
    if (verified.kind === "refused") return 401;
    const [, id = "", action] = PATH.exec(request.path) ?? [];
    const payment = this.#payments.get(id);
    const told = readJsonObject(request.body);
    if (!payment || !isJsonObject(told) || told.attempt !== payment.attempt) return 404;
    const known = ACTIONS.find((one) => one === action);
    return known ? this.#do(payment, known) : 404;
  }

  #do(payment: BankPayment, action: (typeof ACTIONS)[number]): number {
    const { state } = payment;
    switch (action) {
      case "capture":
        if (state === "authorised") this.#move(payment, "captured", "succeeded");
        else if (state !== "captured") return 409;
        return 200;
      case "void":
        if (state === "authorised") this.#move(payment, "voided", "failed");
        else if (state !== "voided") return 409;
        return 200;
      case "refund":
        if (state === "captured") this.#move(payment, "refunded", "refunded");
        else if (state !== "refunded") return 409;
        return 200;
    }
  }

  #move(payment: BankPayment, state: State, told: Told): BankPayment {
    const moved = { ...payment, state };
    this.#payments.set(payment.id, moved);
    this.#tell(moved, told);
    return moved;
  }

  #tell({ id: payment, attempt, amount, currency }: BankPayment, told: Told): void {
    const { world, mischief } = this.#parts;
    const id = `evt_${this.#randomId()}`;
    const timestamp = new Date(world.clock.now()).toISOString();
    const data = { attempt, payment, amount, currency };
    const body = JSON.stringify({ type: `payment.${told}`, timestamp, data });
    for (const delayMs of mischief.delaysMs()) {
      this.#unacknowledged++;
      world.timers.after(delayMs, () => void this.#send({ id, body, sends: 1 }));
    }
  }

  async #send(event: { readonly id: string; readonly body: string; readonly sends: number }): Promise<void> {
    const { keys, world, send, mischief } = this.#parts;
    const { id, body, sends } = event;
    const headers = signWebhook({ id, at: world.clock.now() + mischief.skewMs(), body }, keys);
    const status = await send({ headers: { "content-type": "application/json", ...headers }, body }).catch(
      () => 0,
    );
    if ((status >= 200 && status < 300) || sends >= SENDS_MAX) {
      this.#unacknowledged--;
      return;
    }
    const delayMs = Math.min(RETRY_MOST_MS, RETRY_FIRST_MS * 2 ** (sends - 1));
    world.timers.after(delayMs, () => void this.#send({ ...event, sends: sends + 1 }));
  }

  #randomId(): string {
    return Buffer.from(this.#parts.world.random.bytes(ID_BYTES)).toString("hex");
  }
}
