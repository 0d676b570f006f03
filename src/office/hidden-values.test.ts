import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type RoomInput, roomSchema } from "../config/schema.ts";
import { writtenRoom } from "../config/written.ts";
import { createHiding, HIDING_KEY_BYTES } from "./hidden-values.ts";

const KEY = new Uint8Array(HIDING_KEY_BYTES).fill(7);
const SALE = {
  name: "sale",
  eventStartTime: "2026-12-01T10:00:00Z",
  eventEndTime: "2026-12-01T12:00:00Z",
};
const hiding = createHiding(KEY);
const written = (input: RoomInput) => writtenRoom(roomSchema.parse({ totalActiveUsers: 5, ...input }));

const value = fc.string({ minLength: 8, maxLength: 20, unit: fc.constantFrom(..."abcxyz0189*-:".split("")) });
const wanted = fc.oneof(fc.constant(true as const), value, fc.array(value, { minLength: 1, maxLength: 3 }));
const values = fc.option(
  fc.dictionary(fc.constantFrom("x-key", "token", "constructor"), wanted, {
    minKeys: 1,
    noNullPrototype: true,
  }),
);
const rule = fc.record({
  path: fc.constant<string[]>(["/hook"]),
  header: values,
  cookie: values,
  query: values,
});
const rules = fc.array(rule, { maxLength: 4 });

type RuleInput = Pick<NonNullable<RoomInput["bypass"]>[number], "header" | "cookie" | "query">;

/** Every value of a header, cookie or query. */
function secretsOf(bypass: readonly RuleInput[]): string[] {
  return bypass.flatMap(({ header, cookie, query }) =>
    [header, cookie, query]
      .flatMap((condition) => Object.values(condition ?? {}))
      .flatMap((one) => (one === true ? [] : one)),
  );
}

test("no value of a rule is in what is shown, and what is shown keeps every one", () => {
  let hidden = 0;
  fc.assert(
    fc.property(rules, rules, (bypass, inEvent) => {
      const room = written({ bypass, events: [{ ...SALE, bypass: inEvent }] });
      const shown = hiding.hide(room);
      const text = JSON.stringify(shown);
      for (const secret of secretsOf([...bypass, ...inEvent])) {
        hidden++;
        assert.ok(!text.includes(JSON.stringify(secret)), secret);
      }
      assert.deepEqual(hiding.restore(room, shown), { ok: true, change: room });
    }),
  );
  assert.ok(hidden > 100, `only ${hidden} were hidden`);
});

test("what is no value of a rule is shown as it is", () => {
  const room = written({
    message: "hidden:0123456789abcdef",
    bypass: [{ name: "monitor", path: ["/healthz"], userAgent: "*Robot*", header: { "x-key": true } }],
  });
  assert.deepEqual(hiding.hide(room), room);
});

test("rules may be moved, added and taken out between looking and changing", () => {
  const room = written({
    bypass: [
      { path: ["/a"], header: { "x-key": "first" } },
      { path: ["/b"], header: { "x-key": ["second", "third"] } },
    ],
  });
  const [first, second] = hiding.hide(room).bypass!;
  const change = { bypass: [{ path: ["/new"], query: { k: "new" } }, second, first] };
  const restored = hiding.restore(room, change);
  assert.ok(restored.ok);
  assert.deepEqual(restored.change, {
    bypass: [change.bypass[0], room.bypass![1], room.bypass![0]],
  });
});

test("what stands for no value of the room is refused by its place, and no value is told", () => {
  const room = written({ bypass: [{ path: ["/a"], header: { "x-key": "first" } }] });
  const elsewhere = createHiding(KEY.with(0, 8)).hide(room);
  const restored = hiding.restore(room, { ...elsewhere, events: [{ ...SALE, bypass: elsewhere.bypass }] });
  assert.ok(!restored.ok);
  assert.deepEqual(
    restored.problems.map(({ path }) => path),
    ["bypass[0].header.x-key", "events[0].bypass[0].header.x-key"],
  );
  assert.doesNotMatch(JSON.stringify(restored), /first/);
});

test("a change of any form is handed on as it came", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom("bypass", "events", "header"), (json, key) => {
      const room = written({});
      for (const change of [
        json,
        { [key]: json },
        { bypass: [{ [key]: json }] },
        { events: [{ bypass: json }] },
      ])
        assert.deepEqual(hiding.restore(room, change), { ok: true, change });
    }),
  );
});
