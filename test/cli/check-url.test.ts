/** `fairgate check --url`: what happens to one request and why, and how a bad question is answered. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fairgate, ownFolder, SECRET } from "../../src/testing/cli/fairgate.ts";

const SETTINGS = `origin: { addresses: ["http://127.0.0.1:3000"] }
rooms:
  main:
    host: shop.example
    path: /booking
    totalActiveUsers: 200
    bypass:
      - { name: webhooks, path: [/booking/hook], methods: [POST], cookie: { a: b, c: d } }
      - { header: { X-Health: untold-value } }
      - { name: office, addresses: [203.0.113.0/24] }
`;
const environment = { FAIRGATE_SECRET: SECRET };

async function check(args: readonly string[], settings = SETTINGS) {
  using folder = ownFolder({ "settings.yaml": settings });
  const all = ["check", ...args, "settings.yaml"];
  const { code, out, err } = await fairgate(all, { cwd: folder.path, environment });
  return { code, out, err };
}

describe("fairgate check --url", { concurrency: 3 }, () => {
  test("tells the room, why each rule does not hold, and that the request joins the line", async () => {
    const { code, out, err } = await check(["--url", "https://shop.example/booking/x?a=1"]);
    assert.equal(code, 0);
    assert.equal(err, "");
    assert.deepEqual(out.split("\n"), [
      "request    GET https://shop.example/booking/x?a=1",
      "           from an address that is not known (--address)",
      "route      room main, by its route shop.example/booking",
      "           the host is shop.example; /booking/x is below /booking",
      'bypass     "webhooks" does not hold: methods: GET is not POST',
      '           "rule 2" does not hold: header: there is no header x-health',
      '           "office" does not hold: addresses: the visitor\'s address is not known',
      "suspended  no",
      "lane       the room has no lanes",
      "verdict    joins the line of room main, unless there is none or the visitor has a pass",
      "",
    ]);
  });

  test("--json tells the rule that sends a request to the origin, and asks no rule after it", async () => {
    const request = ["--method", "post", "--header", "Cookie: a=b", "--header", "Cookie: c=d"];
    const url = ["--url", "https://shop.example/booking/hook/7", "--address", "203.0.113.7"];
    const { code, out } = await check([...url, ...request, "--json"]);
    assert.equal(code, 0, out);
    assert.deepEqual(JSON.parse(out), {
      ok: true,
      problems: [],
      request: { method: "POST", url: "https://shop.example/booking/hook/7", address: "203.0.113.7" },
      room: "main",
      route: { host: "shop.example", path: "/booking", sent: "/booking/hook/7" },
      bypass: [{ rule: "webhooks", holds: true, failed: null }],
      suspended: false,
      lane: null,
      goesTo: "origin",
      verdict: 'goes to the origin: bypass rule "webhooks" holds',
    });
  });

  test("warns of rules by file ending, whatever the request is", async () => {
    const endings = SETTINGS.replace("[/booking/hook]", '["*.css"]');
    const { code, err } = await check([], endings);
    assert.equal(code, 0);
    assert.match(
      err,
      /settings\.yaml:8:.*bypass\[0\]\.path\[0\] is "\*\.css"[\s\S]*\/booking\/x\.css[\s\S]*1 warning/,
    );
  });

  test("shows everything that is wrong with a question at once, and with the settings too", async () => {
    const bad = ["--url", "ftp://a", "--method", "GTE", "--header", "Cookie a=b", "--address", "home"];
    const { code, out, err } = await check(bad, `${SETTINGS}zebra: 1\n`);
    assert.equal(code, 2);
    assert.equal(out, "");
    assert.match(err, /--url is "ftp:\/\/a", which is not an http or https address/);
    assert.match(err, /--method is "GTE", which is not a method/);
    assert.match(err, /--header does not begin with a header's name and a colon[\s\S]*"Name: value"/);
    assert.match(err, /--address is "home", which is not an IP address/);
    assert.match(err, /there is no setting "zebra"/);
    assert.match(err, /5 problems/);
  });

  test("--json gives what is wrong with a question as data", async () => {
    const { code, out } = await check(["--json", "--method", "POST"]);
    const { ok, problems } = JSON.parse(out) as {
      ok: boolean;
      problems: { name: string; message: string }[];
    };
    assert.deepEqual([code, ok, problems.length], [2, false, 1]);
    assert.equal(problems[0]?.message, "--method is about a request, and there is no --url");
  });

  test("refuses two settings files", async () => {
    const { code, err } = await check(["--config", "settings.yaml"]);
    assert.equal(code, 2);
    assert.match(err, /there are two settings files/);
  });
});
