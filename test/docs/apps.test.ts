/** The code of docs/apps.md, as it stands there except for shorter pauses, in a browser before a real gateway. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { type TestContext, test } from "node:test";
import { openBrowser } from "../../src/testing/browser.ts";
import { openOrigin, openStage } from "../../src/testing/gateway/stage.ts";
import { until } from "../../src/testing/until.ts";
import { blocksOf } from "./blocks.ts";

const DOCUMENT = readFileSync(new URL("../../docs/apps.md", import.meta.url), "utf8");

const APP_PAGE = '<!doctype html><link rel="icon" href="data:,"><p id="line">';

const appPage: RequestListener = (_request, response) => {
  response.setHeader("content-type", "text/html").end(APP_PAGE);
};

/** The first block that contains these words. */
function blockWith(words: string): string {
  const block = blocksOf(DOCUMENT).find(({ text }) => text.includes(words));
  assert.ok(block, words);
  return block.text;
}

const WRAPPER = blockWith("/** Makes a call.").replace("(resolve, ms)", "(resolve, Math.min(ms, 20))");

/** A site with the app's modules and its page. Every other address is its API, which records its callers. */
async function openApp(t: TestContext, files: Readonly<Record<string, string>>) {
  const calls: string[] = [];
  const origin = await openOrigin(t, (request, response) => {
    const path = request.url!;
    const script = files[path];
    if (script !== undefined) return void response.setHeader("content-type", "text/javascript").end(script);
    if (path === "/") return appPage(request, response);
    calls.push(`${request.method} ${path}`);
    response.setHeader("content-type", "application/json").end('"the site"');
  });
  return { origin, calls };
}

test("a fetch of an app on another host waits in line, shows it, and makes the same call when it is its turn", async (t) => {
  const source = WRAPPER.replace("export ", "");
  const app = await openOrigin(t, appPage);
  const sold: string[] = [];
  const origin = await openOrigin(t, async (request, response) => {
    response.setHeader("access-control-allow-origin", app.address);
    response.setHeader("access-control-allow-credentials", "true");
    response
      .setHeader("access-control-allow-methods", "PUT")
      .setHeader("access-control-allow-headers", "x-own");
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.method === "PUT") sold.push(`${request.headers["x-own"]} ${body}`);
    response.end("the site");
  });
  const stage = await openStage(t, { origin, room: { corsOrigins: [app.address] } });
  const occupant = await stage.occupant();
  await using browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(app.address);
  const call = `patientFetch("http://127.0.0.1:${stage.port}/api/seats",
    { method: "PUT", headers: { "x-own": "1" }, body: "seat 7" },
    ({ status }) => { document.querySelector("#line").textContent += status + " "; })`;
  const done = page.evaluate(
    `(() => { ${source}; return ${call}.then((answer) => answer.text(), String); })()`,
  );
  await until(async () => (await stage.engine.counts("main")).waiting === 1, "a place in the line");
  assert.deepEqual(sold, []);
  await occupant.call("leave");
  await until(() => {
    stage.world.pass(1_000);
    return sold.length > 0;
  }, "the call");
  assert.equal(await done, "the site");
  assert.deepEqual(sold, ["1 seat 7"]);
  assert.match(await page.locator("#line").innerText(), /^waiting .*entered$/);
});

test("a call by the page shows the line in the page, and the check-in makes the first page a full visit", async (t) => {
  const files = { "/patient-fetch.js": WRAPPER, "/usage.js": blockWith('document.querySelector("#line")') };
  const { origin, calls } = await openApp(t, files);
  const stage = await openStage(t, { origin, room: { totalActiveUsers: 1 } });
  await using browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${stage.port}/`);
  await page.evaluate(blockWith("/check-in").trim().replace(/;$/, ".then((answer) => answer.json())"));
  // A first visit would have ended by now.
  stage.world.pass(90_000);
  assert.equal((await stage.engine.counts("main")).onSite, 1);
  await page.evaluate(`fetch("/.fairgate/main/leave", { method: "POST" })`);
  const occupant = stage.visitor();
  await occupant.open();
  // The modules belong to the app and come from a host without a line.
  await page.route(/\.js$/, (route) => {
    const file = files[new URL(route.request().url()).pathname as keyof typeof files];
    return route.fulfill({ contentType: "text/javascript", body: file });
  });
  await page.setContent(`<p id="line"></p>`);
  await page.addScriptTag({ url: "/usage.js", type: "module" });
  await page.getByText("0 people ahead of you").waitFor();
  assert.deepEqual(calls, []);
  await occupant.call("leave");
  await until(() => {
    stage.world.pass(1_000);
    return calls.length > 0;
  }, "the call");
  assert.deepEqual(calls, ["POST /api/seats"]);
  await until(async () => (await page.locator("#line").innerText()) === "", "the end of the line");
});

test("an app that keeps its token itself is one visitor, in the line and on the site, even with concurrent calls", async (t) => {
  const app = await openOrigin(t, appPage);
  const calls: string[] = [];
  const origin = await openOrigin(t, (request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.setHeader("access-control-allow-origin", app.address).end("the site");
  });
  const stage = await openStage(t, { origin, room: { totalActiveUsers: 1, corsOrigins: [app.address] } });
  const occupant = await stage.occupant();
  calls.length = 0;
  await using browser = await openBrowser();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(app.address);
  const site = `http://127.0.0.1:${stage.port}`;
  const source = [WRAPPER, blockWith("/** Fetches with the token")].join("\n").replaceAll("export ", "");
  const done = page.evaluate(`(() => { ${source};
    const call = (path) => patientFetch("${site}" + path, {}, () => {}, fetchWithToken).then((answer) => answer.text());
    return Promise.all([call("/a"), call("/b"), call("/c")]); })()`);
  await until(async () => (await stage.engine.counts("main")).waiting === 1, "a place in the line");
  assert.deepEqual(calls, []);
  await occupant.call("leave");
  await until(() => {
    stage.world.pass(1_000);
    return calls.length === 3;
  }, "the calls");
  assert.deepEqual(await done, ["the site", "the site", "the site"]);
  const { onSite, waiting, totals } = await stage.engine.counts("main");
  assert.deepEqual([onSite, waiting, totals.joined], [1, 0, 2]);
  assert.deepEqual(await context.cookies(), []);
});

test("a server action of Next.js waits through the page's own fetch, which shows the line", async (t) => {
  const { origin, calls } = await openApp(t, {});
  const stage = await openStage(t, { origin, room: { totalActiveUsers: 1 } });
  await using browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${stage.port}/`);
  await page.evaluate(`fetch("/.fairgate/main/leave", { method: "POST" })`);
  const occupant = stage.visitor();
  await occupant.open();
  const source = [WRAPPER, blockWith("const plain = window.fetch")].join("\n");
  await page.evaluate(`globalThis.told = []; addEventListener("line", ({ detail }) => told.push(detail.status));
    ${source.replaceAll(/^import .*$/gm, "").replaceAll("export ", "")}`);
  const done =
    page.evaluate(`fetch("/", { method: "POST", headers: { "next-action": "1", accept: "text/x-component" } })
    .then((answer) => answer.text())`);
  await until(async () => (await stage.engine.counts("main")).waiting === 1, "a place in the line");
  await occupant.call("leave");
  await until(() => {
    stage.world.pass(1_000);
    return calls.length > 0 || stage.origin.seen.some(({ method }) => method === "POST");
  }, "the action");
  assert.match((await done) as string, /line/);
  assert.match(((await page.evaluate("told")) as string[]).join(" "), /^waiting .*entered$/);
});
