/**
 * A process with a shop and a crowd that buys, to be killed at any instant: `sale-process.ts DIRECTORY LIFE`. It says on its output,
 * synchronously, what each visitor asks before they ask, and what they are answered once they are.
 */
import { writeSync } from "node:fs";
import { DurableHost } from "../../durable/host.ts";
import type { Stub } from "../../durable/object-namespace.ts";
import { Ledger, ledgerEnv } from "../../shop/ledger/ledger.ts";
import type { BasketView, Shopper } from "../../shop/rules/commands.ts";
import { seededFraction } from "../../sim/hand-world.ts";
import { realWorld } from "../real-world.ts";
import { catalogueOf, wishFor } from "./plain-shop.ts";

export const SHOP = "sale";
const VISITORS_AT_ONCE = 48;
const LOG_BYTES = 256 * 1_024;

/** Seats run out soon and are contested; `pair` and `box` need them too; the rest never runs out. */
export const SALE = catalogueOf(
  {
    seat: { stock: 400, price: 100, tieBreak: "random", tieWindowMs: 2 },
    pair: { stock: 150, price: 180, parts: { seat: 2 }, options: { cap: 2 } },
    box: {
      stock: 50,
      price: 500,
      choices: { meal: { from: { soup: 2, stew: 2 }, min: 1, max: 2 } },
      parts: { seat: 1 },
    },
    cap: { stock: null, price: 10, limitPerCustomer: 5 },
    soup: { stock: 5_000, price: 7, countedBy: "pending" },
    stew: { stock: 5_000, price: 8, countedBy: "sold" },
  },
  { shoppingWindowMs: 1_800_000, payment: { room: null, attemptsMax: 2 }, offerMs: 1_000 },
);

/** What a visitor knows of their basket. */
export interface KnownBasket {
  readonly phase: string;
  readonly holds: readonly string[];
  readonly total: number;
  readonly order: string | null;
}

export type SaleLine =
  | readonly [kind: "asks", visitor: string]
  | readonly [kind: "knows", visitor: string, known: KnownBasket | null];

export function knownOf(basket: BasketView | null): KnownBasket | null {
  if (!basket) return null;
  const { phase, holds, total, order } = basket;
  return { phase, holds: holds.map(({ id, product }) => `${id} ${product}`), total, order };
}

/** Writes it synchronously, so that it is out before the process goes on, even with a slow reader and a full pipe. */
function say(line: SaleLine): void {
  const text = `${JSON.stringify(line)}\n`;
  for (;;)
    try {
      writeSync(1, text);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
    }
}

async function visit(ledger: Stub<Ledger>, visitor: string, dice: (sides: number) => number): Promise<void> {
  const now = () => Date.now();
  const shopper: Shopper = { visitor, customer: visitor, room: "room", lane: "main", admittedAt: now() };
  const learn = async () => say(["knows", visitor, knownOf(await ledger.basket(visitor, now()))]);
  const ask = async (question: () => Promise<unknown>) => {
    say(["asks", visitor]);
    await question();
    await learn();
  };
  const wishes = [
    wishFor("seat"),
    wishFor("pair", 1, { cap: 1 }),
    wishFor("box", 1, { soup: 1 }),
    wishFor("cap", 2),
  ];
  for (let n = 1 + dice(3); n > 0; n--)
    await ask(() => ledger.hold(shopper, wishes[dice(wishes.length)]!, now(), `key ${n}`));
  if (dice(3) === 0) await ask(() => ledger.undo(shopper, "1", now()));
  if (dice(6) === 0) return;
  if (dice(8) === 0) return ask(() => ledger.leave(shopper, now()));
  await ask(() => ledger.finish(shopper, now()));
  const attempt = `attempt-${visitor}`;
  await ask(() => ledger.pay(shopper, { attempt }, now()));
  if (dice(8) === 0) return;
  const kind = dice(4) === 0 ? "failed" : "succeeded";
  await ask(async () => {
    const count = await ledger.ticketCount(attempt);
    const secrets = Array.from({ length: count }, (_, i) => `${visitor} ${i}`);
    await ledger.payment(
      { id: `event-${visitor}`, attempt, kind },
      { orderId: `order-${visitor}`, secrets },
      now(),
    );
  });
  if (dice(10) === 0) await ask(() => ledger.cancel(`order-${visitor}`, null, "cancelled", now()));
}

async function sale(directory: string, life: number): Promise<void> {
  const world = realWorld();
  const host = await DurableHost.open({ directory, world, logBytes: LOG_BYTES });
  const ledger = host.objects("Ledger", Ledger, ledgerEnv(world, { tell: () => {} })).get(SHOP);
  if ((await ledger.catalogue()) === null) await ledger.setCatalogue(SALE, { ifVersion: 0, now: Date.now() });
  const fraction = seededFraction(life);
  const dice = (sides: number) => Math.floor(fraction() * sides);
  let visitors = 0;
  const crowd = async () => {
    for (;;) await visit(ledger, `${life}-${++visitors}`, dice);
  };
  await Promise.all(Array.from({ length: VISITORS_AT_ONCE }, crowd));
}

const [directory, life] = process.argv.slice(2);
if (import.meta.main && directory !== undefined) await sale(directory, Number(life));
