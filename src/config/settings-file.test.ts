import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { explain } from "./explain.ts";
import { loadSettings } from "./load.ts";
import { FILE_BYTES_MAX } from "./settings-file.ts";

const SECRET = "Zq7Wx9Lm2Kp4Vb8Nc3Jd6Hf1Gs5Rt0Ye";
const OTHER = "uT3xK8vQ1mW6yB4nZ9cR2pL7sD5fH0jA";
const PASSWORD = "oB5kS1tX8rE3wJ6q";
/** As somebody might choose it: words, with what divides the parts of an address. */
const IN_ADDRESS = "sesame/open@them";

const FILE = `listen: :8080
secret: ${SECRET}
previousSecrets:
  - ${OTHER}
  - "${OTHER}"
control:
  listen: 127.0.0.1:8081
  token: '${SECRET}'
redis:
  url: redis://shop:${IN_ADDRESS}@10.0.0.1:6379/0
  password: ${PASSWORD}
  sentinelPassword: "${PASSWORD}"
origin:
  addresses: [http://127.0.0.1:3000]
rooms:
  main:
    totalActiveUsers: 200
    page: { title: "Wait", colour: "#123456" }
`;

function noFiles(): never {
  throw Object.assign(new Error("no such file"), { code: "ENOENT" });
}

function textFor(text: string): string {
  const result = loadSettings({ text, file: "fairgate.yaml" }, {}, {}, noFiles);
  return result.ok ? "" : explain(result.problems);
}

test("a file larger than 1 MB is refused before it is parsed", () => {
  const text = textFor(`${FILE}# ${"x".repeat(FILE_BYTES_MAX)}`);
  assert.match(text, /^fairgate\.yaml: the file is larger than 1 MB\n/);
});

test("aliases that multiply are refused", () => {
  const levels = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const bomb = levels.map((level, index) => {
    const items =
      index === 0
        ? "[x, x]"
        : `[${Array(10)
            .fill(`*${levels[index - 1]}`)
            .join(", ")}]`;
    return `${level}: &${level} ${items}\n`;
  });
  assert.match(textFor(bomb.join("")), /repeats values more than 100 times by aliases/);
});

test("nesting without end is refused, not crashed on", () => {
  for (const deep of ["[".repeat(2_000), "{a: ".repeat(2_000), "- ".repeat(2_000)]) {
    assert.match(textFor(deep), /nested too deeply/);
  }
});

test("of twenty thousand problems only the first are shown", () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1\n`);
  const text = textFor(keys.join(""));
  assert.match(text, /there are 19950 more settings here that do not exist/);
  assert.ok(text.length < 100_000, `${text.length} characters`);
});

test("whatever becomes of the file, no secret is shown", () => {
  const slip = fc.record({
    at: fc.nat(FILE.length - 1),
    remove: fc.nat(3),
    insert: fc.constantFrom(
      "",
      "\n",
      " ",
      "\t",
      ":",
      '"',
      "'",
      "[",
      "]",
      "{",
      "}",
      "@",
      "&a ",
      "*a",
      "#",
      "- ",
      "x",
      "---\n",
    ),
  });
  fc.assert(
    fc.property(fc.array(slip, { minLength: 1, maxLength: 3 }), (slips) => {
      const broken = slips.reduce(
        (text, { at, remove, insert }) => text.slice(0, at) + insert + text.slice(at + remove),
        FILE,
      );
      const shown = textFor(broken);
      for (const secret of [SECRET, OTHER]) {
        // Half of a secret is too much as well.
        assert.ok(!shown.includes(secret.slice(0, 16)) && !shown.includes(secret.slice(16)), shown);
      }
      for (const password of [PASSWORD, IN_ADDRESS]) assert.ok(!shown.includes(password), shown);
    }),
    { numRuns: 2_000 },
  );
});

test("no text makes reading throw", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200, unit: "binary" }), (text) => {
      assert.equal(typeof textFor(text), "string");
    }),
    { numRuns: 2_000 },
  );
});
