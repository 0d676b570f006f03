/**
 * `fairgate demo`: a small slow shop, the gateway in front of it with the stock behind the shop, a pretend payment provider, and a
 * crowd that buys, all on this machine. Open the address in a browser to stand in the line and buy yourself. Ctrl-C stops
 * everything.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatHostPort } from "../../config/kinds.ts";
import type { Counts, Engine } from "../../core/engine.ts";
import { waitOn } from "../../core/wait-curve.ts";
import type { World } from "../../core/world.ts";
import { nodeWorld } from "../../node.ts";
import { type Running, serve } from "../serve.ts";
import { onStopSignals } from "../stop-signals.ts";
import { sendCrowd } from "./crowd.ts";
import { DEMO_LIMITS, demoSettings } from "./scene.ts";
import { openShop } from "./shop.ts";
import { type DemoScene, DemoView } from "./view.ts";

const PORTS_TRIED_MAX = 20;
const DRAW_PERIOD_MS = 1_000;

export async function demo(options: { port: string; crowd: string }): Promise<void> {
  const port = wholeNumber("--port", options.port, 65_535);
  const size = wholeNumber("--crowd", options.crowd, 1_000);
  const paymentKey = randomBytes(32);
  const world = nodeWorld({ level: "error" });
  let address = "";
  const callbackTo = () => `${address}/.fairgate/main/shop/payments`;
  const shop = await openShop({ world, keys: [paymentKey], callbackTo });
  const data = mkdtempSync(join(tmpdir(), "fairgate-demo-"));
  // However it ends, also when it could not start or a second Ctrl-C cuts the end short.
  process.on("exit", () => rmSync(data, { recursive: true, force: true }));
  const paymentSecret = `whsec_${paymentKey.toString("base64")}`;
  const { running, token } = await serveOnFreePort(port, { shop: shop.address, data, paymentSecret, world });
  address = `http://127.0.0.1:${running.address.port}`;
  const control = formatHostPort(running.controlAddress);
  const at = { address, shop: shop.address, control, token };
  const view = new DemoView(process.stdout, opening(at));
  const crowd = sendCrowd(address, {
    size,
    waiting: () => (running.engine.counts("main") as Counts).waiting,
    tell: (news) => view.tell(news),
  });
  const draw = setInterval(
    () => void sceneOf(running.engine).then((scene) => view.show(scene)),
    DRAW_PERIOD_MS,
  );
  const stop = async () => {
    clearInterval(draw);
    view.close();
    crowd.close();
    await running.close();
    await shop.close();
    process.stdout.write("The demo has stopped; nothing is left running.\n");
    process.exit(0);
  };
  onStopSignals(world.clock, { stop, hurry: () => process.exit(1) });
}

function wholeNumber(flag: string, written: string, max: number): number {
  const number = Number(written);
  if (Number.isInteger(number) && number >= 0 && number <= max) return number;
  process.stderr.write(`${flag} is "${written}"; it should be a whole number from 0 to ${max}.\n`);
  process.exit(2);
}

/** Uses the next port when one is taken: that is no reason for a demo to fail. */
async function serveOnFreePort(
  first: number,
  { world, ...parts }: { shop: string; data: string; paymentSecret: string; world: World },
): Promise<{ running: Running; token: string }> {
  const token = randomBytes(24).toString("base64url");
  const secret = randomBytes(32).toString("base64url");
  for (let port = first; ; port += 2) {
    try {
      return {
        running: await serve(demoSettings({ ...parts, port, token, secret }), world, { isPageOpen: true }),
        token,
      };
    } catch (cause) {
      const isTaken = (cause as NodeJS.ErrnoException).code === "EADDRINUSE";
      if (!isTaken || port >= first + 2 * PORTS_TRIED_MAX) throw cause;
    }
  }
}

async function sceneOf(engine: Engine): Promise<DemoScene> {
  const board = await engine.board("main");
  const counts = await engine.counts("main");
  const wait = board.waits && waitOn({ points: board.waits }, counts.waiting);
  return { counts, limits: DEMO_LIMITS, waitSeconds: board.state === "open" ? { low: 0, high: 0 } : wait };
}

function opening(at: { address: string; shop: string; control: string; token: string }): string[] {
  return [
    "  Fairgate demo: a small slow shop, a crowd that buys, and the line between them.",
    "",
    `    Stand in the line   ${at.address}   (open it in a browser)`,
    `    Control             http://${at.control}   (how it goes, for people)`,
    `    The shop itself     ${at.shop}   (what the line protects)`,
    `    For programs        http://${at.control}/rooms`,
    `                        Authorization: Bearer ${at.token}`,
  ];
}
