import assert from "node:assert/strict";
import { test } from "node:test";
import { roomSchema } from "../config/schema.ts";
import { createRouter } from "./route.ts";

const rooms = (
  routes: Record<
    string,
    { host?: string; path?: string; additionalRoutes?: { host?: string; path?: string }[] }
  >,
) =>
  createRouter(
    Object.fromEntries(Object.entries(routes).map(([name, route]) => [name, roomSchema.parse(route)])),
  );

test("the longest path wins, by whole segments", () => {
  const router = rooms({ all: {}, shop: { path: "/shop" }, tickets: { path: "/shop/tickets" } });
  const expected = {
    "/": "all",
    "/shop": "shop",
    "/shop/": "shop",
    "/shop?x=/shop/tickets": "shop",
    "/shop/tickets/7": "tickets",
    "/shopping": "all",
  };
  for (const [url, room] of Object.entries(expected)) assert.equal(router.match("a.example", url), room, url);
});

test("host matters before path, exact before wildcard before every host, without regard to case or port", () => {
  const router = rooms({
    any: { path: "/very/long/path" },
    wild: { host: "*.example.com" },
    deep: { host: "*.eu.example.com" },
    exact: { host: "shop.example.com", additionalRoutes: [{ host: "www.example.org", path: "/sale" }] },
  });
  assert.equal(router.match("SHOP.Example.COM:8443", "/"), "exact");
  assert.equal(router.match("shop.example.com.", "/x"), "exact");
  assert.equal(router.match("www.example.com", "/very/long/path"), "wild");
  assert.equal(router.match("a.eu.example.com", "/"), "deep");
  assert.equal(router.match("example.com", "/very/long/path/1"), "any");
  assert.equal(router.match("example.com", "/"), null);
  assert.equal(router.match("www.example.org", "/sale/1"), "exact");
  assert.equal(router.match("www.example.org", "/other"), null);
});

test("no spelling of a path slips past the room", () => {
  const router = rooms({ tickets: { path: "/tickets" } });
  for (const url of [
    "/tickets",
    "/Tickets",
    "/%74ickets",
    "/%54ICKETS",
    "//tickets",
    "/./tickets",
    "/x/../tickets",
    "/x%2f..%2ftickets",
    "/tickets%2F1",
    "/tickets;v=1",
    "/\\tickets",
    "/x\\..\\tickets",
    "/tickets?a",
    "/tickets#a",
    "/x/..;/tickets",
    "/tickets/..;/x",
    "/tickets;v=1/seat",
    "/tickets/a%2f..%2f..%2fx",
  ]) {
    assert.equal(router.match("h", url), "tickets", url);
  }
  for (const url of ["/", "/ticket", "/ticketsale", "/x/tickets", "/?/tickets"])
    assert.equal(router.match("h", url), null, url);
});

test("an address that cannot be read belongs to the widest room", () => {
  const router = rooms({ all: {}, shop: { path: "/shop" } });
  for (const url of ["", "*", "http://[", "/%zz", "/\0"]) assert.equal(router.match("", url), "all", url);
});

test("a match tells its route and how the path was read", () => {
  const router = rooms({
    shop: { host: "*.example", path: "/Sale", additionalRoutes: [{ path: "/" }] },
  });
  assert.deepEqual(router.find("a.example", "/x/..%2fSALE/1?y"), {
    room: "shop",
    route: { host: "*.example", path: "/Sale" },
    reading: "/sale/1",
  });
  assert.deepEqual(router.find("elsewhere", "/?y"), {
    room: "shop",
    route: { host: null, path: "/" },
    reading: "/",
  });
  assert.equal(rooms({ sale: { path: "/sale" } }).find("a", "/sales"), null);
});

test("a match with its reason is the same match", () => {
  const router = rooms({ only: {} });
  const several = rooms({ a: { path: "/a" }, ab: { path: "/a/b" }, host: { host: "h.example" } });
  for (const host of ["h.example", "other"])
    for (const url of ["/", "/a", "/a/b/c", "/b/../a", "/a%2fb", "*", ""]) {
      assert.equal(router.find(host, url)?.room ?? null, router.match(host, url), url);
      assert.equal(several.find(host, url)?.room ?? null, several.match(host, url), url);
    }
});
