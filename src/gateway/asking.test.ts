import assert from "node:assert/strict";
import { test } from "node:test";
import { type RequestWords, readAsking, waitingForm, wants } from "./asking.ts";

const CHROME = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";
const words = (change: Partial<RequestWords>): RequestWords => ({
  accept: undefined,
  fetchDestination: undefined,
  fetchMode: undefined,
  upgradeInsecure: undefined,
  ...change,
});

test("what a request wants follows from its words", () => {
  const cases: [Partial<RequestWords>, string][] = [
    [{ accept: CHROME, fetchDestination: "document" }, "page"],
    [{ accept: CHROME }, "page"],
    [{ accept: "*/*" }, "anything"],
    [{}, "anything"],
    [{ accept: "*/*", fetchMode: "navigate" }, "page"],
    [{ accept: "*/*", upgradeInsecure: "1" }, "page"],
    [{ accept: CHROME, fetchDestination: "iframe" }, "page"],
    [{ accept: "application/json" }, "json"],
    [{ accept: "application/json, text/plain, */*", fetchDestination: "empty" }, "json"],
    [{ accept: "application/json", fetchDestination: "empty" }, "json"],
    [{ accept: "*/*", fetchDestination: "empty" }, "script"],
    [{ accept: "text/x-component", fetchDestination: "empty" }, "script"],
    [{ accept: "*/*", fetchDestination: "manifest" }, "part"],
    [{ accept: "*/*", fetchDestination: "script", fetchMode: "no-cors" }, "part"],
    [{ accept: "image/avif,image/*,*/*;q=0.8", fetchDestination: "image" }, "part"],
    [{ accept: "text/css,*/*;q=0.1", fetchDestination: "style" }, "part"],
    [{ accept: "image/png" }, "part"],
    [{ accept: "text/html, application/json" }, "page"],
  ];
  for (const [change, expected] of cases)
    assert.equal(wants(words(change)), expected, JSON.stringify(change));
});

function answerTo(
  { method = "GET", ...change }: Partial<RequestWords> & { method?: string },
  { isJsonEnabled = true, keepsToken = false } = {},
): string {
  return waitingForm(method, wants(words(change)), { isJsonEnabled, keepsToken });
}

test("a waiting visitor's form is refused, and a program gets JSON unless that is switched off", () => {
  assert.equal(answerTo({ method: "POST", accept: CHROME }), "formRefused");
  assert.equal(answerTo({ method: "HEAD", accept: CHROME }), "page");
  assert.equal(answerTo({ accept: "application/json" }), "json");
  assert.equal(answerTo({ accept: "application/json" }, { isJsonEnabled: false }), "page");
  assert.equal(answerTo({ method: "PUT", accept: "application/json" }), "json");
  assert.equal(answerTo({ fetchDestination: "image", accept: "image/*" }), "plain");
});

test("a script of a page gets JSON that it can read, and a program that takes anything one plain line", () => {
  assert.equal(answerTo({ method: "POST", accept: "*/*", fetchDestination: "empty" }), "json");
  assert.equal(answerTo({ accept: "*/*", fetchDestination: "empty" }, { isJsonEnabled: false }), "plain");
  assert.equal(answerTo({ accept: "*/*" }), "plain");
  assert.equal(answerTo({ method: "POST", accept: "*/*" }), "plain");
  assert.equal(answerTo({ accept: "*/*" }, { keepsToken: true }), "json");
});

test("a place is for pages, for those who ask for JSON, and for programs that keep a token", () => {
  const canWait = (accept: string, programToken?: string) => {
    const facts = { ...{ method: "GET", url: "/", rawHeaders: [], socket: {}, now: 0, isUpgrade: false } };
    const carrier = { isSecure: false, cookie: undefined, programToken, fetchSite: undefined };
    return readAsking({ ...facts, headers: { accept }, isGone: () => false }, carrier, true).canWait;
  };
  assert.deepEqual(
    [CHROME, "application/json", "image/png", "*/*"].map((accept) => canWait(accept)),
    [true, true, false, false],
  );
  assert.ok(canWait("*/*", "new"));
});
