import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../config/explain.ts";
import { loadSettings } from "../config/load.ts";
import { answerJson, answerQuestion, answerText, type UrlAnswer } from "./check-url.ts";
import { type QuestionFlags, readQuestion } from "./question.ts";

const ORIGIN = 'origin: { addresses: ["http://127.0.0.1:3000"] }';
const SETTINGS = `${ORIGIN}
trustedProxies: [10.0.0.1]
rooms:
  main:
    host: shop.example
    path: /booking
    totalActiveUsers: 200
    bypass:
      - { name: webhooks, path: [/booking/hook], methods: [POST] }
      - { header: { X-Health: untold-value } }
      - { name: office, addresses: [203.0.113.0/24] }
  wide: { host: "*.wide.example", totalActiveUsers: 5 }
  drop: { path: /drop, totalActiveUsers: 5, suspended: true, bypass: [{ path: ["*.css"] }] }
`;
const NOON = Date.parse("2026-12-01T12:00:00Z");

async function ask(url: string, flags: QuestionFlags = {}, text = SETTINGS): Promise<UrlAnswer> {
  const secret = { FAIRGATE_SECRET: "example-secret-for-tests-0123456789" };
  const loaded = loadSettings({ text, file: "f.yaml" }, {}, secret, () => assert.fail("a file was read"));
  assert.ok(loaded.ok, loaded.ok ? "" : explain(loaded.problems));
  const asked = readQuestion({ url, ...flags });
  assert.ok(asked.ok && asked.question, JSON.stringify(asked));
  return answerQuestion(asked.question, loaded.settings, NOON);
}

const linesOf = ({ parts }: UrlAnswer, about: string) => parts.find((part) => part.about === about)?.lines;

test("headers are looked at as they would be sent, and no value that a rule asks for is told", async () => {
  const url = "https://shop.example/booking";
  const right = await ask(url, { header: ["Accept: */*", "x-HEALTH:  untold-value "] });
  assert.equal(right.verdict, 'goes to the origin: bypass rule "rule 2" holds');
  const wrong = await ask(url, { header: ["X-Health: other"] });
  assert.match(
    answerText(wrong),
    /"rule 2" does not hold: header: the header x-health is not what the rule asks/,
  );
  assert.doesNotMatch(answerText(wrong) + JSON.stringify(answerJson(wrong)), /untold/);
});

test("the visitor's address is found as the gateway finds it, through proxies that are trusted", async () => {
  const url = "https://shop.example/booking";
  const header = ["X-Forwarded-For: 203.0.113.9"];
  const direct = await ask(url, { address: "203.0.113.7" });
  assert.equal(direct.verdict, 'goes to the origin: bypass rule "office" holds');
  const behind = await ask(url, { address: "10.0.0.1", header });
  assert.deepEqual([behind.request.address, behind.goesTo], ["203.0.113.9", "origin"]);
  const forged = await ask(url, { address: "10.0.0.2", header });
  assert.deepEqual([forged.request.address, forged.goesTo], ["10.0.0.2", "line"]);
});

test("a route is told with what it is for", async () => {
  const words = async (url: string) => linesOf(await ask(url), "route")?.at(-1);
  assert.equal(
    await words("https://Shop.example/Booking/"),
    "the host is shop.example; /Booking/ is its path",
  );
  assert.equal(
    await words("https://shop.example/booking;v=1/y"),
    "the host is shop.example; /booking;v=1/y can be read as /booking or below it",
  );
  assert.equal(
    await words("https://a.wide.example/"),
    "a.wide.example is below wide.example; it is for every path",
  );
  assert.equal(await words("https://any.example/drop/1"), "it is for every host; /drop/1 is below /drop");
  assert.equal(await words("https://shop.example/else?x"), "no room has one for shop.example/else");
});

