/** Our proxy in front of several addresses, with default settings but for two timeouts. Reports how many lines it has logged. */
import { settingsFrom } from "../../src/config/load.ts";
import { nodeWorld } from "../../src/node.ts";
import { bareProxy } from "./bare-proxy.ts";
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
process.on("message", () => process.send?.({ lines }));
await listenAndTell(settings, bareProxy(settings, world), world);
