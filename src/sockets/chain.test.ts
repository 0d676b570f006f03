import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Chain, Link } from "./chain.ts";

test("a chain keeps the order of appending, like a list that is rewritten each time", () => {
  const step = fc.record({ of: fc.nat(9), to: fc.nat(2) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const chains = [new Chain<number>(), new Chain<number>()];
      const links = Array.from({ length: 10 }, (_, n) => new Link(n));
      const lists: number[][] = [[], []];
      for (const { of, to } of steps) {
        for (const list of lists) if (list.includes(of)) list.splice(list.indexOf(of), 1);
        if (to === 2) links[of]!.chain?.remove(links[of]!);
        else {
          chains[to]!.append(links[of]!);
          lists[to]!.push(of);
        }
        for (const [n, chain] of chains.entries()) {
          assert.deepEqual([...chain], lists[n]);
          assert.equal(chain.size, lists[n]!.length);
          assert.equal(chain.first, lists[n]![0] ?? null);
        }
      }
    }),
  );
});

test("what is being looked at may be removed", () => {
  const chain = new Chain<number>();
  const links = [1, 2, 3].map((n) => new Link(n));
  for (const link of links) chain.append(link);
  const seen: number[] = [];
  for (const n of chain) {
    seen.push(n);
    chain.remove(links[n - 1]!);
  }
  assert.deepEqual(seen, [1, 2, 3]);
  assert.equal(chain.size, 0);
});
