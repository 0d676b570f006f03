/** What can happen in a random life of a shop: the steps, as they are drawn. */
import fc from "fast-check";
import type { PaymentEvent, Shortfall, Wish } from "../../shop/rules/commands.ts";
import type { WrittenCatalogue, WrittenProduct } from "../../shop/rules/written-catalogue.ts";

export const VISITORS = 6;

/** What a visitor picks, by numbers: whatever the catalogue is, it leads to a wish. */
export interface Pick {
  readonly product: number;
  readonly count: number;
  /** True: the minima of sets are filled. */
  readonly isWhole: boolean;
  readonly chosen: readonly number[];
}

export type ShopStep =
  | {
      readonly do: "hold";
      readonly who: number;
      readonly pick: Pick;
      readonly key: number | null;
      /** Whether they show who they are, if they can. */
      readonly isNamed: boolean;
    }
  | { readonly do: "extend"; readonly who: number; readonly line: number; readonly pick: Pick }
  /** Everything up to a payment attempt. */
  | { readonly do: "buy"; readonly who: number; readonly pick: Pick }
  | { readonly do: "undo"; readonly who: number; readonly line: number; readonly key: number | null }
  | {
      readonly do: "finish" | "enterPayment" | "leave" | "pay";
      readonly who: number;
      readonly key: number | null;
    }
  | {
      readonly do: "payment";
      readonly attempt: number;
      readonly kind: PaymentEvent["kind"];
      readonly isRepeated: boolean;
      /** Null: the provider does not say. */
      readonly amount: "right" | "wrong" | null;
    }
  | { readonly do: "door"; readonly isOpen: boolean }
  | { readonly do: "adjust"; readonly product: number; readonly delta: number; readonly shortfall: Shortfall }
  | { readonly do: "reopen"; readonly product: number }
  | { readonly do: "close" }
  | { readonly do: "open" }
  /** For a while nothing happened, deadlines neither. */
  | { readonly do: "restart"; readonly asleepSeconds: number }
  | { readonly do: "setCatalogue"; readonly which: number; readonly shortfall: Shortfall }
  | {
      readonly do: "cancel";
      readonly order: number;
      readonly ticket: number | null;
      readonly kind: "cancelled" | "refunded";
    }
  | { readonly do: "joinList"; readonly who: number; readonly count: number }
  | { readonly do: "leaveList" | "visitEnded"; readonly who: number }
  | { readonly do: "tie"; readonly product: number; readonly who: readonly number[]; readonly count: number }
  | { readonly do: "pass"; readonly seconds: number };

const who = fc.nat(VISITORS - 1);
const index = fc.nat(30);
const key = fc.option(fc.nat(2), { freq: 3, nil: null });
const shortfall: fc.Arbitrary<Shortfall> = fc.constantFrom("refuse", "record");
const pick: fc.Arbitrary<Pick> = fc.record({
  product: index,
  count: fc.constantFrom(1, 1, 1, 2, 3),
  isWhole: fc.boolean(),
  chosen: fc.array(index, { maxLength: 3 }),
});

