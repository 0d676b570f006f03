/**
 * What visitors meet at a site whose own proxy asks Fairgate, the same for every proxy. All proxies ask one gateway, where each
 * has rooms of its own, and each serves a site of its own. Visitors only go through the proxy.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ownFolder, type Run, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { freePort } from "../../src/testing/free-port.ts";
import { HttpVisitor } from "../../src/visitor/http-visitor.ts";
import type { Host, Places, StartHost } from "./hosts.ts";

export interface Kind {
  /** In lower case: it names its rooms. */
  readonly name: string;
  readonly start: StartHost;
  /** The status of the waiting page; Fairgate's default is 200. */
  readonly waitingStatus: 200 | 429;
  /** False: nobody gets in while Fairgate is away, whatever the setting. */
  readonly canFailOpen: boolean;
  /** The status for everyone while Fairgate is away. */
  readonly closedStatus: number;
}

/** One proxy and its site. */
interface Stage {
  readonly host: Host;
  readonly site: TestOrigin;
  /** Restarts the proxy. */
  again(other: Partial<Places>): Promise<Host>;
}

const LIMITS = { totalActiveUsers: 1, newUsersPerMinute: 6_000 };
/** Headers that some sites would take for Fairgate's, or for the requested path. */
const FORGED = {
  "fairgate-visitor": "forged",
  "fairgate-room": "forged",
  "fairgate-pass": "forged",
  fairgate_visitor: "forged",
  "x-original-url": "/forged",
  "x-original-uri": "/forged",
  "x-rewrite-url": "/forged",
  "x-script-name": "/forged",
  "x-path-info": "/forged",
};
const OFFICE = "203.0.113.9";

const hostAndPort = (address: string) => new URL(address).host;
const isSite = async (answer: Response) => (await answer.text()).includes("The shop");
const nobodyForged = (headers: object) => assert.doesNotMatch(JSON.stringify(headers), /forged/);

export function describeHosts(kinds: readonly Kind[]): void {
  // One after the other: at the end Fairgate is killed.
  describe("forward-auth", { concurrency: 1 }, () => {
    const parts = new AsyncDisposableStack();
    const stages = new Map<string, Stage>();
    let gate: Run;
    before(async () => {
      const folder = parts.use(ownFolder({ "fairgate.yaml": JSON.stringify(settingsFor(kinds)) }));
      gate = parts.use(await startRun(["--config", "fairgate.yaml"], { cwd: folder.path }));
      for (const kind of kinds) stages.set(kind.name, await openStage(kind, gate, parts));
    });
    after(() => parts.disposeAsync());

    describe("while Fairgate is there", { concurrency: kinds.length }, () => {
      for (const kind of kinds) visitorsOf(kind, () => stages.get(kind.name)!);
    });

    describe("without Fairgate", { concurrency: kinds.length }, () => {
      before(async () => void (await gate.child.end("SIGKILL")));
      for (const kind of kinds) withoutFairgate(kind, () => stages.get(kind.name)!);
    });
  });
}

function settingsFor(kinds: readonly Kind[]): object {
  const bypass = [{ name: "office", addresses: ["203.0.113.0/24"] }];
  const rooms = kinds.flatMap(({ name }) => [
    [name, { ...LIMITS, path: `/${name}`, newcomerDuration: "1d", bypass }],
    [`${name}-short`, { ...LIMITS, path: `/${name}/short`, sessionDuration: "1s" }],
    [`${name}-wide`, { totalActiveUsers: 1_000, path: `/${name}/wide` }],
  ]);
  return { forwardAuth: true, trustedProxies: ["127.0.0.1"], rooms: Object.fromEntries(rooms) };
}

async function openStage({ name, start }: Kind, gate: Run, parts: AsyncDisposableStack): Promise<Stage> {
  const site = parts.use(await TestOrigin.open());
  const [fairgate, origin] = [gate.address, site.address].map(hostAndPort) as [string, string];
  const places = {
    fairgate,
    site: origin,
    away: "closed",
    rooms: [name, `${name}-short`, `${name}-wide`],
  } as const;
  const host = parts.use(await start(places));
  return { site, host, again: (other) => start({ ...places, ...other }) };
}

/** Keeps cookies, and sees answers as `fetch` gives them: redirects, streams, and the proxy's changes. */
class Visitor extends HttpVisitor {
  readonly #address: string;

  constructor(address: string) {
    super(address);
    this.#address = address;
  }

