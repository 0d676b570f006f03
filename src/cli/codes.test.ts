import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsFrom } from "../config/load.ts";
import type { SettingsInput } from "../config/schema.ts";
import {
  type CodesCheckFlags,
  CommandRefusal,
  checkCode,
  type NewFlags,
  newCodes,
  type Signing,
} from "./codes.ts";

const NOW = Date.UTC(2026, 5, 1, 10);
const SECRET = "a-secret-for-tests-only-0123456789-abcdef";
const OTHER_SECRET = "another-secret-for-tests-0123456789-abcdef";
const VIP = { room: "main", lane: "vip" };
const PRESS = { members: { codes: false, addresses: ["192.0.2.1"] } };
const ROOMS: SettingsInput["rooms"] = {
  main: { totalActiveUsers: 1, lanes: { vip: {}, press: PRESS } },
  other: { path: "/other", totalActiveUsers: 1, lanes: { vip: {} } },
};

function signing(input: SettingsInput = {}, now = NOW): Signing {
  const whole = { secret: SECRET, rooms: ROOMS, ...input };
  const result = settingsFrom(whole, { environment: {}, readFile: () => "", needsOrigin: false });
  assert.ok(result.ok, JSON.stringify(result.ok || result.problems));
  return { settings: { ...result.settings, secret: result.settings.secret! }, now };
}

const make = (flags: Partial<NewFlags> = VIP, by = signing()) =>
  newCodes({ count: "1", expires: "7d", ...flags }, by).text;
const check = (code: string, by = signing(), flags: CodesCheckFlags = {}) =>
  checkCode(code.trim(), flags, by);

test("the codes that were asked for are printed one per line, and all are different", () => {
  const lines = make({ ...VIP, count: "1000" }).split("\n");
  assert.equal(lines.pop(), "");
  assert.equal(new Set(lines).size, 1_000);
  for (const line of lines) assert.match(line, /^[\w-]{48}$/);
});

test("a code has the room, lane, number of places and lifetime that were asked for", () => {
  const [made] = JSON.parse(make({ ...VIP, once: true, json: true }));
  assert.equal(made.expiresAt, "2026-06-08T10:00:00.000Z");
  const { code, ...about } = made;
  const told = check(code, signing(), { json: true });
  assert.deepEqual(JSON.parse(told.text), { ok: true, refusal: null, ...about });
  assert.deepEqual([about.room, about.lane, about.kind], ["main", "vip", "once"]);
  assert.match(check(code).text, /^good: for lane vip of room main, for one place, until 2026-06-08/);
  assert.match(check(make()).text, /^good: for lane vip of room main, for any number of places/);
});

test("a code is found in a whole link", () => {
  const { text, isGood } = check(`https://shop.example/?a=1&fairgate_code=${make().trim()}#top`);
  assert.ok(isGood, text);
});

test("room and lane may be left out where there is one", () => {
  const rooms = { main: { totalActiveUsers: 1, lanes: { vip: {} } } };
  assert.ok(check(make({}, signing({ rooms }))).isGood);
});

test("a bad code is named with what is wrong, and with what it was for where that is known", () => {
  const made = make().trim();
  const lanesOfMain = (lanes: Record<string, typeof PRESS | Record<string, never>>) =>
    signing({ rooms: { ...ROOMS, main: { totalActiveUsers: 1, lanes } } });
  const cases: readonly (readonly [string, Signing, RegExp])[] = [
    ["nonsense", signing(), /^malformed: /],
    ["", signing(), /^malformed: /],
    [`${made.slice(0, -1)}${made.endsWith("A") ? "B" : "A"}`, signing(), /^forged: /],
    [made, signing({ secret: OTHER_SECRET }), /^forged: /],
    [made, signing({ rooms: { other: ROOMS!.other! } }), /^forged: /],
    [
      made,
      signing({}, NOW + 7 * 86_400_000),
      /^expired: it was for lane vip of room main.* until 2026-06-08/,
    ],
    [made, lanesOfMain({ gold: {} }), /^unknownLane: .*room main does not have/],
    [made, lanesOfMain({ vip: PRESS }), /^wrongLane: .*members\.codes/],
  ];
  for (const [code, by, words] of cases) {
    const { text, isGood } = check(code, by);
    assert.equal(isGood, false);
    assert.match(text, words);
    const { ok, refusal } = JSON.parse(check(code, by, { json: true }).text);
    assert.deepEqual([ok, refusal], [false, text.split(":")[0]]);
  }
});

test("a code is still good after the secret was changed", () => {
  const turned = signing({ secret: OTHER_SECRET, previousSecrets: [SECRET] });
  assert.ok(check(make(), turned).isGood);
});

test("a mistake in the command is answered with one sentence that says what it should be", () => {
  const cases: readonly (readonly [Partial<NewFlags>, RegExp])[] = [
    [{}, /main, other.*--room/],
    [{ room: "mian" }, /no room "mian".*Did you mean main\?/],
    [{ room: "x" }, /there is main, other/],
    [{ room: "__proto__" }, /no room "__proto__"/],
    [{ room: "main" }, /--lane: vip, press/],
    [{ room: "main", lane: "vpi" }, /no lane "vpi" in room main.*Did you mean vip\?/],
    [{ room: "main", lane: "constructor" }, /no lane "constructor"/],
    [{ room: "main", lane: "press" }, /takes no codes/],
    [{ ...VIP, count: "0" }, /--count is "0".*1 to 100000/],
    [{ ...VIP, count: "100001" }, /--count/],
    [{ ...VIP, count: "1e3" }, /--count/],
    [{ ...VIP, count: "-1" }, /--count/],
    [{ ...VIP, expires: "soon" }, /--expires is "soon".*1m to 366d/],
    [{ ...VIP, expires: "5" }, /--expires/],
    [{ ...VIP, expires: "59s" }, /--expires/],
    [{ ...VIP, expires: "367d" }, /--expires/],
  ];
  for (const [flags, words] of cases)
    assert.throws(
      () => make(flags),
      (cause) => cause instanceof CommandRefusal && cause.exitCode === 2 && words.test(cause.message),
      JSON.stringify(flags),
    );
  assert.throws(
    () => make({}, signing({ rooms: { main: { totalActiveUsers: 1 } } })),
    /room main has no lanes/,
  );
});
