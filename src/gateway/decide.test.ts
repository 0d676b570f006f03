import assert from "node:assert/strict";
import { test } from "node:test";
import { type RequestWords, waitingAnswer, wants } from "./decide.ts";

const CHROME = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";
const words = (change: Partial<RequestWords>): RequestWords => ({
  method: "GET",
  accept: undefined,
  fetchDestination: undefined,
  ...change,
});

test("what a request wants follows from its words", () => {
  const cases: [Partial<RequestWords>, string][] = [
    [{ accept: CHROME, fetchDestination: "document" }, "page"],
    [{ accept: CHROME }, "page"],
    [{ accept: "*/*" }, "page"],
    [{}, "page"],
    [{ accept: CHROME, fetchDestination: "iframe" }, "page"],
    [{ accept: "application/json" }, "json"],
    [{ accept: "application/json, text/plain, */*", fetchDestination: "empty" }, "json"],
    [{ accept: "application/json", fetchDestination: "empty" }, "json"],
    [{ accept: "*/*", fetchDestination: "empty" }, "part"],
    [{ accept: "image/avif,image/*,*/*;q=0.8", fetchDestination: "image" }, "part"],
    [{ accept: "text/css,*/*;q=0.1", fetchDestination: "style" }, "part"],
    [{ accept: "image/png" }, "part"],
    [{ accept: "text/html, application/json" }, "page"],
  ];
  for (const [change, expected] of cases)
    assert.equal(wants(words(change)), expected, JSON.stringify(change));
});

test("a waiting visitor's form is refused, and a program gets JSON unless that is switched off", () => {
  assert.equal(waitingAnswer(words({ method: "POST", accept: CHROME }), true), "formRefused");
  assert.equal(waitingAnswer(words({ method: "HEAD" }), true), "page");
  assert.equal(waitingAnswer(words({ accept: "application/json" }), true), "json");
  assert.equal(waitingAnswer(words({ accept: "application/json" }), false), "page");
  assert.equal(waitingAnswer(words({ method: "PUT", accept: "application/json" }), true), "json");
  assert.equal(waitingAnswer(words({ fetchDestination: "image", accept: "image/*" }), true), "plain");
});
