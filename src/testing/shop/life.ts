/**
 * One random life of a shop: each step is done by the shop under test and by the reference, their answers are compared, and after it
 * everything that can be seen. A refusal must not have changed anything that is stored.
 *
 * Deadlines are kept to the millisecond: each is told to both sides when it comes. Everybody acts at instants of their own, so that no
 * two deadlines of different visitors are at the same one, and the order in which they would be served need not be the same.
 */
import assert from "node:assert/strict";
import type { Product } from "../../shop/rules/catalogue.ts";
import type { HoldView, Shopper } from "../../shop/rules/commands.ts";
import { completeCatalogue, type WrittenCatalogue } from "../../shop/rules/written-catalogue.ts";
import { HISTORY_STARTS_AT, HISTORY_TICK_MS } from "./catalogues.ts";
import { comparable, linesOfView } from "./comparable.ts";
import { ShopComparison } from "./comparison.ts";
import { ReferenceShop } from "./reference.ts";
import { needsOf } from "./reference-stock.ts";
import type { RunningShop } from "./running-shop.ts";
import { type ShopStep, VISITORS, wishBelow, wishOf } from "./steps.ts";

/** Longer than any basket lives. */
const LIFETIME_MS = 1_200_000;
/** No life takes longer before that, so that departed baskets can still be seen (for an hour). */
const LIFE_MAX_MS = 1_800_000;
/** The product with a waiting list: with one list it is clear who is offered what comes back. */
const LISTED = "seat";
const SECRETS = Array.from({ length: 400 }, (_, i) => `secret ${i}`);

/** Everybody acts at an instant of their own in each tick: visitors at 1 and on. */
const OFFSET = { organiser: 0, door: 8, ties: 9 };

/** The last two are of one family, once they have said so. */
function shopperOf(who: number, isNamed: boolean): Shopper {
  return {
    visitor: `v${who}`,
    customer: who >= 4 && isNamed ? "a family" : `v${who}`,
    room: who === 2 ? "side" : "main",
    lane: who < 2 ? "members" : "default",
    admittedAt: HISTORY_STARTS_AT + (who - 2) * 1_000 * HISTORY_TICK_MS + who + 1,
  };
}

const SHOPPERS = Array.from({ length: VISITORS }, (_, who) => shopperOf(who, true));

/** Whole ticks. */
function ticksOf(seconds: number): number {
  return seconds * 1_000 - ((seconds * 1_000) % HISTORY_TICK_MS);
}

export class Life {
  readonly #shop: RunningShop;
  readonly #reference = new ReferenceShop();
  readonly #catalogues: readonly WrittenCatalogue[];
  #written: WrittenCatalogue;
  /** The last definitions of all products there ever were. */
  readonly #known = new Map<string, Product>();
  #tick = HISTORY_STARTS_AT;
  #now = HISTORY_STARTS_AT;
  #doing = "begin";
  readonly #attempts: { readonly id: string; readonly who: number; readonly total: number }[] = [];
  readonly #events: { readonly id: string; readonly attempt: number; readonly kind: PaymentKind }[] = [];
  readonly #comparison: ShopComparison;

  constructor(shop: RunningShop, catalogues: readonly WrittenCatalogue[]) {
    this.#shop = shop;
    this.#catalogues = catalogues;
    this.#written = catalogues[0]!;
    this.#comparison = new ShopComparison(shop, this.#reference, SHOPPERS);
  }

