/**
 * A whole shop written to be read, after Pluijmaekers 2020: baskets and orders are lists, and every count is counted again from them
 * each time. It has no records, no heap of deadlines and nothing that is kept up to date, so it cannot forget to. The model test
 * plays the same commands here and on the real book (`model.ts`). Refusals name no more than their code.
 *
 * It is meant for small shops: some products, a few visitors, stocks of a dozen. Here are the commands; what they are made of is in
 * `reference-state.ts`.
 */
import { checkCatalogue } from "../../shop/rules/check-catalogue.ts";
import type {
  BasketAnswer,
  BasketView,
  ListAnswer,
  PayAnswer,
  PaymentEvent,
  PaymentReply,
  ProductView,
  Shopper,
  Shortfall,
  StockView,
  Wish,
} from "../../shop/rules/commands.ts";
import type { WrittenCatalogue } from "../../shop/rules/written-catalogue.ts";
import {
  allLines,
  answerOf,
  choose,
  isComplete,
  isNotShownYet,
  isSoldIn,
  type PlainLine,
  type PlainRefusal,
  plainPrice,
  plainTickets,
  refuseWith,
  totalOf,
} from "./reference-lines.ts";
import { type NewOrder, plainPayment } from "./reference-payments.ts";
import { isAwaited, type PlainBasket, type PlainListed, ReferenceState } from "./reference-state.ts";
import { servedInOrder, type TiedRequest } from "./reference-ties.ts";

export class ReferenceShop {
  readonly #shop = new ReferenceState();

  // What the organiser does.