  async fetch(
    path: string,
    options: RequestInit & { headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const headers = { accept: "text/html", ...options.headers, ...(this.cookie && { cookie: this.cookie }) };
    const answer = await fetch(`${this.#address}${path}`, { ...options, headers });
    this.keep(answer.headers.getSetCookie());
    return answer;
  }
}

function visitorsOf({ name, waitingStatus }: Kind, stage: () => Stage): void {
  // One after the other: each looks at the last requests to the site.
  describe(`a site behind ${name}`, { concurrency: 1 }, () => {
    const [path, wide, short] = [`/${name}`, `/${name}/wide`, `/${name}/short`];
    const newVisitor = () => new Visitor(stage().host.address);
    const arrived = () => stage().site.arrived.at(-1)!;
    const call = async (visitor: Visitor, endpoint: string) => {
      const answer = await visitor.fetch(`/.fairgate/${name}/${endpoint}`, { method: "POST" });
      return ((await answer.json()) as { status: string }).status;
    };

    test("with room, a visitor reaches the site and keeps a pass; the site knows who they are", async () => {
      const visitor = newVisitor();
      const first = await visitor.fetch(`${wide}/a%20b?x=1&y=%2F`, { headers: FORGED });
      assert.equal(first.status, 200);
      assert.ok(await isSite(first));
      assert.ok(visitor.cookie.startsWith(`fairgate_${name}-wide=`), "the cookie came through the proxy");
      assert.equal(arrived().path, `${wide}/a%20b?x=1&y=%2F`);
      const { headers } = arrived();
      assert.match(String(headers["fairgate-visitor"]), /^[0-9a-f]{32}$/);
      assert.equal(headers["fairgate-room"], `${name}-wide`);
      nobodyForged(headers);
      // On its first return a visit becomes a full one; after that no new cookie is set.
      assert.ok(await isSite(await visitor.fetch(wide)));
      const again = await visitor.fetch(wide);
      assert.ok(await isSite(again));
      assert.deepEqual(again.headers.getSetCookie(), []);
      assert.equal(again.headers.get("fairgate-token"), null);
      assert.equal(arrived().headers["fairgate-visitor"], headers["fairgate-visitor"]);
    });

    test("a program keeps its visit in a header, which never reaches the site", async () => {
      let token = "new";
      const comeIn = async () => {
        for (let tries = 0; tries < 4; tries++) {
          const headers = { accept: "application/json", "fairgate-token": token };
          const answer = await fetch(`${stage().host.address}${wide}/api`, { headers });
          token = answer.headers.get("fairgate-token") ?? token;
          if (answer.status === 200) return arrived().headers;
          assert.equal(answer.status, 429);
        }
        throw new Error("it never came in");
      };
      const first = await comeIn();
      assert.match(token, /.{40}/);
      const second = await comeIn();
      assert.equal(second["fairgate-visitor"], first["fairgate-visitor"]);
      assert.equal(second["fairgate-token"], undefined);
    });

    test("a form of someone on the site arrives whole, with its method", async () => {
      const visitor = newVisitor();
      await visitor.fetch(wide);
      const body = `seat=7&note=${"x".repeat(200_000)}`;
      const answer = await visitor.fetch(`${wide}/buy?a=b`, { method: "POST", body });
      assert.match(await answer.text(), /Bought/);
      assert.deepEqual([arrived().method, arrived().path], ["POST", `${wide}/buy?a=b`]);
      assert.equal(arrived().body, body);
    });

    test("a visitor who must wait gets the waiting page at the same address, and is admitted in turn", async () => {
      const [inside, outside] = [newVisitor(), newVisitor()];
      assert.ok(await isSite(await inside.fetch(path)));
      const before = stage().site.arrived.length;
      const page = await outside.fetch(`${path}/row?r=4`, { headers: FORGED, redirect: "manual" });
      assert.equal(page.status, waitingStatus);
      assert.match(await page.text(), /You are next/);
      assert.equal(page.headers.get("cache-control"), "no-store");
      assert.ok(outside.cookie.startsWith(`fairgate_${name}=`));
      const form = await outside.fetch(`${path}/buy`, { method: "POST", body: "seat=7" });
      assert.equal(form.status, 429);
      assert.match(await form.text(), /not sent/);
      const json = await outside.fetch(`${path}/api`, { headers: { accept: "application/json" } });
      assert.equal(json.status, 429);
      assert.equal(((await json.json()) as { ahead: number }).ahead, 0);
      assert.equal((await outside.fetch(path, { method: "HEAD" })).status, waitingStatus);
      assert.equal(await call(outside, "check-in"), "waiting");
      await hearsOfTheBoard(outside);
      assert.equal(stage().site.arrived.length, before, "the site heard nothing of this");
      assert.equal(await call(inside, "leave"), "left");
      await eventually("the turn", async () => isSite(await outside.fetch(`${path}/row?r=4`)));
      assert.equal(arrived().path, `${path}/row?r=4`);
      assert.match(await (await inside.fetch(path)).text(), /You are next/);
    });

    /** An event stream arrives as it is sent. */
    const hearsOfTheBoard = async (visitor: Visitor) => {
      const ending = new AbortController();
      const stream = await visitor.fetch(`/.fairgate/${name}/events`, { signal: ending.signal });
      assert.match(stream.headers.get("content-type") ?? "", /event-stream/);
      const { value } = await stream.body!.getReader().read();
      assert.match(new TextDecoder().decode(value), /event: board/);
      ending.abort();
    };

    test("a visit that is not renewed expires, and the next visitor is admitted", async () => {
      const [first, second] = [newVisitor(), newVisitor()];
      assert.ok(await isSite(await first.fetch(short)));
      await eventually("the visit's end", async () => isSite(await second.fetch(short)));
      assert.notEqual(first.cookie, second.cookie);
    });

    test("nobody can pose as the proxy or as another address, and a path has one meaning", async () => {
      const forged = {
        ...{ "x-forwarded-method": "GET", "x-forwarded-uri": wide, "x-forwarded-host": "elsewhere" },
        ...{ "x-original-method": "GET", "x-original-uri": wide, "x-forwarded-for": OFFICE },
      };
      const before = stage().site.arrived.length;
      for (const dialect of ["nginx", "caddy", "haproxy", "traefik", `envoy${wide}`]) {
        const answer = await newVisitor().fetch(`/.fairgate/auth/${dialect}`, { headers: forged });
        assert.equal(answer.status, 404, dialect);
        assert.equal(answer.headers.get("set-cookie"), null);
      }
      // A visitor is inside: the visit of the test before the previous one goes on.
      const elsewhere = await newVisitor().fetch(`${path}/row`, { headers: forged });
      assert.match(await elsewhere.text(), /ahead of you|You are next/, "path and address are the real ones");
      const odd = await newVisitor().fetch(`/${wide}/x?a=1`, { redirect: "manual" });
      assert.equal(odd.status, 308);
      const { href } = new URL(odd.headers.get("location")!, stage().host.address);
      assert.equal(href, `${stage().host.address}${wide}/x?a=1`);
      assert.equal(stage().site.arrived.length, before);
    });

    test("a site that is down is not mistaken for a Fairgate that is down", async () => {
      const nobody = `127.0.0.1:${await freePort()}`;
      for (const away of ["closed", "open"] as const) {
        await using lonely = await stage().again({ site: nobody, away });
        const answer = await new Visitor(lonely.address).fetch(wide, { method: "POST", body: "seat=7" });
        assert.ok(answer.status === 502 || answer.status === 503, String(answer.status));
        assert.doesNotMatch(await answer.text(), /waiting room/);
      }
    });
  });
}

function withoutFairgate({ name, canFailOpen, closedStatus }: Kind, stage: () => Stage): void {
  const path = `/${name}/wide?a=1`;
  const form = { method: "POST", body: "seat=7", headers: FORGED };
  describe(`a site behind ${name}`, { concurrency: 1 }, () => {
    test("nobody gets to the site", async () => {
      const { host, site } = stage();
      const before = site.arrived.length;
      const answer = await new Visitor(host.address).fetch(path, form);
      assert.equal(answer.status, closedStatus);
      assert.equal(site.arrived.length, before);
    });

    if (!canFailOpen) return;
    test("everybody gets to the site, where that is set", async () => {
      const { again, site } = stage();
      await using open = await again({ away: "open" });
      const answer = await new Visitor(open.address).fetch(path, form);
      assert.equal(answer.status, 200);
      const arrived = site.arrived.at(-1)!;
      assert.deepEqual([arrived.method, arrived.path, arrived.body], ["POST", path, "seat=7"]);
      nobodyForged(arrived.headers);
    });
  });
}