  async begin(): Promise<void> {
    await this.#setCatalogue(this.#written, "refuse");
    assert.notEqual(this.#known.size, 0, "the first catalogue is a good one");
    await this.#compare();
  }

  async take(step: ShopStep): Promise<void> {
    this.#tick += HISTORY_TICK_MS;
    await this.#do(step);
    await this.#compare();
  }

  /** All deadlines pass; then nothing is held, and what is sold is what the orders say. */
  async end(): Promise<void> {
    await this.take({ do: "door", isOpen: true });
    await this.#passTo(this.#now + LIFETIME_MS);
    await this.take({ do: "restart", asleepSeconds: 0 });
    const sold = this.#reference
      .orders()
      .flatMap(({ tickets }) => tickets.filter(({ state }) => state === "sold"));
    const tickets = new Map<string, number>();
    for (const { product } of sold) tickets.set(product, (tickets.get(product) ?? 0) + 1);
    for (const id of this.#known.keys()) {
      const { counts } = (await this.#shop.book.stock(id))!;
      assert.deepEqual([counts.reserved, counts.pending], [0, 0], `${id} is still held`);
      assert.ok(counts.sold >= (tickets.get(id) ?? 0), `${id} was sold more often than is counted`);
    }
  }

  async #do(step: ShopStep): Promise<void> {
    this.#doing = step.do;
    switch (step.do) {
      case "pass":
        return this.#pass(step.seconds);
      case "restart":
        return this.#restart(step.asleepSeconds);
      case "setCatalogue":
        return this.#setCatalogue(this.#catalogues[step.which % this.#catalogues.length]!, step.shortfall);
      case "buy":
        return this.#buy(step);
      case "payment":
        return this.#payment(step);
      case "cancel":
        return this.#cancel(step);
      case "tie":
        return this.#tie(step);
      case "door":
        await this.#at(OFFSET.door);
        this.#reference.setPaymentDoor(step.isOpen, this.#now);
        return this.#shop.book.setPaymentDoor(step.isOpen, this.#now);
      case "adjust":
      case "reopen":
      case "close":
      case "open":
        return this.#organise(step);
      default:
        return this.#visit(step);
    }
  }

  /** Goes to somebody's instant of this tick. */
  async #at(offset: number): Promise<void> {
    await this.#passTo(this.#tick + offset);
  }

  async #pass(seconds: number): Promise<void> {
    if (this.#now < HISTORY_STARTS_AT + LIFE_MAX_MS) this.#tick += ticksOf(seconds);
    await this.#at(OFFSET.organiser);
  }

