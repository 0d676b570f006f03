import assert from "node:assert/strict";
import { test } from "node:test";
import { QUEUE_DEFAULTS, type QueueOptions, withDefaults } from "./queue-options.ts";

test("what is not set is as the defaults say", () => {
  assert.deepEqual(withDefaults({ name: "mail" }), { name: "mail", ...QUEUE_DEFAULTS });
  assert.equal(withDefaults({ name: "mail", peek: 5 }).peek, 5);
});

test("options that cannot be are refused, with their value", () => {
  const refused = (options: object, words: RegExp) =>
    assert.throws(() => withDefaults({ name: "mail", ...options } as QueueOptions), words);
  refused({ name: "" }, /name ""/);
  refused({ name: "a{b}" }, /name "a\{b\}"/);
  refused({ prefix: "a b" }, /prefix "a b"/);
  refused({ shards: 0 }, /shards 0 is not a whole number from 1 to 1024/);
  refused({ shards: 1_025 }, /shards 1025/);
  refused({ peek: 1.5 }, /peek 1.5/);
  refused({ timeoutMs: 0 }, /timeoutMs 0/);
  refused({ replicas: -1 }, /replicas -1/);
  refused({ policy: "best" }, /policy "best"/);
});
