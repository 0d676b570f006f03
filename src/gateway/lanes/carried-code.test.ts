import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CODE_PARAMETER, codeInUrl, linkWithoutCode, withoutCode } from "./carried-code.ts";

test("the code is taken from the query, wherever in it, and nothing else is touched", () => {
  const cases: readonly (readonly [url: string, code: string | null, without: string])[] = [
    ["/", null, "/"],
    ["/?", null, "/?"],
    ["/a?x=1&y=%2F", null, "/a?x=1&y=%2F"],
    ["/?fairgate_code=AbC-_9", "AbC-_9", "/"],
    ["/a/b?x=1&fairgate_code=A", "A", "/a/b?x=1"],
    ["/a/b?fairgate_code=A&x=1&&y", "A", "/a/b?x=1&&y"],
    ["/?x=%zz&fairgate_code=A&y=a+b%20c", "A", "/?x=%zz&y=a+b%20c"],
    ["/?fairgate_code=A&fairgate_code=B", "A", "/"],
    ["/?fairgate%5Fcode=A&x", "A", "/?x"],
    ["/?%66airgate_code=A%2DB", "A-B", "/"],
    ["/?fairgate_code=A%zz", "A%zz", "/"],
    ["/?fairgate_code=", "", "/"],
    ["/?fairgate_code", null, "/?fairgate_code"],
    [
      "/?my_fairgate_code=A&fairgate_codes=B&Fairgate_Code=C",
      null,
      "/?my_fairgate_code=A&fairgate_codes=B&Fairgate_Code=C",
    ],
    ["/?back=/?fairgate_code=A", null, "/?back=/?fairgate_code=A"],
    ["/fairgate_code=A", null, "/fairgate_code=A"],
    [
      "https://shop.example/a?fairgate_code=A&x=1#fairgate_code=B",
      "A",
      "https://shop.example/a?x=1#fairgate_code=B",
    ],
    ["/a#?fairgate_code=A", null, "/a#?fairgate_code=A"],
  ];
  for (const [url, code, without] of cases) {
    assert.equal(codeInUrl(url), code, url);
    assert.equal(withoutCode(url), without, url);
  }
});

const part = fc.oneof(
  fc.string({ maxLength: 12, size: "max", unit: fc.constantFrom(..."ab=%&?#+/;5F_") }),
  fc.constantFrom("fairgate_code", "fairgate_code=x", "fairgate%5Fcode=x", "fairgate%5fcode=%41", "x=1"),
);
const url = fc
  .tuple(part, fc.array(part, { maxLength: 6, size: "max" }))
  .map(([path, query]) => `/${path}?${query.join("&")}`);

test("an address from which the code was taken has none, and taking it again changes nothing", () => {
  fc.assert(
    fc.property(url, (any) => {
      const clean = withoutCode(any);
      assert.equal(codeInUrl(clean), null);
      assert.equal(withoutCode(clean), clean);
    }),
    { numRuns: 2_000 },
  );
});

test("no origin that reads a query in the usual way finds a code in it", () => {
  fc.assert(
    fc.property(url, (any) => {
      const seen = new URL(`http://origin${withoutCode(any)}`).searchParams;
      assert.ok(!seen.get(CODE_PARAMETER), any);
    }),
    { numRuns: 2_000 },
  );
});

test("an address without a code comes back as the very same text", () => {
  fc.assert(
    fc.property(url, (any) => {
      fc.pre(codeInUrl(any) === null);
      assert.equal(withoutCode(any), any);
    }),
  );
});

test("a link without the code stays on the same host, whatever the address begins with", () => {
  const evil = fc
    .tuple(
      fc.string({ maxLength: 5, size: "max", unit: fc.constantFrom("/", "\\", "\t", "\n", " ", ".", "@") }),
      url,
    )
    .map(([opening, rest]) => `${opening}evil.example${rest}`);
  fc.assert(
    fc.property(fc.oneof(evil, url), (any) => {
      const link = linkWithoutCode(any);
      assert.equal(new URL(link, "https://shop.example").origin, "https://shop.example", link);
      assert.equal(codeInUrl(link), null);
    }),
    { numRuns: 2_000 },
  );
  assert.equal(linkWithoutCode("//evil.example/?fairgate_code=A"), "/evil.example/");
  assert.equal(linkWithoutCode("/tickets?day=2&fairgate_code=A"), "/tickets?day=2");
});
