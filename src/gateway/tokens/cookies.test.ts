import assert from "node:assert/strict";
import { test } from "node:test";
import { createRoomCookie, readCookie } from "./cookies.ts";

test("a cookie is found by its whole name only", () => {
  assert.equal(readCookie("a=1; fairgate_main=tok; b=2", "fairgate_main"), "tok");
  assert.equal(readCookie("xfairgate_main=no;fairgate_main=yes", "fairgate_main"), "yes");
  assert.equal(readCookie("fairgate_main2=no; q=fairgate_main", "fairgate_main"), null);
  assert.equal(readCookie("fairgate_main=", "fairgate_main"), "");
  assert.equal(readCookie("", "fairgate_main"), null);
});

test("a cookie inside another's value is none, so the writer of that value cannot replace it", () => {
  assert.equal(readCookie("q=a fairgate_main=no; fairgate_main=yes", "fairgate_main"), "yes");
  assert.equal(readCookie('q="a fairgate_main=no"', "fairgate_main"), null);
  assert.equal(readCookie("a=1; \t fairgate_main=yes", "fairgate_main"), "yes");
});

test("over https the cookie is secure and bound to the host, over http it has a plain name", () => {
  const cookie = createRoomCookie("main", { sameSite: "lax", secure: "auto" });
  assert.equal(
    cookie.give("tok", 1_500, true),
    "__Host-fairgate_main=tok; Max-Age=2; Path=/; HttpOnly; SameSite=Lax; Secure",
  );
  assert.equal(
    cookie.give("tok", 1_000, false),
    "fairgate_main=tok; Max-Age=1; Path=/; HttpOnly; SameSite=Lax",
  );
  assert.equal(cookie.drop(false), "fairgate_main=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax");
});

test("a plain cookie is not believed on https, where a neighbour site could have set it", () => {
  const cookie = createRoomCookie("main", { sameSite: "lax", secure: "auto" });
  assert.equal(cookie.read("fairgate_main=tok", true), null);
  assert.equal(cookie.read("__Host-fairgate_main=tok", true), "tok");
});

test("secure may be forced either way", () => {
  const always = createRoomCookie("main", { sameSite: "none", secure: "always" });
  assert.match(always.give("tok", 1_000, false), /^__Host-.*SameSite=None; Secure$/);
  const never = createRoomCookie("main", { sameSite: "strict", secure: "never" });
  assert.match(never.give("tok", 1_000, true), /^fairgate_main=.*SameSite=Strict$/);
});
