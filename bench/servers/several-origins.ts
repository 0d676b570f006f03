/** Our proxy in front of several addresses, with everything by default but the two times. Says how many lines it has logged. */
import { settingsFrom } from "../../src/config/load.ts";
import { createProxy } from "../../src/gateway/proxy/proxy.ts";
import { SlowVisitors } from "../../src/gateway/proxy/slow-visitors.ts";
import { createTrust } from "../../src/gateway/proxy/trust.ts";
import { nodeWorld } from "../../src/node.ts";
import { listenAndTell } from "./listen-and-tell.ts";

const [addresses = "", timeout = ""] = process.argv.slice(2);
let lines = 0;
const count = () => void lines++;
const world = nodeWorld({ log: { debug: () => {}, info: count, warn: count, error: count } });
const result = settingsFrom(
  {
    secret: "bench-secret-0123456789-abcdefghij",
    origin: { addresses: addresses.split(","), connectTimeout: timeout, headersTimeout: timeout },
    rooms: { main: { totalActiveUsers: 10_000 } },
  },
  { environment: {}, readFile: () => "" },
);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const { settings } = result;
const proxy = createProxy({
  settings: settings.origin!,
  trust: createTrust([]),
  slow: new SlowVisitors(() => settings.limits, world),
  world,
});
const FORWARD = {
  id: "bench",
  requestHeaders: [],
  responseHeaders: [],
  isContinueExpected: false,
  watch: null,
  visitor: null,
  connection: null,
  isPersonal: false,
  client: null,
  stickyKey: null,
};
process.on("message", () => process.send?.({ lines }));
await listenAndTell(
  settings,
  {
    handle: (request, response) => proxy.forward(request, response, FORWARD),
    handleContinue: (request, response) => proxy.forward(request, response, FORWARD),
    upgrade: (request, socket, head) => proxy.upgrade(request, socket, head, FORWARD),
  },
  world,
);
