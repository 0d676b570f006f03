/**
 * What a visitor meets at a site whose own proxy asks Fairgate, whichever proxy that is. One gateway, one site and one
 * proxy for all cases of a kind of proxy; visitors go through the proxy alone.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ownFolder, type Run, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { Visitor } from "../../src/testing/cli/visitor.ts";
import type { Host, StartHost } from "./hosts.ts";

export interface Kind {
  readonly name: string;
  readonly start: StartHost;
  /** The status of the waiting page, which Fairgate gives 200 by itself. */
  readonly waitingStatus: 200 | 429;
  /** False: nobody gets in while Fairgate is away, whatever is set. */
  readonly canFailOpen: boolean;
  /** The status for everybody while Fairgate is away. */
  readonly closedStatus: number;
}

const LIMITS = { totalActiveUsers: 1, newUsersPerMinute: 6_000 };
const SETTINGS = {
  forwardAuth: true,
  trustedProxies: ["127.0.0.1"],
  rooms: {
    main: { ...LIMITS, sessionDuration: "30m", newcomerDuration: "30m" },
    short: { ...LIMITS, path: "/short", sessionDuration: "1s", newcomerDuration: "1s" },
    wide: { totalActiveUsers: 1_000, path: "/wide" },
  },
};
/** Names by which some sites know a header. */
const FORGED = {
  "fairgate-visitor": "forged",
  "fairgate-room": "forged",
  "fairgate-pass": "forged",
  fairgate_visitor: "forged",
};

