/** Runs an attack small, and fails when it gained anything or cost an honest visitor a page or a place. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attack } from "./attack.ts";
import { besiege } from "./siege.ts";

export function testAttack(attack: Attack): void {
  test(`${attack.name}: nobody can ${attack.about}`, async () => {
    const { attempts, through, examples, complaints } = await besiege(attack, "small");
    assert.ok(attempts > 0, "the attack tried nothing");
    assert.deepEqual({ through, examples: examples ?? [] }, { through: 0, examples: [] });
    assert.deepEqual(complaints, []);
  });
}