test("an odd path is asked about as it is written, and told as it is sent", async () => {
  const answer = await ask("https://shop.example/booking/hook/../seats?a=..", { method: "POST" });
  assert.equal(answer.request.url, "https://shop.example/booking/hook/../seats?a=..");
  assert.equal(linesOf(answer, "route")?.at(-1), "the path is odd; it is routed and sent as /booking/seats");
  assert.equal(
    linesOf(answer, "bypass")?.[0],
    '"webhooks" does not hold: path: /booking/seats is not /booking/hook',
  );
  assert.equal(answer.goesTo, "line");
  const left = await ask("https://shop.example/booking//../buy");
  assert.deepEqual(linesOf(left, "route"), [
    "no room has one for shop.example/buy",
    "the path is odd; it is routed and sent as /buy",
  ]);
  assert.equal((await ask("https://shop.example/x/../.fairgate/main/board")).goesTo, "fairgate");
});

test("what would be refused is told with its status and the reason", async () => {
  const refused = async (url: string, text?: string) => {
    const { goesTo, verdict } = await ask(url, {}, text);
    assert.equal(goesTo, "refused", url);
    return verdict;
  };
  assert.equal(
    await refused("https://shop.example/booking/..;/x"),
    "gets 400: path with a hidden dot segment",
  );
  assert.equal(
    await refused("https://any.example/else"),
    "gets 421: no room is for this host, any.example (see otherHosts and forwardedHost)",
  );
  assert.equal(
    await refused("https://shop.example/a//b", `oddPaths: refuse\n${SETTINGS}`),
    "gets 400: path with a doubled slash",
  );
});

test("a forwarded host counts where the settings say so", async () => {
  const flags = { address: "10.0.0.1", header: ["X-Forwarded-Host: shop.example"] };
  assert.equal((await ask("https://inner.example/booking", flags)).goesTo, "refused");
  const believed = await ask("https://inner.example/booking", flags, `forwardedHost: true\n${SETTINGS}`);
  assert.equal(believed.room, "main");
});

test("a suspended room, no room, and an address of our own each have their verdict", async () => {
  const verdict = async (url: string, text?: string) => {
    const { room, goesTo, verdict } = await ask(url, {}, text);
    return [room, goesTo, verdict];
  };
  assert.deepEqual(await verdict("http://any.example/drop/1"), [
    "drop",
    "origin",
    "goes to the origin: room drop is suspended",
  ]);
  assert.deepEqual(await verdict("https://shop.example/bookings"), [
    null,
    "origin",
    "goes to the origin: no room is for this address",
  ]);
  assert.deepEqual(await verdict("https://shop.example/.fairgate/main/board"), [
    null,
    "fairgate",
    "is answered by Fairgate itself: the address is its own",
  ]);
  const noDefault = `rooms: { sale: { path: /sale, totalActiveUsers: 5, ${ORIGIN} } }\n`;
  assert.deepEqual(await verdict("https://shop.example/", noDefault), [
    null,
    "nowhere",
    "gets 404: no room is for this address, and there is no origin at the top",
  ]);
});

test("where a rule for endings decides there is a word of caution", async () => {
  assert.deepEqual(linesOf(await ask("https://any.example/drop/x.css"), "bypass"), [
    '"rule 1" holds: path',
    "caution: it lets every address past that ends like *.css",
  ]);
});

test("while an event is on, its settings decide", async () => {
  const during = (start: string, end: string) => {
    const times = `eventStartTime: 2026-12-01T${start}:00Z, eventEndTime: 2026-12-01T${end}:00Z`;
    return SETTINGS.replace(
      "    bypass:",
      `    events: [{ name: launch, ${times}, bypass: [] }]\n    bypass:`,
    );
  };
  const hook = ["https://shop.example/booking/hook", { method: "POST" }] as const;
  const on = await ask(...hook, during("11:00", "13:00"));
  assert.deepEqual(linesOf(on, "event"), ["launch is on, so its settings hold"]);
  assert.deepEqual(linesOf(on, "bypass"), ["the room has no rules"]);
  assert.equal(on.goesTo, "line");
  const later = await ask(...hook, during("13:00", "14:00"));
  assert.equal(linesOf(later, "event"), undefined);
  assert.equal(later.goesTo, "origin");
});
