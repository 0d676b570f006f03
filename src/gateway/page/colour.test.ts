import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { accentOn, contrast, readColour, textOn } from "./colour.ts";

test("colours are read in both forms and anything else is refused by name", () => {
  assert.equal(readColour("#0Af"), "#00aaff");
  assert.equal(readColour("#1D4ED8"), "#1d4ed8");
  for (const wrong of ["red", "#12", "#12345", "1d4ed8", "#ggg", "#fff;}body{", "", "#1d4ed8 "]) {
    assert.throws(() => readColour(wrong), { message: /is not a colour such as #1d4ed8/ }, wrong);
  }
});

test("contrast is WCAG's", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.equal(contrast("#777777", "#777777"), 1);
  assert.ok(Math.abs(contrast("#767676", "#ffffff") - 4.54) < 0.01);
});

test("whatever colour is set, text in it and on it can be read, and shapes in it stand out from the track", () => {
  const colour = fc
    .integer({ min: 0, max: 0xffffff })
    .map((value) => `#${value.toString(16).padStart(6, "0")}`);
  fc.assert(
    fc.property(
      colour,
      fc.constantFrom(["#ffffff", "#dfe4eb"], ["#191f27", "#323c48"]),
      (wanted, [card = "", track = ""]) => {
        const accent = accentOn(wanted, card);
        assert.ok(contrast(accent, card) >= 4.5, `${wanted} became ${accent}`);
        assert.ok(contrast(accent, track) >= 3, `${wanted} became ${accent}`);
        assert.ok(contrast(textOn(wanted), wanted) >= 4.5, wanted);
      },
    ),
    { numRuns: 500 },
  );
});

test("a colour that stands out already is kept", () => {
  assert.equal(accentOn("#1d4ed8", "#ffffff"), "#1d4ed8");
  assert.equal(textOn("#ffe45c"), "#000000");
});
