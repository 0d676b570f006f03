/**
 * What a visitor of the demo's crowd does inside: looks at the catalogue, takes something, thinks, and pays, through the payment
 * room's line and with a card that mostly works. Some change their minds, and some close the tab while paying.
 */
import type { HttpVisitor } from "../../visitor/http-visitor.ts";
import { PAYMENT_ROOM } from "./scene.ts";

const LOOKS_MS = 3_000;
const THINKS_MS = 9_000;
const CARDS_MAX = 2;
/** Shares: of those who give everything back, who vanish while paying, and whose card is declined. */
const GIVES_BACK = 0.12;
const VANISHES_AT_PAYMENT = 0.06;
const IS_DECLINED = 0.12;
/** How much each product is wanted, beside the others. */
const WANTED: Readonly<Record<string, number>> = {
  front: 5,
  balcony: 6,
  standing: 8,
  evening: 3,
  shirt: 1,
  programme: 1,
};
const SIZES = ["shirt-s", "shirt-m", "shirt-l", "shirt-xl"];
const PLACES = ["front", "balcony", "standing"];
const COUNT_MAX = 3;

export interface BuyerParts {
  sleep(ms: number): Promise<void>;
  random(): number;
}

/** `bought`: what it was. `soldOut`: nothing that anybody wants was left. */
export type ShoppingOutcome =
  | { readonly kind: "bought"; readonly what: string }
  | { readonly kind: "gaveBack" | "vanished" | "soldOut" | "tooLate" };

interface Words {
  readonly status: string;
  readonly products?: readonly {
    readonly id: string;
    readonly name: string;
    readonly available: number | null;
  }[];
  readonly attempt?: string;
  readonly amount?: number;
  readonly currency?: string;
  readonly isTaken?: boolean;
}

interface Wish {
  readonly product: string;
  readonly count: number;
  readonly chosen: readonly { readonly product: string; readonly count: number }[];
}

/** Shops as somebody who is on the site. */
export async function buy(visitor: HttpVisitor, { sleep, random }: BuyerParts): Promise<ShoppingOutcome> {
  await sleep(LOOKS_MS * random());
  const { products = [] } = await call(visitor, "GET", "catalogue");
  const left = products.filter(({ id, available }) => id in WANTED && available !== 0);
  const product = pick(left, ({ id }) => WANTED[id]!, random);
  if (!product) return { kind: "soldOut" };
  const wish = wishFor(product.id, random);
  const held = await call(visitor, "POST", "holds", wish);
  if (held.status !== "basket") return { kind: "tooLate" };
  await sleep(THINKS_MS * random());
  if (random() < GIVES_BACK) {
    await call(visitor, "POST", "leave");
    return { kind: "gaveBack" };
  }
  const finished = await call(visitor, "POST", "finish");
  if (finished.status !== "basket") return { kind: "tooLate" };
  if (!(await getsToPayment(visitor, sleep))) return { kind: "tooLate" };
  const isPaid = await pays(visitor, { sleep, random });
  const what = wish.count === 1 ? product.name : `${wish.count} × ${product.name}`;
  return isPaid === "vanished"
    ? { kind: "vanished" }
    : isPaid
      ? { kind: "bought", what }
      : { kind: "tooLate" };
}

/** Through the line in front of payment. */
async function getsToPayment(visitor: HttpVisitor, sleep: BuyerParts["sleep"]): Promise<boolean> {
  await visitor.open("/pay");
  for await (const { status } of visitor.checkIns(sleep, { room: PAYMENT_ROOM }))
    if (status === "expired" || status === "refused") return false;
  await visitor.open("/pay");
  return true;
}

async function pays(visitor: HttpVisitor, { sleep, random }: BuyerParts): Promise<boolean | "vanished"> {
  for (let card = 1; card <= CARDS_MAX; card++) {
    await sleep(LOOKS_MS * random());
    const { attempt, amount, currency } = await call(visitor, "POST", "pay");
    if (attempt === undefined) return false;
    if (random() < VANISHES_AT_PAYMENT) return "vanished";
    const isGood = random() >= IS_DECLINED;
    const body = { attempt, amount, currency, card: isGood ? "good" : "declined" };
    const answer = await send(visitor, "POST", "/pay/card", body);
    if (answer.isTaken) return true;
  }
  await call(visitor, "POST", "leave");
  return false;
}

function call(visitor: HttpVisitor, method: string, path: string, body?: object): Promise<Words> {
  return send(visitor, method, `/.fairgate/main/shop/${path}`, body);
}

async function send(visitor: HttpVisitor, method: string, path: string, body?: object): Promise<Words> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  const answer = await visitor.ask(path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return JSON.parse(answer.text) as Words;
}

function wishFor(product: string, random: () => number): Wish {
  const one = (from: readonly string[]) => from[Math.floor(random() * from.length)]!;
  if (product === "shirt") return { product, count: 1, chosen: [{ product: one(SIZES), count: 1 }] };
  if (product === "evening") return { product, count: 1, chosen: [{ product: one(PLACES), count: 2 }] };
  const hasMore = product !== "programme" && random() < 0.3;
  const chosen = hasMore ? [{ product: "programme", count: 1 }] : [];
  return { product, count: 1 + Math.floor(random() * COUNT_MAX), chosen };
}

/** One of them, by weight; undefined when there are none. */
function pick<Item>(
  items: readonly Item[],
  weightOf: (item: Item) => number,
  random: () => number,
): Item | undefined {
  let at = random() * items.reduce((sum, item) => sum + weightOf(item), 0);
  return items.find((item) => {
    at -= weightOf(item);
    return at < 0;
  });
}
