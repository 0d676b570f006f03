/** The code of docs/apps.md, as it stands there but for shorter pauses, in a browser before a real gateway. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { test } from "node:test";
import { openBrowser } from "../../src/testing/browser.ts";
import { openOrigin, openStage } from "../../src/testing/gateway/stage.ts";
import { until } from "../../src/testing/until.ts";
import { blocksOf } from "./blocks.ts";

const DOCUMENT = readFileSync(new URL("../../docs/apps.md", import.meta.url), "utf8");

const appPage: RequestListener = (_request, response) => {
  response
    .setHeader("content-type", "text/html")
    .end('<!doctype html><link rel="icon" href="data:,"><p id="line">');
};

test("a fetch of an app on another host waits in line, shows it, and makes the same call when it is its turn", async (t) => {
  const [wrapper] = blocksOf(DOCUMENT).filter(({ text }) => text.startsWith("/** Makes a call."));
  const source = wrapper!.text.replace("export ", "").replace("(resolve, ms)", "(resolve, Math.min(ms, 20))");
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