export function describeHost({ name, start, waitingStatus, canFailOpen, closedStatus }: Kind): void {
  // One after the other: they share the gateway, and look at what came last.
  describe(`a site behind ${name}`, { concurrency: 1 }, () => {
    const parts = new AsyncDisposableStack();
    let gate: Run;
    let site: TestOrigin;
    let host: Host;
    const place = (address: string) => new URL(address).host;

    before(async () => {
      site = parts.use(await TestOrigin.open());
      const folder = parts.use(ownFolder({ "fairgate.yaml": JSON.stringify(SETTINGS) }));
      gate = parts.use(await startRun(["--config", "fairgate.yaml"], { cwd: folder.path }));
      host = parts.use(
        await start({ fairgate: place(gate.address), site: place(site.address), away: "closed" }),
      );
    });
    after(() => parts.disposeAsync());

    const newVisitor = () => new Visitor(host.address);
    const isSite = async (answer: Response) => (await answer.text()).includes("The shop");
    /** An event stream comes through as it is sent. */
    const hearsOfTheBoard = async (visitor: Visitor) => {
      const ending = new AbortController();
      const stream = await visitor.fetch("/.fairgate/main/events", { signal: ending.signal });
      assert.match(stream.headers.get("content-type") ?? "", /event-stream/);
      const { value } = await stream.body!.getReader().read();
      assert.match(new TextDecoder().decode(value), /event: board/);
      ending.abort();
    };
    const nobodyForged = (headers: object) => assert.doesNotMatch(JSON.stringify(headers), /forged/);

    test("with room, a visitor reaches the site and keeps a pass; the site knows who they are", async () => {
      const visitor = newVisitor();
      const first = await visitor.fetch("/wide/a%20b?x=1&y=%2F", { headers: FORGED });
      assert.equal(first.status, 200);
      assert.ok(await isSite(first));
      assert.match(visitor.cookie, /^fairgate_wide=/, "the cookie came through the proxy");
      const { path, headers } = site.arrived.at(-1)!;
      assert.equal(path, "/wide/a%20b?x=1&y=%2F");
      assert.match(String(headers["fairgate-visitor"]), /^[0-9a-f]{32}$/);
      assert.equal(headers["fairgate-room"], "wide");
      nobodyForged(headers);
      assert.ok(await isSite(await visitor.fetch("/wide")));
      assert.equal(site.arrived.at(-1)!.headers["fairgate-visitor"], headers["fairgate-visitor"]);
    });

    test("a form of someone on the site arrives whole, with its method", async () => {
      const visitor = newVisitor();
      await visitor.fetch("/wide");
      const body = `seat=7&note=${"x".repeat(200_000)}`;
      const answer = await visitor.fetch("/wide/buy?a=b", { method: "POST", body });
      assert.match(await answer.text(), /Bought/);
      const arrived = site.arrived.at(-1)!;
      assert.deepEqual([arrived.method, arrived.path], ["POST", "/wide/buy?a=b"]);
      assert.equal(arrived.body, body);
    });

    test("who must wait gets the page where they are, and is let in when it is their turn", async () => {
      const [inside, outside] = [newVisitor(), newVisitor()];
      assert.ok(await isSite(await inside.fetch("/tickets")));
      const before = site.arrived.length;
      const page = await outside.fetch("/tickets?row=4", { headers: FORGED, redirect: "manual" });
      assert.equal(page.status, waitingStatus);
      assert.match(await page.text(), /You are next/);
      assert.equal(page.headers.get("cache-control"), "no-store");
      assert.match(outside.cookie, /^fairgate_main=/);
      const form = await outside.fetch("/buy", { method: "POST", body: "seat=7" });
      assert.equal(form.status, 429);
      assert.match(await form.text(), /not sent/);
      const json = await outside.fetch("/api", { headers: { accept: "application/json" } });
      assert.equal(json.status, 429);
      assert.equal(((await json.json()) as { ahead: number }).ahead, 0);
      const head = await outside.fetch("/tickets", { method: "HEAD" });
      assert.equal(head.status, waitingStatus);
      assert.equal((await outside.post("check-in")).status, "waiting");
      await hearsOfTheBoard(outside);
      assert.equal(site.arrived.length, before, "the site heard nothing of this");
      assert.equal((await inside.post("leave")).status, "left");
      await eventually("the turn", async () => isSite(await outside.fetch("/tickets?row=4")));
      assert.equal(site.arrived.at(-1)!.path, "/tickets?row=4");
      const again = await inside.fetch("/tickets");
      assert.match(await again.text(), /You are next/);
    });

    test("a visit that nobody renews runs out, and the next is let in", async () => {
      const [first, second] = [newVisitor(), newVisitor()];
      assert.ok(await isSite(await first.fetch("/short")));
      await eventually("the visit's end", async () => isSite(await second.fetch("/short")));
      assert.notEqual(first.cookie, second.cookie);
    });

    test("nobody asks in the proxy's place, and a path has one meaning", async () => {
      const forged = {
        ...{ "x-forwarded-method": "GET", "x-forwarded-uri": "/wide", "x-forwarded-host": "elsewhere" },
        ...{ "x-original-method": "GET", "x-original-uri": "/wide", "x-forwarded-for": "203.0.113.9" },
      };
      for (const dialect of ["nginx", "caddy", "haproxy", "traefik", "envoy/wide"]) {
        const answer = await newVisitor().fetch(`/.fairgate/auth/${dialect}`, { headers: forged });
        assert.equal(answer.status, 404, dialect);
        assert.equal(answer.headers.get("set-cookie"), null);
      }
      const visitor = newVisitor();
      await visitor.fetch("/wide");
      const before = site.arrived.length;
      const elsewhere = await visitor.fetch("/main-line", { headers: forged });
      assert.match(
        await elsewhere.text(),
        /You are next|ahead of you/,
        "the path is the one that was asked for",
      );
      const odd = await visitor.fetch("//wide/x?a=1", { redirect: "manual" });
      assert.equal(odd.status, 308);
      assert.equal(new URL(odd.headers.get("location")!, host.address).href, `${host.address}/wide/x?a=1`);
      assert.equal(site.arrived.length, before);
    });

    test("without Fairgate nobody gets in, or everybody does, as the proxy is set", async () => {
      const visitor = newVisitor();
      await visitor.fetch("/wide");
      await gate.child.end("SIGKILL");
      const before = site.arrived.length;
      const answer = await visitor.fetch("/wide", { headers: FORGED });
      assert.equal(answer.status, closedStatus);
      assert.equal(site.arrived.length, before);
      if (!canFailOpen) return;
      const away = { fairgate: place(gate.address), site: place(site.address), away: "open" } as const;
      await using open = await start(away);
      const passing = new Visitor(open.address);
      const passed = await passing.fetch("/wide?a=1", { method: "POST", body: "seat=7", headers: FORGED });
      assert.equal(passed.status, 200);
      const arrived = site.arrived.at(-1)!;
      assert.deepEqual([arrived.method, arrived.path, arrived.body], ["POST", "/wide?a=1", "seat=7"]);
      nobodyForged(arrived.headers);
    });
  });
}
