/**
 * The model-based random test of shops: thousands of small random lives (`life.ts`), each command done both by the shop under test and
 * by `reference.ts`, answers and everything that can be seen compared after each (`comparison.ts`). In the end all deadlines pass, and
 * nothing may be held any more. A failure prints the seed and the shortest life that still fails.
 */
import { test } from "node:test";
import fc from "fast-check";
import type { WrittenCatalogue } from "../../shop/rules/written-catalogue.ts";
import { shrunkBriefly } from "../engines/shrinking.ts";
import { cataloguesOf, shopKind } from "./catalogues.ts";
import { Life } from "./life.ts";
import type { ShopUnderTest } from "./running-shop.ts";
import { type ShopStep, shopStep } from "./steps.ts";

const RUNS = 400;

/** Declares the random test for one kind of shop; `runs` is lower for one that is far slower. */
export function shopModelTest(subject: ShopUnderTest, runs = RUNS): void {
  test(`${subject.name} does what the reference does, in any order of events`, async () => {
    await playRandomLives(subject, { runs });
  });
}

/** Throws where the shop does anything else than the reference: with the shortest life that still shows it, if that is wanted. */
export async function playRandomLives(
  subject: ShopUnderTest,
  { runs, isShrunk = true }: { readonly runs: number; readonly isShrunk?: boolean },
): Promise<void> {
  const catalogues = shopKind.chain(cataloguesOf);
  const steps = fc.array(shopStep, { minLength: 5, maxLength: 80, size: "max" });
  await fc.assert(
    fc.asyncProperty(
      catalogues,
      steps,
      shrunkBriefly((written, taken) => playOneLife(subject, written, taken)),
    ),
    { numRuns: runs, endOnFailure: !isShrunk },
  );
}

export async function playOneLife(
  subject: ShopUnderTest,
  catalogues: readonly WrittenCatalogue[],
  steps: readonly ShopStep[],
): Promise<void> {
  const life = new Life(await subject.open(), catalogues);
  await life.begin();
  for (const step of steps) await life.take(step);
  await life.end();
}