  setCatalogue(
    written: WrittenCatalogue,
    { shortfall = "refuse", now }: { readonly shortfall?: Shortfall; readonly now: number },
  ): { kind: "set"; version: number } | PlainRefusal {
    return this.#do(now, () => {
      const { stock } = this.#shop;
      const checked = checkCatalogue(written, stock.catalogue.version + 1);
      if (!checked.ok) return refusal("invalidCatalogue");
      const { products, policies, version } = checked.catalogue;
      const stocks = new Map(Array.from(products, ([id, product]) => [id, stock.stockUnder(product)]));
      for (const [id, units] of stocks) {
        const isLess = stock.excess(products.get(id)!, units) > (stock.shortfalls.get(id) ?? 0);
        if ((units !== null && units < 0) || (isLess && shortfall === "refuse")) return refusal("belowHeld");
      }
      if (stock.catalogue.policies.isClosed !== policies.isClosed) this.#shop.isClosed = policies.isClosed;
      stock.define(checked.catalogue, stocks);
      this.#shop.list = this.#shop.list.filter(({ product }) => products.has(product));
      return { kind: "set", version };
    });
  }

  adjust(id: string, delta: number, shortfall: Shortfall, now: number): { kind: "stock" } | PlainRefusal {
    return this.#do(now, () => {
      const { known, stocks } = this.#shop.stock;
      const before = stocks.get(id);
      if (before === undefined) return refusal("unknownProduct");
      if (before === null) return refusal("endless");
      if (before + delta < 0) return refusal("belowZero");
      const excess = this.#shop.stock.excess(known.get(id)!, before + delta);
      if (delta < 0 && excess > 0 && shortfall === "refuse") return refusal("belowHeld");
      this.#shop.stock.setStock(id, before + delta);
      return { kind: "stock" };
    });
  }

  reopen(id: string, now: number): { kind: "stock" } | PlainRefusal {
    return this.#do(now, () => {
      if (!this.#shop.stock.products.has(id)) return refusal("unknownProduct");
      this.#shop.stock.reopen(id);
      return { kind: "stock" };
    });
  }

  setClosed(isClosed: boolean, now: number): void {
    this.#do(now, () => {
      this.#shop.isClosed = isClosed;
    });
  }

  setPaymentDoor(isOpen: boolean, now: number): void {
    this.#do(now, () => {
      const shop = this.#shop;
      if (isOpen && shop.doorClosedAt !== null) {
        shop.doorClosedMs += now - shop.doorClosedAt;
        shop.doorClosedAt = null;
      } else if (!isOpen) shop.doorClosedAt ??= now;
    });
  }

  /** `places`: of the tickets in the order; null: all. Returns how many have changed. */
  cancel(id: string, places: readonly number[] | null, kind: "cancelled" | "refunded", now: number): number {
    return this.#do(now, () => {
      const { tickets } = this.#shop.orders.find((one) => one.id === id)!;
      const changed = tickets.filter(
        ({ state }, i) => state === "sold" && (places === null || places.includes(i)),
      );
      for (const ticket of changed) ticket.state = kind;
      return changed.length;
    });
  }

  // What visitors do.

  hold(shopper: Shopper, wish: Wish, now: number, key?: string): BasketAnswer | PlainRefusal {
    return this.#once({ shopper, command: ["hold", wish], key }, now, () =>
      this.#reserve(shopper, null, wish),
    );
  }

  extend(shopper: Shopper, line: string, wish: Wish, now: number, key?: string): BasketAnswer | PlainRefusal {
    return this.#once({ shopper, command: ["extend", line, wish], key }, now, () =>
      this.#reserve(shopper, line, wish),
    );
  }

  undo(shopper: Shopper, id: string, now: number, key?: string): BasketAnswer | PlainRefusal {
    return this.#once({ shopper, command: ["undo", id], key }, now, () => {
      const basket = this.#shop.browsing(shopper);
      const line = allLines(basket.tickets).find((one) => one.id === id);
      if (!line || line.kind === "part") refuseWith("invalid");
      const above = allLines(basket.tickets).find(({ children }) => children.includes(line));
      const lines = above?.children ?? basket.tickets;
      lines.splice(lines.indexOf(line), 1);
      if (now >= basket.windowEndsAt && basket.tickets.length === 0) this.#shop.depart(basket);
      return this.#shown(basket);
    });
  }

  finish(shopper: Shopper, now: number, key?: string): BasketAnswer | PlainRefusal {
    return this.#once({ shopper, command: ["finish"], key }, now, () => {
      const basket = this.#shop.browsing(shopper);
      if (basket.tickets.length === 0 || !basket.tickets.every(isComplete)) refuseWith("invalid");
      if (this.#shop.lost(basket, "pending").length > 0) refuseWith("insufficientStock");
      this.#shop.toDone(basket);
      return this.#shown(basket);
    });
  }

  enterPayment(shopper: Shopper, now: number, key?: string): BasketAnswer | PlainRefusal {
    return this.#once({ shopper, command: ["enterPayment"], key }, now, () => {
      const basket = this.#shop.pending(shopper);
      if (basket.phase === "done") this.#shop.toPaying(basket);
      return this.#shown(basket);
    });
  }

  pay(
    shopper: Shopper,
    { attempt }: { readonly attempt: string },
    now: number,
    key?: string,
  ): PayAnswer | PlainRefusal {
    return this.#once<PayAnswer>({ shopper, command: ["pay"], key }, now, () => {
      const basket = this.#shop.pending(shopper);
      const { room, attemptsMax } = this.#shop.policies.payment;
      const isCapturing = basket.attempts.some(({ state }) => state === "authorised");
      if (basket.isLeaving || isCapturing || (basket.phase === "done" && room !== null))
        refuseWith("wrongPhase");
      if (basket.attempts.length >= attemptsMax) refuseWith("attemptsUsed");
      if (basket.phase === "done") this.#shop.toPaying(basket);
      basket.attempts.push({ id: attempt, state: "open" });
      const view = this.#shop.view(basket);
      return { kind: "attempt", attempt, total: view.total, currency: view.currency, basket: view };
    });
  }

  leave(shopper: Shopper, now: number, key?: string): BasketAnswer | PlainRefusal {
    return this.#once({ shopper, command: ["leave"], key }, now, () => {
      const basket = this.#shop.basketOf(shopper.visitor) ?? refuseWith("noBasket");
      if (basket.phase !== "departed" && isAwaited(basket)) basket.isLeaving = true;
      else if (basket.phase !== "departed") this.#shop.depart(basket);
      return this.#shown(basket);
    });
  }

  visitEnded(visitor: string, now: number): void {
    this.#do(now, () => {
      const basket = this.#shop.basketOf(visitor);
      if (basket?.phase === "browsing") this.#shop.depart(basket);
    });
  }

  joinList(shopper: Shopper, product: string, count: number, now: number): ListAnswer | PlainRefusal {
    const { stock, policies } = this.#shop;
    const { visitor, lane, room } = shopper;
    const isMine = (one: PlainListed) => one.product === product && one.shopper.visitor === visitor;
    return this.#do(now, () => {
      const wanted = stock.products.get(product);
      if (policies.offerMs === null) return refusal("invalid");
      if (!wanted?.isForSale || !isSoldIn(wanted, room, stock.products) || isNotShownYet(wanted, now))
        return refusal("notOffered");
      if (!this.#shop.list.some(isMine)) {
        const left = stock.isShut(product, lane) ? 0 : stock.available(product, lane);
        if (left === null || left >= count) return refusal("invalid");
        this.#shop.list.push({ shopper, product, count });
      }
      const listed = this.#shop.list.filter((one) => one.product === product);
      const ahead = listed.findIndex(isMine);
      return { kind: "listed", place: { product, count: listed[ahead]!.count, ahead } };
    });
  }

  leaveList({ visitor }: Shopper, product: string): void {
    this.#shop.list = this.#shop.list.filter(
      (one) => one.product !== product || one.shopper.visitor !== visitor,
    );
  }

  /**
   * Requests of several visitors for one product, that were gathered. Where there is not enough for all who could be granted theirs
   * alone, they are served in the order of the tie-break.
   */
  decide(requests: readonly TiedRequest[], seed: string, now: number): (BasketAnswer | PlainRefusal)[] {
    return this.#do(now, () => {
      const possible = requests.filter(
        ({ shopper, wish }) => answerOf(() => void this.#planned(shopper, null, wish)) === undefined,
      );
      const others = requests.filter((one) => !possible.includes(one));
      const served = [...others, ...servedInOrder(this.#shop, possible, seed)];
      const answers = new Map(
        served.map((one) => [one, answerOf(() => this.#reserve(one.shopper, null, one.wish))]),
      );
      return requests.map((one) => answers.get(one)!);
    });
  }

  /** What the payment provider says. */
  payment(event: PaymentEvent, order: NewOrder, now: number): PaymentReply["action"] {
    return this.#do(now, () => {
      const { events } = this.#shop;
      const action = events.get(event.id) ?? plainPayment(this.#shop, event, order);
      events.set(event.id, action);
      return action;
    });
  }

  // Time.

  /** The next instant at which something ends or begins; null: nothing does by itself. */
  nextDeadline(now: number): number | null {
    const { baskets, stock, policies } = this.#shop;
    const starts = [...stock.products.values()].map(({ saleStart }) => saleStart);
    const ends = baskets.flatMap((basket) => [
      this.#shop.endOf(basket),
      ...basket.tickets.map(({ offerEndsAt }) => (basket.phase === "browsing" ? offerEndsAt : null)),
    ]);
    const all = [policies.opensAt, ...starts, ...ends];
    const later = all.filter((at): at is number => at !== null && at > now);
    return later.length === 0 ? null : Math.min(...later);
  }

  /** Ends what is over. It is to be called at every deadline. */
  expire(now: number): void {
    this.#do(now, () => {
      for (const basket of this.#shop.baskets) {
        if (basket.phase === "browsing") this.#shop.endBrowsing(basket);
        else if (basket.phase !== "departed" && basket.endsAt <= this.#shop.paymentTime)
          this.#shop.depart(basket);
      }
    });
  }

  // What is shown.

  basket(visitor: string): BasketView | null {
    const basket = this.#shop.basketOf(visitor);
    return basket ? this.#shop.view(basket) : null;
  }

  products(room: string, lane: string | null, now: number): ProductView[] {
    const { stock } = this.#shop;
    return [...stock.products.values()]
      .filter((product) => !product.isPool && !isNotShownYet(product, now))
      .filter((product) => isSoldIn(product, room, stock.products))
      .map(({ id }) => ({
        id,
        state: stock.stateOf(id, lane),
        available: stock.isShut(id, lane) ? 0 : stock.available(id, lane),
      }));
  }

  stock(id: string): StockView {
    const { stocks, shortfalls } = this.#shop.stock;
    return {
      stock: stocks.get(id)!,
      counts: this.#shop.countsOf(id, null),
      shortfall: shortfalls.get(id)!,
      staysSoldOutIn: this.#shop.stock.shutIn(id),
    };
  }

  orders() {
    return this.#shop.orders.map(({ id, basket, tickets }) => ({
      id,
      visitor: basket.shopper.visitor,
      total: plainPrice(tickets.map(({ line }) => line)),
      tickets: tickets.map(({ line, secret, state }) => ({ product: line.product.id, secret, state })),
    }));
  }

  #reserve(shopper: Shopper, above: string | null, wish: Wish): BasketAnswer {
    const { baskets, additions, now } = this.#shop;
    const { basket, lines, siblings } = this.#planned(shopper, above, wish);
    siblings.push(...lines);
    if (!baskets.includes(basket)) baskets.push(basket);
    basket.customer = this.#shop.customerFor(basket, shopper);
    additions.push({ basket, at: now, items: totalOf(this.#shop.limited(lines)) });
    return this.#shown(basket, lines);
  }

  /** What a wish would take, and the lines it would stand among; or it is refused. */
  #planned(shopper: Shopper, above: string | null, wish: Wish) {
    const shop = this.#shop;
    if (!shop.isOpen) refuseWith("notOpen");
    const known = shop.basketOf(shopper.visitor);
    if (known && known.phase !== "browsing") refuseWith(known.phase === "departed" ? "expired" : "frozen");
    const basket = known ?? shop.newBasket(shopper);
    if (above === null && shop.now >= basket.windowEndsAt) refuseWith("expired");
    const parent = allLines(basket.tickets).find(({ id }) => id === above);
    if (above !== null && !parent) refuseWith(known ? "invalid" : "noBasket");
    const place = shop.placeOf(basket);
    // What is planned stands below a copy until all of it is granted.
    const lines = parent
      ? choose([{ ...parent, children: [...parent.children] }], wish, place)
      : plainTickets(wish, place);
    shop.checkLimits(basket, shop.customerFor(basket, shopper), lines);
    shop.checkStock(lines, basket.shopper.lane);
    return { basket, lines, siblings: parent?.children ?? basket.tickets };
  }

  #shown(basket: PlainBasket, made: readonly PlainLine[] = []): BasketAnswer {
    return { kind: "basket", basket: this.#shop.view(basket), made: made.map(({ id }) => id) };
  }

  /** Does one command at its time, and what follows from it. */
  #do<Answer>(now: number, work: () => Answer): Answer {
    this.#shop.now = now;
    const answer = work();
    this.#shop.settle();
    return answer;
  }

  /** A visitor's command: a refusal changes nothing, and a key that was used gets the first answer. */
  #once<Answer = BasketAnswer>(
    { shopper, command, key }: { shopper: Shopper; command: readonly unknown[]; key: string | undefined },
    now: number,
    work: () => Answer,
  ): Answer | PlainRefusal {
    const { answers } = this.#shop;
    const asked = JSON.stringify(command);
    const id = `${shopper.visitor}/${key}`;
    return this.#do(now, () => {
      const kept = key === undefined ? undefined : answers.get(id);
      if (kept) return kept.command === asked ? (kept.answer as Answer) : refusal("invalid");
      const answer = answerOf(work);
      const isRefused = (answer as { readonly kind: string }).kind === "refused";
      if (key !== undefined && !isRefused)
        answers.set(id, { command: asked, answer: structuredClone(answer) });
      return answer;
    });
  }
}

function refusal(code: string): PlainRefusal {
  return { kind: "refused", code };
}
