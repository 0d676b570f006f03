/** Through the whole gateway: a slow upload is refused in the visitor's language, counted, and new limits hold at once. */
import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { openStage } from "../../testing/gateway/stage.ts";
import { until } from "../../testing/until.ts";

const SLOW =
  "POST / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nAccept-Language: de\r\nContent-Length: 1000\r\n\r\nabc";

test("a slow upload gets 408 in the visitor's language, is counted, and never reaches the site", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 10 } });
  const socket = net.connect(stage.port, "127.0.0.1");
  t.after(() => socket.destroy());
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk)).on("error", () => {});
  socket.write(SLOW);
  await until(() => stage.underWay() === 1, "the upload");
  await stage.proxied.configure(stage.settings({ settings: { limits: { paceWindow: "2s" } } }));
  await until(() => {
    stage.world.pass(1_000);
    return heard.includes("</html>");
  }, "the refusal");
  assert.match(heard, /^HTTP\/1\.1 408 [\s\S]*Das hat zu lange gedauert/);
  assert.equal(stage.origin.seen.length, 0);
  assert.deepEqual({ ...stage.proxied.gateway.traffic.slowCut }, { body: 1 });
});
