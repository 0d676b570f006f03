/**
 * A sale whose process is killed with -9 again and again, and the books of those outside: what each visitor was told before the
 * kill must be so afterwards, nothing may be sold twice, and when all deadlines are over everything that is not sold is free again.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { DurableHost } from "../../durable/host.ts";
import type { Stub } from "../../durable/object-namespace.ts";
import { Ledger, ledgerEnv } from "../../shop/ledger/ledger.ts";
import type { ShopOrder } from "../../shop/rules/commands.ts";
import { seededFraction } from "../../sim/hand-world.ts";
import { realWorld } from "../real-world.ts";
import { type KnownBasket, knownOf, SALE, type SaleLine, SHOP } from "./sale-process.ts";

const SCRIPT = fileURLToPath(new URL("./sale-process.ts", import.meta.url));
/** After the deadline of any phase. Phases that ended while there was no process give way to the next when there is one. */
const LATER_MS = 6 * 3_600_000;
const PHASES = 3;
const ORDERS_MAX = 10_000;
const DRAIN_POLLS_MAX = 50;
const DRAIN_POLL_MS = 20;

export interface KilledSale {
  readonly directory: string;
  readonly kills: number;
  readonly seed: number;
  /** Lines of a life before it ends, at most. */
  readonly linesMax: number;
  progress?(text: string): void;
}

export interface SaleOutcome {
  readonly kills: number;
  readonly answers: number;
  readonly orders: number;
  readonly sold: number;
  /** Each should be impossible. */
  readonly violations: readonly string[];
}

/** What a visitor was told last; null: nothing. `isAsking`: they had asked again, and may or may not have been heard. */
interface Told {
  readonly known: KnownBasket | null;
  readonly isAsking: boolean;
}

export async function playKilledSale({
  directory,
  kills,
  seed,
  linesMax,
  progress,
}: KilledSale): Promise<SaleOutcome> {
  const fraction = seededFraction(seed);
  const violations: string[] = [];
  const told = new Map<string, Told>();
  const orders = new Map<string, string>();
  let answers = 0;
  for (let life = 1; life <= kills; life++) {
    progress?.(`life ${life} of ${kills}`);
    const lines = await liveAndDie(directory, life, 1 + Math.floor(fraction() * linesMax));
    const ofThisLife = booksOf(lines);
    for (const [visitor, one] of ofThisLife) told.set(visitor, one);
    answers += lines.filter(([kind]) => kind === "knows").length;
    for (const [visitor, { known }] of told) if (known?.order) orders.set(known.order, visitor);
    await withLedger(directory, 0, (ledger) => check(ledger, { told: ofThisLife, orders, violations }));
  }
  let sold = 0;
  for (let phase = 1; phase <= PHASES; phase++)
    sold = await withLedger(directory, phase * LATER_MS, (ledger) =>
      drain(ledger, phase === PHASES ? violations : []),
    );
  return { kills, answers, orders: orders.size, sold, violations };
}

/** Runs the process until it has said enough, kills it, and reads the rest of what it said. */
async function liveAndDie(directory: string, life: number, enough: number): Promise<SaleLine[]> {
  const child = spawn(process.execPath, [SCRIPT, directory, String(life)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: SaleLine[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line));
    if (lines.length === enough) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  if (child.signalCode !== "SIGKILL") throw new Error(`the sale ended by itself: ${child.exitCode}`);
  return lines;
}

function booksOf(lines: readonly SaleLine[]): Map<string, Told> {
  const told = new Map<string, Told>();
  for (const [kind, visitor, known] of lines) {
    const before = told.get(visitor)?.known ?? null;
    told.set(
      visitor,
      kind === "asks" ? { known: before, isAsking: true } : { known: known!, isAsking: false },
    );
  }
  return told;
}

async function withLedger<T>(
  directory: string,
  laterMs: number,
  use: (ledger: Stub<Ledger>) => Promise<T>,
): Promise<T> {
  const real = realWorld();
  const world = { ...real, clock: { now: () => real.clock.now() + laterMs } };
  const host = await DurableHost.open({ directory, world });
  try {
    return await use(host.objects("Ledger", Ledger, ledgerEnv(world, { tell: () => {} })).get(SHOP));
  } finally {
    await host.close();
  }
}

interface Books {
  readonly told: ReadonlyMap<string, Told>;
  readonly orders: ReadonlyMap<string, string>;
  readonly violations: string[];
}

async function check(ledger: Stub<Ledger>, { told, orders, violations }: Books): Promise<void> {
  const verified = await ledger.verify();
  if (verified.kind !== "clean") violations.push(`the recount differs: ${verified.difference}`);
  for (const [visitor, { known, isAsking }] of told) {
    const found = knownOf(await ledger.basket(visitor, Date.now()));
    if (!isAsking && JSON.stringify(found) !== JSON.stringify(known))
      violations.push(`${visitor} was told ${JSON.stringify(known)} and has ${JSON.stringify(found)}`);
  }
  const there = await ledger.orders(0, ORDERS_MAX);
  const ids = new Set(there.map(({ id }) => id));
  for (const order of orders.keys()) if (!ids.has(order)) violations.push(`the order ${order} is lost`);
  await checkOrders(ledger, there, violations);
}

/** Nothing is sold twice, nor more than there is. */
async function checkOrders(
  ledger: Stub<Ledger>,
  orders: readonly ShopOrder[],
  violations: string[],
): Promise<void> {
  const tickets = orders.flatMap((order) => order.tickets);
  if (new Set(tickets.map(({ secret }) => secret)).size < tickets.length)
    violations.push("a ticket was sold twice");
  if (new Set(orders.map(({ visitor }) => visitor)).size < orders.length)
    violations.push("a visitor has two orders of one basket");
  const sold = new Map<string, number>();
  for (const { lines, state } of tickets)
    if (state === "sold")
      for (const { product, units } of lines) sold.set(product, (sold.get(product) ?? 0) + units);
  for (const [product, { stock }] of Object.entries(SALE.products)) {
    const units = sold.get(product) ?? 0;
    const counts = (await ledger.stock(product))?.counts;
    if (counts && counts.sold !== units)
      violations.push(`${units} of ${product} are sold, counted ${counts.sold}`);
    if (stock !== null && units > stock) violations.push(`${units} of ${product} are sold, of ${stock}`);
  }
}

/** Lets deadlines pass. Returns the seats that were sold in all. */
async function drain(ledger: Stub<Ledger>, violations: string[]): Promise<number> {
  const held = async () => {
    const all = await Promise.all(Object.keys(SALE.products).map((product) => ledger.stock(product)));
    return all.reduce((sum, one) => sum + one!.counts.reserved + one!.counts.pending, 0);
  };
  let left = await held();
  for (let n = 0; left > 0 && n < DRAIN_POLLS_MAX; n++) {
    await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    left = await held();
  }
  if (left > 0) violations.push(`${left} units are still held after all deadlines`);
  const verified = await ledger.verify();
  if (verified.kind !== "clean") violations.push(`the last recount differs: ${verified.difference}`);
  return (await ledger.stock("seat"))!.counts.sold;
}
