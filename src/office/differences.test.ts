import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, LOGGED_CHARACTERS_MAX } from "./differences.ts";

test("equal settings have no differences", () => {
  assert.deepEqual(
    differences({ paused: true, page: { colour: "#000000" } }, { page: { colour: "#000000" }, paused: true }),
    {},
  );
});

test("differences are named as people write settings, and of lists the length is told", () => {
  const from = { message: "", page: { title: null }, additionalRoutes: [{ path: "/a" }] };
  const to = { message: "Soon.", page: { title: "Wait" }, additionalRoutes: [{ path: "/b" }] };
  assert.deepEqual(differences(from, to), {
    message: { from: "", to: "Soon." },
    "page.title": { from: null, to: "Wait" },
    additionalRoutes: { from: "1 entry", to: "1 entry" },
  });
});

test("a setting that was null and is a mapping now is told by its parts", () => {
  const found = differences({ origin: null }, { origin: { addresses: ["http://a:1"] } });
  assert.deepEqual(found, {
    origin: { from: null, to: undefined },
    "origin.addresses": { from: undefined, to: "1 entry" },
  });
});

test("a long text is cut, and two long texts that differ only at the end still differ", () => {
  const from = "a".repeat(10_000);
  const found = differences({ message: from }, { message: `${from}b` }).message!;
  assert.equal(found.from, `${"a".repeat(LOGGED_CHARACTERS_MAX)}… (10000 characters)`);
  assert.equal(found.to, `${"a".repeat(LOGGED_CHARACTERS_MAX)}… (10001 characters)`);
});

test("no value of a list is in what is logged, however deep it lies", () => {
  const bypass = [{ path: ["/hook"], header: { "X-Hook-Key": "s3cret" } }];
  const sale = { name: "sale", eventStartTime: "2026-12-01T10:00:00Z", eventEndTime: "2026-12-01T12:00:00Z" };
  const found = differences({ bypass: [], events: [] }, { bypass, events: [{ ...sale, bypass }, sale] });
  assert.deepEqual(found, {
    bypass: { from: "0 entries", to: "1 entry" },
    events: { from: "0 entries", to: "2 entries" },
  });
});