export const shopStep: fc.Arbitrary<ShopStep> = fc.oneof(
  { weight: 14, arbitrary: step("hold", { who, pick, key, isNamed: fc.boolean() }) },
  { weight: 8, arbitrary: step("buy", { who, pick }) },
  { weight: 5, arbitrary: step("extend", { who, line: index, pick }) },
  { weight: 4, arbitrary: step("undo", { who, line: index, key }) },
  { weight: 8, arbitrary: step("finish", { who, key }) },
  { weight: 4, arbitrary: step("enterPayment", { who, key }) },
  { weight: 8, arbitrary: step("pay", { who, key }) },
  { weight: 2, arbitrary: step("leave", { who, key }) },
  {
    weight: 12,
    arbitrary: step("payment", {
      attempt: index,
      kind: fc.constantFrom("authorised", "succeeded", "succeeded", "failed", "refunded"),
      isRepeated: fc.nat(5).map((dice) => dice === 0),
      amount: fc.constantFrom(null, "right", "right", "right", "wrong"),
    }),
  },
  { weight: 2, arbitrary: step("door", { isOpen: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: step("adjust", { product: index, delta: fc.integer({ min: -4, max: 4 }), shortfall }),
  },
  { weight: 2, arbitrary: step("reopen", { product: index }) },
  { weight: 1, arbitrary: fc.constantFrom({ do: "close" }, { do: "open" }, { do: "open" }) },
  { weight: 2, arbitrary: step("restart", { asleepSeconds: fc.constantFrom(0, 0, 40, 100) }) },
  { weight: 2, arbitrary: step("setCatalogue", { which: index, shortfall }) },
  {
    weight: 3,
    arbitrary: step("cancel", {
      order: index,
      ticket: fc.option(fc.nat(3), { nil: null }),
      kind: fc.constantFrom("cancelled", "refunded"),
    }),
  },
  { weight: 4, arbitrary: step("joinList", { who, count: fc.constantFrom(1, 1, 2) }) },
  { weight: 1, arbitrary: step("leaveList", { who }) },
  { weight: 1, arbitrary: step("visitEnded", { who }) },
  {
    weight: 3,
    arbitrary: step("tie", {
      product: index,
      who: fc.shuffledSubarray([...Array(VISITORS).keys()], { minLength: 2 }),
      count: fc.constantFrom(1, 1, 2),
    }),
  },
  { weight: 10, arbitrary: step("pass", { seconds: fc.constantFrom(0, 1, 16, 40, 100) }) },
);

function step<Do extends ShopStep["do"], Drawn>(
  name: Do,
  drawn: { [Key in keyof Drawn]: fc.Arbitrary<Drawn[Key]> },
): fc.Arbitrary<ShopStep> {
  return fc.record({ do: fc.constant(name), ...drawn }) as unknown as fc.Arbitrary<ShopStep>;
}

/** Products that are wished for more often than the others: those with most below them. */
const OFTEN = ["seat", "menu", "menu", "bundle", "bundle", "bundle"];

/** The wish that a pick leads to: mostly for what is there, sometimes for what is not. */
export function wishOf(written: WrittenCatalogue, { product, count, isWhole, chosen }: Pick): Wish {
  const ids = [...Object.keys(written.products), ...OFTEN, "hall", "ghost"];
  const id = ids[product % ids.length]!;
  return { product: id, count, chosen: chosenWith(written, id, { isWhole, chosen }) };
}

/** A wish for one of what a product offers. */
export function wishBelow(written: WrittenCatalogue, parent: string, pick: Pick): Wish {
  const offered = offersOf(written.products[parent]);
  const id = offered[pick.product % Math.max(1, offered.length)] ?? "ghost";
  return { product: id, count: Math.min(2, pick.count), chosen: [] };
}

function chosenWith(
  written: WrittenCatalogue,
  id: string,
  { isWhole, chosen }: Omit<Pick, "product" | "count">,
) {
  const inOne = unitsInOne(written, id);
  const offered = [...inOne.keys()].flatMap((one) => offersOf(written.products[one]));
  const wishes = chosen.flatMap((number): Wish[] => {
    const one = offered[number % (2 * offered.length + 1)];
    return one === undefined ? [] : [{ product: one, count: 1 + (number % 2), chosen: [] }];
  });
  if (isWhole)
    for (const [one, parents] of inOne)
      for (const { from, min = 0 } of Object.values(written.products[one]?.choices ?? {})) {
        const [first, second] = Object.entries(from);
        const ofFirst = Math.min(min, first![1]);
        wishes.push({ product: first![0], count: parents * ofFirst, chosen: [] });
        wishes.push({ product: second![0], count: parents * (min - ofFirst), chosen: [] });
      }
  return wishes.filter((one) => one.count > 0);
}

function unitsInOne(
  written: WrittenCatalogue,
  id: string,
  times = 1,
  found = new Map<string, number>(),
): Map<string, number> {
  found.set(id, (found.get(id) ?? 0) + times);
  for (const [part, count] of Object.entries(written.products[id]?.parts ?? {}))
    unitsInOne(written, part, times * count, found);
  return found;
}

function offersOf({ options = {}, choices = {} }: Partial<WrittenProduct> = {}): string[] {
  return [...Object.keys(options), ...Object.values(choices).flatMap(({ from }) => Object.keys(from))];
}
