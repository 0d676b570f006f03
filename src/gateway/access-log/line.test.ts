import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { accessLines } from "../../testing/access-lines.ts";
import { DECISIONS, type Finished, PATH_CHARACTERS_MAX, USER_AGENT_CHARACTERS_MAX } from "./line.ts";
import { LINE_BYTES_MAX } from "./line-buffer.ts";

const combined = accessLines("combined");
const json = accessLines("json");

const PAGE: Finished = {
  endedAt: Date.UTC(2026, 5, 1, 10, 0, 0, 7),
  address: "203.0.113.7",
  method: "GET",
  path: "/tickets?day=2",
  httpVersion: "1.1",
  status: 200,
  bytes: 5_120,
  referer: "https://shop.example/",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64)",
  host: "shop.example",
  room: "main",
  decision: "pass",
  visitor: "0123456789abcdef0123456789abcdef",
  origin: "http://10.0.0.1:3000",
  originMs: 12,
  tookMs: 15,
  id: "5f2a90c1-2s",
};

/** As awstats and goaccess read it: what is between quotes has no quote in it. */
const COMBINED =
  /^(\S+) - - \[([^\]]+)\] "([^"]*)" (\d{3}) (\d+|-) "([^"]*)" "([^"]*)" host="([^"]*)" room=(\S+) decision=(\S+) visitor=(\S+) origin=(\S+) originMs=(\S+) ms=(\d+) id=(\S+)\n$/;

test("where the runtime does not tell the protocol, none is named", () => {
  const page = { ...PAGE, httpVersion: null };
  assert.match(combined(page), /"GET \/tickets\?day=2" 200 /);
  assert.equal(JSON.parse(json(page)).protocol, null);
});

test("a combined line begins as that of Apache and nginx, and goes on with what Fairgate knows", () => {
  assert.equal(
    combined(PAGE),
    '203.0.113.7 - - [01/Jun/2026:10:00:00 +0000] "GET /tickets?day=2 HTTP/1.1" 200 5120 "https://shop.example/" "Mozilla/5.0 (X11; Linux x86_64)" host="shop.example" room=main decision=pass visitor=0123456789abcdef0123456789abcdef origin=http://10.0.0.1:3000 originMs=12 ms=15 id=5f2a90c1-2s\n',
  );
});

test("a JSON line is an object with the documented names", () => {
  const line = json(PAGE);
  assert.equal(line.indexOf("\n"), line.length - 1);
  assert.deepEqual(JSON.parse(line), {
    time: "2026-06-01T10:00:00.007Z",
    address: "203.0.113.7",
    method: "GET",
    path: "/tickets?day=2",
    protocol: "HTTP/1.1",
    status: 200,
    bytes: 5_120,
    referer: "https://shop.example/",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64)",
    host: "shop.example",
    room: "main",
    decision: "pass",
    visitor: "0123456789abcdef0123456789abcdef",
    origin: "http://10.0.0.1:3000",
    originMs: 12,
    ms: 15,
    id: "5f2a90c1-2s",
  });
});

test("every name and every decision is explained in the documents", () => {
  const document = readFileSync(new URL("../../../docs/operating.md", import.meta.url), "utf8");
  const rows = document.split("\n").flatMap((line) => /^\| (`[^|]*`) \|/.exec(line)?.[1] ?? []);
  const explained = new Set(rows.join(" ").match(/\w+/g));
  const names = [...Object.keys(JSON.parse(json(PAGE))), ...DECISIONS];
  assert.deepEqual(
    names.filter((name) => !explained.has(name)),
    [],
  );
});

test("what is not known is a dash, or null", () => {
  const nothing: Finished = {
    ...{ endedAt: PAGE.endedAt, address: "", method: null, path: null, httpVersion: null, status: 400 },
    ...{
      bytes: null,
      referer: null,
      userAgent: "",
      host: "",
      room: null,
      decision: "refused",
      visitor: null,
    },
    ...{ origin: null, originMs: null, tookMs: 0, id: null },
  };
  assert.equal(
    combined(nothing),
    '- - - [01/Jun/2026:10:00:00 +0000] "-" 400 - "-" "-" host="-" room=- decision=refused visitor=- origin=- originMs=- ms=0 id=-\n',
  );
  const { time, status, decision, ms, userAgent, host, ...rest } = JSON.parse(json(nothing));
  assert.deepEqual([status, decision, ms, userAgent, host], [400, "refused", 0, "", ""]);
  assert.deepEqual([...new Set(Object.values(rest))], [null]);
});

test("the time is that of each line's own second", () => {
  const at = (endedAt: number) => combined({ ...PAGE, endedAt }).slice(17, 43);
  assert.equal(at(Date.UTC(2026, 11, 31, 23, 59, 59, 999)), "31/Dec/2026:23:59:59 +0000");
  assert.equal(at(Date.UTC(2027, 0, 1)), "01/Jan/2027:00:00:00 +0000");
  assert.equal(at(Date.UTC(2026, 11, 31, 23, 59, 59)), "31/Dec/2026:23:59:59 +0000");
});

test("whatever a visitor writes forges no line, leaves no field and drives no terminal", () => {
  const word = fc.string({ unit: "binary-ascii", maxLength: 60 });
  const bytes = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  });
  const hostile = fc.oneof(
    word,
    bytes,
    fc.constantFrom('" 200 0 "', "\\", "\r\n", "\x1b[2J", "\x9b2J", "\u2028"),
  );
  const texts = fc.record({
    method: hostile,
    path: hostile,
    referer: hostile,
    userAgent: hostile,
    host: hostile,
  });
  fc.assert(
    fc.property(texts, (written) => {
      const line = combined({ ...PAGE, ...written });
      assert.match(line, /^[ -~]*\n$/);
      const [, address, , , status, , , , , room, decision] = COMBINED.exec(line) ?? assert.fail(line);
      assert.deepEqual([address, status, room, decision], ["203.0.113.7", "200", "main", "pass"]);
      const object = json({ ...PAGE, ...written });
      assert.match(object, /^[ -~]*\n$/);
      const { method, path, referer, userAgent, host } = JSON.parse(object);
      assert.deepEqual(
        { method, path, referer, userAgent, host },
        { ...written, method: written.method.slice(0, method.length) },
      );
    }),
  );
});

