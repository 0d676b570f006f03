import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countSlips, longerNames, nearest } from "./nearest.ts";

const KNOWN = ["totalActiveUsers", "newUsersPerMinute", "sessionDuration", "host", "path", "page", "colour"];

test("the other vocabularies' spelling of a name is the same name", () => {
  for (const name of ["total_active_users", "TotalActiveUsers", "total-active-users", "TOTAL_ACTIVE_USERS"]) {
    assert.equal(nearest(name, KNOWN), "totalActiveUsers", name);
  }
});

test("a slip of the finger finds the name that was meant", () => {
  const cases = {
    sesionDuration: "sessionDuration",
    hots: "host",
    color: "colour",
    newUserPerMinute: "newUsersPerMinute",
  };
  for (const [typed, meant] of Object.entries(cases)) assert.equal(nearest(typed, KNOWN), meant, typed);
});

test("a name that is like none of them finds nothing", () => {
  for (const name of ["zebra", "x", "", "a".repeat(10_000)])
    assert.equal(nearest(name, KNOWN), null, name.slice(0, 9));
});

test("a name cut short finds those that go on after it with another word", () => {
  const known = ["caFile", "secretFile", "secretVariable", "database", "eventStartTime"];
  const cases = {
    ca: ["caFile"],
    CA: ["caFile"],
    secret: ["secretFile", "secretVariable"],
    event_start: ["eventStartTime"],
    data: [],
    events: [],
    c: [],
    "": [],
    caFile: [],
  };
  for (const [typed, meant] of Object.entries(cases))
    assert.deepEqual(longerNames(typed, known), meant, typed);
});

test("slips are counted as additions, omissions, changes and swaps", () => {
  const cases: [string, string, number][] = [
    ["host", "host", 0],
    ["hots", "host", 1],
    ["hst", "host", 1],
    ["hosts", "host", 1],
    ["hest", "host", 1],
    ["", "host", 4],
    ["ca", "abc", 3],
  ];
  for (const [a, b, slips] of cases) assert.equal(countSlips(a, b), slips, `${a} ${b}`);
});

test("slips are the same in both directions and at most the longer length", () => {
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const slips = countSlips(a, b);
      assert.equal(slips, countSlips(b, a));
      assert.ok(slips <= Math.max(a.length, b.length));
      assert.equal(slips === 0, a === b);
    }),
  );
});
