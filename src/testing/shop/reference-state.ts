/**
 * What the reference shop knows, and the steps that its commands are made of: counting, limits, the life of a basket, and what
 * follows from every command. Everything is looked up anew each time.
 */
import type { CountedBy } from "../../shop/rules/catalogue.ts";
import type { BasketView, PaymentReply, Shopper, UnitCounts } from "../../shop/rules/commands.ts";
import {
  allLines,
  answerOf,
  isBefore,
  isComplete,
  type PlainLine,
  plainPrice,
  plainTickets,
  refuseWith,
  totalOf,
  unitsIn,
  viewOfLine,
  type WishPlace,
} from "./reference-lines.ts";
import { ReferenceStock } from "./reference-stock.ts";

export interface PlainAttempt {
  readonly id: string;
  state: "open" | "authorised" | "succeeded" | "failed" | "voided" | "refunding" | "refunded";
}

export interface PlainBasket {
  readonly shopper: Shopper;
  /** Whom limits count for: the visit, until its owner has said who they are. */
  customer: string;
  readonly windowEndsAt: number;
  phase: "browsing" | "done" | "paying" | "departed";
  /** Of done and paying, in payment time. */
  endsAt: number;
  /** Of a departed basket: what it had. */
  tickets: PlainLine[];
  readonly attempts: PlainAttempt[];
  isLeaving: boolean;
  order: string | null;
  readonly released: Set<string>;
}

export interface PlainOrder {
  readonly id: string;
  readonly basket: PlainBasket;
  readonly customer: string;
  readonly tickets: {
    readonly line: PlainLine;
    readonly secret: string;
    state: "sold" | "cancelled" | "refunded";
  }[];
}

export interface PlainListed {
  readonly shopper: Shopper;
  readonly product: string;
  readonly count: number;
}

export class ReferenceState {
  /** Of the latest command or deadline. */
  now = 0;
  isClosed = false;
  doorClosedAt: number | null = null;
  doorClosedMs = 0;
  readonly baskets: PlainBasket[] = [];
  readonly orders: PlainOrder[] = [];
  readonly additions: { readonly basket: PlainBasket; readonly at: number; readonly items: number }[] = [];
  list: PlainListed[] = [];
  readonly answers = new Map<string, { readonly command: string; readonly answer: unknown }>();
  readonly events = new Map<string, PaymentReply["action"]>();
  #lines = 0;
  readonly stock = new ReferenceStock((product, lane) => this.countsOf(product, lane));

  get policies() {
    return this.stock.catalogue.policies;
  }

  /** Units of a product by where they are, of one lane or with null of all. */
  countsOf(product: string, lane: string | null): UnitCounts {
    const counts = { reserved: 0, pending: 0, sold: 0 };
    for (const { shopper, phase, tickets } of this.baskets)
      if (phase !== "departed" && (lane === null || shopper.lane === lane))
        counts[phase === "browsing" ? "reserved" : "pending"] += unitsIn(tickets, product);
    for (const { basket, tickets } of this.orders)
      if (lane === null || basket.shopper.lane === lane) counts.sold += unitsIn(stillSold(tickets), product);
    return counts;
  }

  /** Where and when a basket's owner wishes for something. */
  placeOf({ shopper }: PlainBasket): WishPlace {
    return {
      products: this.stock.products,
      room: shopper.room,
      now: this.now,
      isShut: (product: string) => this.stock.isShut(product, shopper.lane),
      nextId: () => `line ${++this.#lines}`,
    };
  }

  /** The lines that limits count. */
  limited(lines: readonly PlainLine[]): PlainLine[] {
    return allLines(lines).filter(({ kind, product }) =>
      this.policies.limitCounts === "tickets" ? kind === "ticket" : !this.stock.known.get(product.id)!.isPool,
    );
  }

  /** Whom a basket would count for after another request: nobody becomes nameless again. */
  customerFor(basket: PlainBasket, { visitor, customer }: Shopper): string {
    return customer === visitor ? basket.customer : customer;
  }