test("escapes are nginx's: two hexadecimal digits for a byte", () => {
  const line = combined({ ...PAGE, userAgent: 'a"b\\c\x1b[0m\xe9' });
  assert.ok(line.includes(String.raw`"a\x22b\x5Cc\x1B[0m\xE9"`), line);
});

test("the longest line there can be fits", () => {
  const long = '"'.repeat(20_000);
  const fields = { method: long, path: long, referer: long, userAgent: long, host: long };
  const own = { room: "r".repeat(64), origin: `https://${"o".repeat(253)}:65535`, id: "i".repeat(64) };
  for (const lineOf of [combined, json])
    assert.ok(lineOf({ ...PAGE, ...fields, ...own }).length < LINE_BYTES_MAX - 1_024);
});

test("no field is longer than its limit, and none ends in half an escape", () => {
  for (const letter of ["a", "\x00", "é", '"']) {
    const long = letter.repeat(20_000);
    const [, , , request = "", , , , userAgent = ""] =
      COMBINED.exec(combined({ ...PAGE, path: long, userAgent: long })) ?? assert.fail(letter);
    assert.ok(request.length <= "GET  HTTP/1.1".length + PATH_CHARACTERS_MAX, String(request.length));
    assert.ok(userAgent.length <= USER_AGENT_CHARACTERS_MAX);
    assert.equal(userAgent.length % (letter === "a" ? 1 : String.raw`\x00`.length), 0);
    const { path } = JSON.parse(json({ ...PAGE, path: long }));
    assert.ok(path.length > 0 && long.startsWith(path));
  }
});
