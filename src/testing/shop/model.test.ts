import assert from "node:assert/strict";
import { test } from "node:test";
import { ShopState } from "../../shop/rules/book/shop-state.ts";
import { ShopBook } from "../../shop/rules/shop-book.ts";
import { StoredBook } from "./book-under-test.ts";
import { playRandomLives, shopModelTest } from "./model.ts";

shopModelTest({ name: "the book", open: () => new StoredBook() });

/** Options of the random catalogues. */
const OPTIONS = new Set(["cap", "flag"]);

/** A book that forgets to give back options when what they were chosen with is released. */
function forgetfulBook(): StoredBook {
  const state = new ShopState();
  const { stock } = state;
  const move = stock.move.bind(stock);
  stock.move = (units, places, cause) => {
    const isRelease = places.from === "reserved" && places.to === null;
    move(new Map([...units].filter(([id]) => !isRelease || !OPTIONS.has(id))), places, cause);
  };
  return new StoredBook(new ShopBook(state));
}

test("the model can see: a book that forgets to give back options is found", async () => {
  const forgetful = { name: "a forgetful book", open: forgetfulBook };
  await assert.rejects(playRandomLives(forgetful, { runs: 100, isShrunk: false }), ({ cause }: Error) =>
    /the stock of (cap|flag)/.test(String(cause)),
  );
});