  /** The limits of a customer for more lines in this basket; those in time only for who is in a hurry. */
  checkLimits(
    basket: PlainBasket,
    customer: string,
    lines: readonly PlainLine[],
    { isHurried = true } = {},
  ): void {
    const isTheirs = (one: PlainBasket) => one === basket || one.customer === customer;
    const held = this.baskets.filter((one) => isTheirs(one) && one.phase !== "departed");
    const orders = this.orders.filter((one) => one.customer === customer);
    const bought = orders.flatMap(({ tickets }) => stillSold(tickets));
    const added = this.limited(lines);
    const all = [...added, ...this.limited([...held.flatMap(({ tickets }) => tickets), ...bought])];
    const { itemsMax, burst } = this.policies;
    if (added.length === 0) return;
    if (itemsMax !== null && totalOf(all) > itemsMax) refuseWith("limitReached");
    const isNew = basket.customer !== customer && basket.phase !== "departed";
    const atStake = isNew ? [...added, ...this.limited(basket.tickets)] : added;
    for (const { product } of atStake) {
      const max = this.stock.known.get(product.id)!.limitPerCustomer;
      if (max !== null && totalOf(all.filter((one) => one.product.id === product.id)) > max)
        refuseWith("limitReached");
    }
    if (!isHurried || burst === null) return;
    if (totalOf(added) > burst.items) refuseWith("limitReached");
    const recent = this.additions.filter((one) => isTheirs(one.basket) && one.at > this.now - burst.everyMs);
    if (totalOf(added) + recent.reduce((sum, { items }) => sum + items, 0) > burst.items)
      refuseWith("tooFast");
  }

  /** Every unit can be had. */
  checkStock(lines: readonly PlainLine[], lane: string): void {
    for (const id of this.stock.known.keys()) {
      const left = this.stock.own(id, lane);
      const units = unitsIn(lines, id);
      if (left !== null && units > 0 && units > left) refuseWith("insufficientStock");
    }
  }

  newBasket(shopper: Shopper): PlainBasket {
    return {
      shopper,
      customer: shopper.customer,
      windowEndsAt: shopper.admittedAt + this.policies.shoppingWindowMs,
      phase: "browsing",
      endsAt: 0,
      tickets: [],
      attempts: [],
      isLeaving: false,
      order: null,
      released: new Set(),
    };
  }

  toDone(basket: PlainBasket): void {
    basket.phase = "done";
    basket.endsAt = this.paymentTime + this.policies.doneMs;
    for (const ticket of basket.tickets) ticket.offerEndsAt = null;
  }

  toPaying(basket: PlainBasket): void {
    basket.phase = "paying";
    basket.endsAt = this.paymentTime + this.policies.payingMs;
  }

  /** What it held is free: only what is held or sold is counted. */
  depart(basket: PlainBasket): void {
    basket.phase = "departed";
    basket.isLeaving = false;
  }

  /** Offers end by themselves. At the end of the window, what is complete and can still be had is finished. */
  endBrowsing(basket: PlainBasket): void {
    const { now } = this;
    this.release(basket, ({ offerEndsAt }) => offerEndsAt !== null && offerEndsAt <= now);
    if (now < basket.windowEndsAt || hasOnlyOffers(basket)) return;
    this.release(basket, (ticket) => !isComplete(ticket));
    const lost = this.lost(basket, "pending");
    this.release(basket, (ticket) => lost.includes(ticket));
    if (basket.tickets.length === 0) this.depart(basket);
    else this.toDone(basket);
  }

  release(basket: PlainBasket, isGone: (ticket: PlainLine) => boolean): void {
    for (const { product } of basket.tickets.filter(isGone)) basket.released.add(product.id);
    basket.tickets = basket.tickets.filter((ticket) => !isGone(ticket));
  }

  /** The tickets that cannot be had when their units come to count at this place: the later ones. */
  lost({ tickets, shopper }: PlainBasket, place: CountedBy): PlainLine[] {
    const isShort = (lines: readonly PlainLine[]) =>
      [...this.stock.known.values()].some(({ id, countedBy }) => {
        const left = this.stock.own(id, shopper.lane);
        const units = unitsIn(lines, id);
        return countedBy === place && units > 0 && left !== null && left < units;
      });
    const kept: PlainLine[] = [];
    for (const ticket of tickets) if (!isShort([...kept, ticket])) kept.push(ticket);
    return tickets.filter((ticket) => !kept.includes(ticket));
  }

