/**
 * A shop as visitors meet it: their calls become commands of the ledger, and its answers JSON. It keeps nothing that a restart
 * would miss; the catalogue it remembers is the ledger's, which tells when it has changed.
 */
import { toHex } from "../../core/hex.ts";
import { LogPace } from "../../core/log-pace.ts";
import type { World } from "../../core/world.ts";
import type { Catalogue } from "../rules/catalogue.ts";
import type { PaymentEvent, PaymentReply } from "../rules/commands.ts";
import type { ShopNews } from "../rules/shop-book.ts";
import { completeCatalogue } from "../rules/written-catalogue.ts";
import { PaymentVisits } from "./payment-visits.ts";
import { ProductFeeds } from "./product-feeds.ts";
import { basketReply, invalidReply, listReply, payReply, refusalReply, reply, seenReply } from "./replies.ts";
import type { ShopDesk } from "./shop-desk.ts";
import { catalogueJson } from "./shown-catalogue.ts";
import type {
  PaymentCallback,
  ProductFeed,
  ShopReply,
  VisitorAction,
  VisitorCall,
  VisitorShop,
} from "./visitor-shop.ts";
import { readCount, readWish } from "./wishes.ts";

const SECRET_BYTES = 16;
const ORDER_ID_BYTES = 12;

/** What a provider's callback turns out to be. */
export type CallbackMeaning =
  | { readonly kind: "event"; readonly event: PaymentEvent }
  | { readonly kind: "ignored"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string };

export interface ShopCounterParts {
  readonly desk: ShopDesk;
  readonly world: World;
  /** Null: there is no payment provider, and what is paid for is sold at once. */
  readonly readCallback: ((callback: PaymentCallback) => CallbackMeaning) | null;
  /** Ends a visit in the payment room. */
  readonly endVisit: (room: string, visit: string) => void;
}

interface KnownCatalogue {
  readonly version: number;
  readonly catalogue: Catalogue;
  readonly isClosed: boolean;
}

export class ShopCounter implements VisitorShop {
  readonly #parts: ShopCounterParts;
  readonly #feeds: ProductFeeds;
  readonly #visits: PaymentVisits;
  readonly payment: VisitorShop["payment"];
  #known: KnownCatalogue | null = null;
  #hasLearned = false;
  #isClosed = false;
  readonly #failures = new LogPace();
  /** The latest that was begun, while it is under way. */
  #learning: Promise<void> | null = null;
  #begun = 0;
  /** The latest that was answered. */
  #answered = 0;
  /** The latest catalogue that visitors got, by room and lane. */
  readonly #texts = new Map<string, { readonly version: number; readonly text: string }>();

