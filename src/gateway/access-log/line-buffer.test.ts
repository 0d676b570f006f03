import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { LINE_BYTES_MAX, LineBuffer } from "./line-buffer.ts";

const written = (write: (line: LineBuffer) => void) => {
  const line = new LineBuffer(LINE_BYTES_MAX);
  line.text("before ");
  write(line);
  line.text(" after");
  return /^before (.*) after$/s.exec(line.written.toString("latin1"))?.[1];
};

test("numbers are written as text would have them", () => {
  const number = fc.oneof(fc.nat(), fc.maxSafeInteger(), fc.double());
  fc.assert(
    fc.property(number, (n) =>
      assert.equal(
        written((line) => line.number(n)),
        String(n),
      ),
    ),
  );
  for (const n of [0, 9, 10, 99, 100, 2 ** 31 - 1, 2 ** 31])
    assert.equal(
      written((line) => line.number(n)),
      `${n}`,
    );
});

test("text of any length is written as it is", () => {
  const ascii = fc.string({ unit: "binary-ascii", maxLength: 200 });
  fc.assert(
    fc.property(ascii, (text) =>
      assert.equal(
        written((line) => line.text(text)),
        text,
      ),
    ),
  );
});

test("what is escaped has no character that is not plain, and is cut before an escape that does not fit", () => {
  const escaped = (text: string, charactersMax: number) =>
    written((line) => line.escaped(text, charactersMax, () => "\\xAB"));
  assert.equal(escaped('a"b\\c\x00é€d', 100), "a\\xABb\\xABc\\xAB\\xAB\\xABd");
  assert.equal(escaped("abc", 2), "ab");
  assert.equal(escaped('ab"', 5), "ab");
  assert.equal(escaped('ab"', 6), "ab\\xAB");
});

test("there is room until the longest line would not fit", () => {
  const lines = new LineBuffer(LINE_BYTES_MAX + 1);
  lines.text("x");
  assert.ok(lines.hasRoom);
  lines.text("x");
  assert.ok(!lines.hasRoom);
  lines.clear();
  assert.ok(lines.hasRoom && lines.written.length === 0);
});