  /** What follows from every command and deadline. */
  settle(): void {
    this.stock.shrinkShortfalls();
    this.#latch();
    if (this.#offerReturned()) this.#latch();
  }

  get isOpen(): boolean {
    return !this.isClosed && !isBefore(this.now, this.policies.opensAt);
  }

  /** The latest: a visitor who has departed may have got another by the waiting list. */
  basketOf(visitor: string): PlainBasket | undefined {
    return this.baskets.findLast(({ shopper }) => shopper.visitor === visitor);
  }

  /** The basket of a visitor who is browsing. */
  browsing({ visitor }: Shopper): PlainBasket {
    const basket = this.basketOf(visitor) ?? refuseWith("noBasket");
    if (basket.phase !== "browsing") refuseWith(basket.phase === "departed" ? "expired" : "frozen");
    return basket;
  }

  /** That of one who has finished, and not departed. */
  pending({ visitor }: Shopper): PlainBasket {
    const basket = this.basketOf(visitor) ?? refuseWith("noBasket");
    if (basket.phase === "departed") refuseWith("expired");
    if (basket.phase === "browsing") refuseWith("wrongPhase");
    return basket;
  }

  /** It stands still while the payment door is closed. */
  get paymentTime(): number {
    return (this.doorClosedAt ?? this.now) - this.doorClosedMs;
  }

  /** When the phase ends by itself; null: it stands still, or never. */
  endOf(basket: PlainBasket): number | null {
    const { phase, windowEndsAt, tickets, endsAt } = basket;
    if (phase === "departed" || (phase !== "browsing" && this.doorClosedAt !== null)) return null;
    if (phase !== "browsing") return endsAt + this.doorClosedMs;
    if (this.now < windowEndsAt) return windowEndsAt;
    return Math.max(windowEndsAt, ...tickets.map(({ offerEndsAt }) => offerEndsAt ?? 0));
  }

  /** A basket as its owner sees it. */
  view(basket: PlainBasket): BasketView {
    const { phase, tickets, attempts, order, released } = basket;
    const holds = phase === "departed" && order === null ? [] : tickets;
    const { attemptsMax } = this.policies.payment;
    return {
      phase,
      expiresAt: this.endOf(basket),
      holds: holds.map((ticket) => viewOfLine(ticket, phase === "browsing")),
      total: plainPrice(holds),
      currency: this.stock.catalogue.currency,
      isValid: holds.every(isComplete),
      attemptsLeft: phase === "departed" ? 0 : Math.max(0, attemptsMax - attempts.length),
      order,
      released: [...released],
    };
  }

  #latch(): void {
    if (!isBefore(this.now, this.policies.opensAt))
      this.stock.latch(({ saleStart }) => !isBefore(this.now, saleStart));
  }

  /** True: something was offered to those on the waiting list. */
  #offerReturned(): boolean {
    const { offerMs } = this.policies;
    if (offerMs === null || !this.isOpen) return false;
    const before = this.list;
    this.list = this.list.filter((entry) => !this.#offer(entry, this.now + offerMs));
    return this.list.length < before.length;
  }

  #offer({ shopper, product, count }: PlainListed, offerEndsAt: number): boolean {
    const before = this.basketOf(shopper.visitor);
    if (before && isFinished(before)) return false;
    const basket = before?.phase === "browsing" ? before : this.newBasket(shopper);
    const place = { ...this.placeOf(basket), isShut: () => false };
    const refusal = answerOf(() => {
      const lines = plainTickets({ product, count, chosen: [] }, place);
      this.checkStock(lines, basket.shopper.lane);
      for (const line of lines) line.offerEndsAt = offerEndsAt;
      basket.tickets.push(...lines);
    });
    if (refusal === undefined && basket !== before) this.baskets.push(basket);
    return refusal === undefined;
  }
}

export function stillSold(tickets: PlainOrder["tickets"]): PlainLine[] {
  return tickets.filter(({ state }) => state === "sold").map(({ line }) => line);
}

/** Whether it is finished and not over. */
export function isFinished({ phase }: PlainBasket): boolean {
  return phase === "done" || phase === "paying";
}

/** Whether the provider may still say something about an attempt. */
export function isAwaited({ attempts }: PlainBasket): boolean {
  return attempts.some(({ state }) => state === "open" || state === "authorised");
}

function hasOnlyOffers({ tickets }: PlainBasket): boolean {
  return tickets.length > 0 && tickets.every(({ offerEndsAt }) => offerEndsAt !== null);
}
