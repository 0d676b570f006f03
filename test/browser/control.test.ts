/** The control address in a real browser: the demo's page as it looks, and that a page elsewhere can do nothing with a login. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { ownFolder, startRun, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { startDemo } from "../cli/start-demo.ts";

const SETTINGS = `
origin: { addresses: ["http://127.0.0.1:9"] }
rooms: { main: { totalActiveUsers: 5 } }
`;

let browser: Browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

test("the demo's control page: readable, loads itself again, nothing for axe to find", async () => {
  await using demo = await startDemo(["--port", "0", "--crowd", "12"]);
  for (const [name, options] of [
    ["demo-control", {}],
    ["demo-control-phone", { viewport: { width: 390, height: 844 }, colorScheme: "dark" }],
  ] as const) {
    await using person = await Person.sitDown(browser, demo.control, options);
    await person.open();
    await person.page.getByRole("cell", { name: "queueing" }).waitFor();
    await person.screenshot(name);
    const isTooWide = "document.documentElement.scrollWidth > innerWidth";
    assert.equal(await person.page.evaluate(isTooWide), false);
    const { loads } = person;
    await person.page.waitForEvent("load");
    assert.ok(person.loads > loads);
    await person.page.getByRole("link", { name: "Let it stand still" }).click();
    await person.page.getByText("stands still").waitFor();
    assert.deepEqual(await person.violations(), []);
    assert.deepEqual(person.faults, []);
  }
});

test("with a login in the browser, a page elsewhere changes nothing, and reads and frames nothing", async () => {
  using folder = ownFolder({ "fairgate.yaml": SETTINGS });
  await using run = await startRun([], { cwd: folder.path });
  // In between, so that the test sees what the browser sends by itself.
  const sent: string[] = [];
  const between = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    sent.push(`${method} ${url} ${headers.authorization?.split(" ")[0] ?? "nothing"}`);
    const onward = request(run.control.address + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  const control = await listening(between);
  const forms = ["/rooms/main/pause", "/keys/rotate", "/"].map(
    (path) => `<form method="post" action="${control}${path}"><button>${path}</button></form>`,
  );
  const evil = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(
      `<!doctype html><img src="${control}/"><iframe src="${control}/"></iframe>${forms.join("")}`,
    );
  });
  const elsewhere = await listening(evil);
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(control.replace("//", `//me:${TOKEN}@`));
    await page.getByRole("rowheader", { name: "main" }).waitFor();
    for (const path of ["/rooms/main/pause", "/keys/rotate", "/"]) {
      await page.goto(elsewhere);
      const read = `fetch("${control}/rooms", { credentials: "include" }).then((a) => a.text(), () => "refused")`;
      assert.equal(await page.evaluate(read), "refused");
      assert.equal(await page.evaluate("document.images[0].naturalWidth"), 0);
      await page.getByRole("button", { name: path, exact: true }).click();
      await page.getByText("password_for_page").waitFor();
      // This proves something only if the browser did send the login.
      assert.ok(sent.includes(`POST ${path} Basic`), sent.join("\n"));
    }
    const { body } = await run.control.ask<{ rooms: { paused: boolean }[] }>("GET", "/rooms");
    assert.equal(body.rooms[0]!.paused, false);
    await page.goto(control);
    await page.getByRole("rowheader", { name: "main" }).waitFor();
  } finally {
    await context.close();
    for (const server of [evil, between]) {
      server.close();
      server.closeAllConnections();
    }
  }
});

async function listening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