  /** A counter that knows the ledger's catalogue. Where the ledger does not answer, it asks again with the first call. */
  static async open(parts: ShopCounterParts): Promise<ShopCounter> {
    const counter = new ShopCounter(parts);
    await counter.learn().catch(counter.#onFailure);
    return counter;
  }

  private constructor(parts: ShopCounterParts) {
    const { desk, world } = parts;
    this.#parts = parts;
    const onFailure = this.#onFailure;
    this.#feeds = new ProductFeeds({
      ...{ desk, world, onFailure },
      catalogueVersion: () => this.#known?.version ?? 0,
    });
    this.#visits = new PaymentVisits({
      ...{ world, onFailure },
      basket: (visitor, now) => desk.basket(visitor, now),
      end: (visit) => {
        if (this.paymentRoom !== null) parts.endVisit(this.paymentRoom, visit);
      },
    });
    this.payment = parts.readCallback && ((callback) => this.#callback(callback));
  }

  get paymentRoom(): string | null {
    return this.#known?.catalogue.policies.payment.room ?? null;
  }

  /** Whether a product is sold by itself. */
  isForSale(product: string): boolean {
    return this.#known?.catalogue.products.get(product)?.isForSale ?? false;
  }

  /** Takes note of the ledger's catalogue, and of whether the shop is closed. */
  learn(): Promise<void> {
    const learning = this.#learn(++this.#begun);
    const over = () => {
      if (this.#learning === learning) this.#learning = null;
    };
    this.#learning = learning;
    learning.then(over, over);
    return learning;
  }

  /** The same, for whoever cannot wait for it: what fails is logged, and the next call of a visitor asks again. */
  learnSoon(): void {
    this.#hasLearned = false;
    void this.learn().catch(this.#onFailure);
  }

  /** Something was done to the shop elsewhere. */
  changed(): void {
    this.#feeds.touch();
  }

  /** A visit to one of its rooms was ended by somebody's word. */
  visitEnded(visitor: string): void {
    const { desk, world } = this.#parts;
    desk.visitEnded(visitor, world.clock.now()).then(() => this.changed(), this.#onFailure);
  }

  /** Hears what others have to be shown anew. */
  hear({ visitors }: Pick<ShopNews, "visitors">): void {
    for (const visitor of visitors) this.#visits.left(visitor);
    this.changed();
  }

  feed(room: string, lane: string): ProductFeed {
    return this.#feeds.feed(room, lane);
  }

  async call(call: VisitorCall): Promise<ShopReply> {
    if (!this.#hasLearned) await (this.#learning ?? this.learn());
    const answer = await CALLS[call.action](this, call);
    if (!READS.has(call.action)) this.changed();
    return answer;
  }

  close(): void {
    this.#isClosed = true;
    this.#feeds.close();
    this.#visits.close();
  }

  async #learn(number: number): Promise<void> {
    const { desk, world } = this.#parts;
    const [kept, { isClosed }] = await Promise.all([desk.catalogue(), desk.figures(world.clock.now())]);
    // Where the ledger is another gateway's, answers may come in another order.
    if (number < this.#answered) return;
    this.#answered = number;
    const isSame = kept !== null && kept.version === this.#known?.version;
    const catalogue = isSame ? this.#known!.catalogue : kept && completeCatalogue(kept.written, kept.version);
    this.#known = kept && { version: kept.version, catalogue: catalogue!, isClosed };
    this.#hasLearned = number === this.#begun;
    this.#texts.clear();
    this.changed();
  }

  /** What is asked while the process ends may come too late, and nobody waits for it. */
  readonly #onFailure = (cause: unknown): void => {
    const { clock, log } = this.#parts.world;
    const failures = this.#isClosed ? 0 : this.#failures.add(clock.now());
    if (failures > 0) log.error({ err: cause, failures }, "the shop does not answer");
  };

  /** The basket, and where its owner waits for what is sold out. */
  async basket({ shopper, now }: VisitorCall): Promise<ShopReply> {
    const { desk } = this.#parts;
    const { visitor } = shopper;
    const basket = await desk.basket(visitor, now);
    const hasLists = this.#known !== null && this.#known.catalogue.policies.offerMs !== null;
    return seenReply(basket, hasLists ? await desk.lists(visitor) : [], now);
  }

  /** Used by `CALLS`. */
  get desk(): ShopDesk {
    return this.#parts.desk;
  }

  async catalogue({ shopper, now }: VisitorCall): Promise<ShopReply> {
    const { room, lane } = shopper;
    if (this.#known === null) return refusalReply(NOT_OPEN, now);
    const shown = await this.feed(room, lane).read();
    const key = `${room} ${lane}`;
    let known = this.#texts.get(key);
    if (known?.version !== shown.version) {
      known = {
        version: shown.version,
        text: catalogueJson(this.#known.catalogue, shown, this.#known.isClosed),
      };
      this.#texts.set(key, known);
    }
    return { status: 200, body: known.text, retryAfterSeconds: null, isOver: false };
  }

  /** Through the payment room's door, if there is one, and then the attempt. */
  async pay(call: VisitorCall): Promise<ShopReply> {
    const { shopper, paymentVisit } = call;
    if (paymentVisit === null) return this.#pay(call);
    const answer = await this.#visits.use(shopper.visitor, paymentVisit, () => this.#pay(call));
    return answer ?? reply(403, { status: "refused", reason: "noPaymentPass", room: this.paymentRoom });
  }

  async #pay({ shopper, paymentVisit, idempotencyKey, now }: VisitorCall): Promise<ShopReply> {
    const { desk } = this.#parts;
    const { visitor } = shopper;
    // If it is refused, `pay` is too; unless that was done before, with the same key.
    if (paymentVisit !== null) await desk.enterPayment(shopper, now);
    const fresh = { attempt: this.#visits.newAttempt(visitor, paymentVisit) };
    const answer = await desk.pay(shopper, fresh, now, ...keyed(idempotencyKey));
    if (answer.kind === "refused") return refusalReply(answer, now);
    if (paymentVisit !== null) this.#visits.began(visitor, paymentVisit, answer.basket);
    if (this.payment !== null) return payReply(answer, now);
    const { attempt } = answer;
    await this.#tell({ id: `${attempt} sold`, attempt, kind: "succeeded" }, now);
    const basket = (await desk.basket(visitor, now)) ?? answer.basket;
    return payReply({ ...answer, basket }, now);
  }

  async leave({ shopper, idempotencyKey, now }: VisitorCall): Promise<ShopReply> {
    const answer = await this.#parts.desk.leave(shopper, now, ...keyed(idempotencyKey));
    this.#visits.left(shopper.visitor);
    return basketReply(answer, now);
  }

  async #callback(callback: PaymentCallback): Promise<ShopReply> {
    const meaning = this.#parts.readCallback!(callback);
    if (meaning.kind === "refused") return reply(400, { status: "refused", reason: meaning.reason });
    if (meaning.kind === "ignored") return reply(200, { status: "ignored", reason: meaning.reason });
    const { action } = await this.#tell(meaning.event, callback.now);
    return reply(200, { status: "ok", action });
  }

  async #tell(event: PaymentEvent, now: number): Promise<PaymentReply> {
    const { desk, world } = this.#parts;
    const hex = (bytes: number) => toHex(world.random.bytes(bytes));
    const count = await desk.ticketCount(event.attempt);
    const secrets = Array.from({ length: count }, () => hex(SECRET_BYTES));
    const answer = await desk.payment(event, { orderId: hex(ORDER_ID_BYTES), secrets }, now);
    this.#visits.heard(event.attempt);
    this.changed();
    return answer;
  }
}

const NOT_OPEN = {
  kind: "refused",
  code: "notOpen",
  product: null,
  reason: "the shop has no catalogue yet",
} as const;
const READS: ReadonlySet<VisitorAction> = new Set<VisitorAction>(["basket", "catalogue"]);

type Carry = (counter: ShopCounter, call: VisitorCall) => Promise<ShopReply>;

const CALLS: Readonly<Record<VisitorAction, Carry>> = {
  async hold({ desk }, { shopper, body, idempotencyKey, now }) {
    const wish = readWish(body!);
    if ("wrong" in wish) return invalidReply(wish.wrong);
    return basketReply(await desk.hold(shopper, wish.value, now, ...keyed(idempotencyKey)), now, 201);
  },
  async extend({ desk }, { shopper, named, body, idempotencyKey, now }) {
    const wish = readWish(body!);
    if ("wrong" in wish) return invalidReply(wish.wrong);
    return basketReply(
      await desk.extend(shopper, named!, wish.value, now, ...keyed(idempotencyKey)),
      now,
      201,
    );
  },
  async undo({ desk }, { shopper, named, idempotencyKey, now }) {
    return basketReply(await desk.undo(shopper, named!, now, ...keyed(idempotencyKey)), now);
  },
  basket: (counter, call) => counter.basket(call),
  async finish({ desk }, { shopper, idempotencyKey, now }) {
    return basketReply(await desk.finish(shopper, now, ...keyed(idempotencyKey)), now);
  },
  pay: (counter, call) => counter.pay(call),
  leave: (counter, call) => counter.leave(call),
  catalogue: (counter, call) => counter.catalogue(call),
  async joinList({ desk }, { shopper, named, body, idempotencyKey, now }) {
    const count = readCount(body!);
    if ("wrong" in count) return invalidReply(count.wrong);
    return listReply(await desk.joinList(shopper, named!, count.value, now, ...keyed(idempotencyKey)), now);
  },
  async leaveList({ desk }, { shopper, named, idempotencyKey, now }) {
    return listReply(await desk.leaveList(shopper, named!, now, ...keyed(idempotencyKey)), now);
  },
};

function keyed(key: string | null): [key?: string] {
  return key === null ? [] : [key];
}