  /** Deadlines that came meanwhile are told late, and all at once. */
  async #restart(asleepSeconds: number): Promise<void> {
    const isOrderFree = [...this.#known.values()].every(({ countedBy }) => countedBy !== "pending");
    if (isOrderFree && this.#now < HISTORY_STARTS_AT + LIFE_MAX_MS) this.#tick += ticksOf(asleepSeconds);
    this.#now = Math.max(this.#now, this.#tick);
    await this.#shop.restart();
    await this.#shop.book.expire(this.#now);
    this.#reference.expire(this.#now);
    await this.#comparison.lookAgain(this.#now);
  }

  /** Both sides are told of each deadline on the way. */
  async #passTo(at: number): Promise<void> {
    for (;;) {
      const ours = this.#reference.nextDeadline(this.#now);
      const theirs = await this.#shop.book.nextDeadline();
      assert.ok(ours === null || (theirs !== null && theirs <= ours), `a deadline at ${ours} is not known`);
      const next = theirs === null ? null : Math.max(theirs, this.#now);
      if (next === null || next > at) break;
      this.#now = next;
      await this.#shop.book.expire(next);
      this.#reference.expire(next);
      const after = await this.#shop.book.nextDeadline();
      assert.ok(after === null || after > next, "what is due has ended");
    }
    this.#now = Math.max(this.#now, at);
    await this.#shop.store();
  }

  async #setCatalogue(written: WrittenCatalogue, shortfall: "refuse" | "record"): Promise<void> {
    await this.#at(OFFSET.organiser);
    const change = { ifVersion: null, shortfall, now: this.#now };
    const answer = await this.#shop.book.setCatalogue(written, change);
    const expected = this.#reference.setCatalogue(written, change);
    await this.#agree(answer, expected);
    if (answer.kind !== "set") return;
    this.#written = written;
    for (const [id, product] of completeCatalogue(written, 1).products) this.#known.set(id, product);
  }

  async #organise(step: Extract<ShopStep, { do: "adjust" | "reopen" | "close" | "open" }>): Promise<void> {
    await this.#at(OFFSET.organiser);
    if (step.do === "close" || step.do === "open") {
      this.#reference.setClosed(step.do === "close", this.#now);
      return this.#shop.book[step.do](this.#now);
    }
    const ids = [...this.#known.keys(), "ghost"];
    const id = ids[step.product % ids.length]!;
    const { answer, expected } =
      step.do === "reopen"
        ? {
            answer: await this.#shop.book.reopen(id, this.#now),
            expected: this.#reference.reopen(id, this.#now),
          }
        : {
            answer: await this.#shop.book.adjust(id, step.delta, step.shortfall, this.#now),
            expected: this.#reference.adjust(id, step.delta, step.shortfall, this.#now),
          };
    await this.#agree(answer, expected);
  }

  async #visit(
    step: Extract<
      ShopStep,
      {
        do:
          | "hold"
          | "extend"
          | "undo"
          | "finish"
          | "enterPayment"
          | "leave"
          | "pay"
          | "joinList"
          | "leaveList"
          | "visitEnded";
      }
    >,
  ): Promise<void> {
    await this.#at(step.who + 1);
    const now = this.#now;
    const shopper = SHOPPERS[step.who]!;
    const both = { shop: this.#shop.book, reference: this.#reference };
    const key = "key" in step && step.key !== null ? `${step.do} ${step.key}` : undefined;
    switch (step.do) {
      case "hold": {
        const wish = wishOf(this.#written, step.pick);
        const named = shopperOf(step.who, step.isNamed);
        const answer = await both.shop.hold(named, wish, now, key);
        return this.#agree(answer, both.reference.hold(named, wish, now, key));
      }
      case "extend": {
        const [theirs, ours] = await this.#line(step.who, step.line);
        const wish = wishBelow(this.#written, ours.product, step.pick);
        const answer = await both.shop.extend(shopper, theirs.id, wish, now);
        return this.#agree(answer, both.reference.extend(shopper, ours.id, wish, now));
      }
      case "undo": {
        const [theirs, ours] = await this.#line(step.who, step.line);
        const answer = await both.shop.undo(shopper, theirs.id, now);
        return this.#agree(answer, both.reference.undo(shopper, ours.id, now));
      }
      case "pay": {
        const fresh = { attempt: `attempt ${this.#attempts.length}` };
        const answer = await both.shop.pay(shopper, fresh, now, key);
        if (answer.kind === "attempt" && answer.attempt === fresh.attempt)
          this.#attempts.push({ id: fresh.attempt, who: step.who, total: answer.total });
        return this.#agree(answer, both.reference.pay(shopper, fresh, now, key));
      }
      case "joinList": {
        const answer = await both.shop.joinList(shopper, LISTED, step.count, now);
        return this.#agree(answer, both.reference.joinList(shopper, LISTED, step.count, now));
      }
      case "visitEnded": {
        await both.shop.visitEnded(shopper.visitor, now);
        return both.reference.visitEnded(shopper.visitor, now);
      }
      case "leaveList": {
        await both.shop.leaveList(shopper, LISTED, now);
        return both.reference.leaveList(shopper, LISTED);
      }
      default: {
        const answer = await both.shop[step.do](shopper, now, key);
        return this.#agree(answer, both.reference[step.do](shopper, now, key));
      }
    }
  }

  async #buy({ who, pick }: Extract<ShopStep, { do: "buy" }>): Promise<void> {
    const key = null;
    await this.#visit({ do: "hold", who, pick: { ...pick, isWhole: true }, key, isNamed: true });
    for (const next of ["finish", "enterPayment", "pay"] as const) {
      this.#tick += HISTORY_TICK_MS;
      await this.#visit({ do: next, who, key });
    }
  }

  /** The same line of somebody's basket on both sides. */
  async #line(who: number, number: number): Promise<readonly [HoldView, HoldView]> {
    const { visitor } = SHOPPERS[who]!;
    const nothing = { id: "0", product: "ghost" } as HoldView;
    const theirs = linesOfView(await this.#shop.book.basket(visitor, this.#now));
    const ours = linesOfView(this.#reference.basket(visitor));
    const at = number % Math.max(1, theirs.length);
    return [theirs[at] ?? nothing, ours[at] ?? nothing];
  }

  async #payment({ attempt, kind, isRepeated, amount }: Extract<ShopStep, { do: "payment" }>): Promise<void> {
    if (this.#attempts.length === 0) return;
    const former = isRepeated ? this.#events[attempt % Math.max(1, this.#events.length)] : undefined;
    const event = former ?? {
      id: `event ${this.#events.length}`,
      attempt: this.#attempts.length - 1 - (attempt % Math.min(4, this.#attempts.length)),
      kind,
    };
    if (!former) this.#events.push(event);
    const { id, who } = this.#attempts[event.attempt]!;
    await this.#at(who + 1);
    const told = { id: event.id, attempt: id, kind: event.kind, ...this.#paymentOf(event.attempt, amount) };
    const order = { orderId: `order ${this.#events.length}`, secrets: SECRETS };
    const reply = await this.#shop.book.payment(told, order, this.#now);
    assert.equal(reply.action, this.#reference.payment(told, order, this.#now));
  }

  /** What the provider says was paid: what the attempt was for, or another amount; or it does not say. */
  #paymentOf(attempt: number, amount: "right" | "wrong" | null) {
    if (amount === null) return {};
    const { id, total } = this.#attempts[attempt]!;
    return { payment: { id, amount: total + (amount === "right" ? 0 : 1), currency: "EUR" } };
  }

  async #cancel({ order, ticket, kind }: Extract<ShopStep, { do: "cancel" }>): Promise<void> {
    await this.#at(OFFSET.organiser);
    const orders = await this.#shop.book.orders(0, 1_000);
    const one = orders[order % Math.max(1, orders.length)];
    if (!one) return;
    const number = ticket === null ? null : [ticket % one.tickets.length];
    const ids = number?.map((i) => one.tickets[i]!.id) ?? null;
    const answer = await this.#shop.book.cancel(one.id, ids, kind, this.#now);
    assert.ok(answer.kind === "order");
    assert.equal(answer.changed.length, this.#reference.cancel(one.id, number, kind, this.#now));
  }

  async #tie({ product, who, count }: Extract<ShopStep, { do: "tie" }>): Promise<void> {
    await this.#at(OFFSET.ties);
    const { product: id } = wishOf(this.#written, { product, count, isWhole: false, chosen: [] });
    if (!this.#isOneTieBreak(id)) return;
    const wish = { product: id, count, chosen: [] };
    const requests = who.map((one, arrival) => ({ shopper: SHOPPERS[one]!, wish, parent: null, arrival }));
    const seed = `seed ${this.#tick}`;
    const answers = await this.#shop.book.decide(requests, seed, this.#now);
    const expected = this.#reference.decide(requests, seed, this.#now);
    for (const [i, answer] of answers.entries())
      assert.deepEqual(comparable(answer), comparable(expected[i]), "a tied request");
  }

  /** Where several scarce parts have different tie-breaks, which comes first is nobody's concern. */
  #isOneTieBreak(id: string): boolean {
    const { products } = completeCatalogue(this.#written, 1);
    if (!products.has(id)) return true;
    const tieBreaks = [...needsOf(products, id).keys()].map((part) => products.get(part)!.tieBreak);
    return new Set(tieBreaks.filter((one) => one !== "first")).size <= 1;
  }

  /** Both answered the same, and a refusal has changed nothing. */
  async #agree(answer: { readonly kind: string }, expected: { readonly kind: string }): Promise<void> {
    assert.deepEqual(comparable(answer), comparable(expected), `the answer to ${this.#doing}`);
    const hasChanged = await this.#shop.store();
    if (answer.kind === "refused") assert.ok(!hasChanged, "a refusal has changed what is stored");
  }

  async #compare(): Promise<void> {
    await this.#shop.store();
    await this.#comparison.compare(this.#known, this.#now);
  }
}

type PaymentKind = Extract<ShopStep, { do: "payment" }>["kind"];
