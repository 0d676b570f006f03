/** nginx, Caddy and HAProxy serve a site and ask Fairgate, with the files of `deploy/`. */
import { describe } from "node:test";
import { describeHost } from "./cases.ts";
import { startCaddy, startHaproxy, startNginx } from "./hosts.ts";

const REAL = { canFailOpen: true, closedStatus: 503 };

describe("real proxies", { concurrency: 3 }, () => {
  describeHost({ name: "nginx", start: startNginx, waitingStatus: 200, ...REAL });
  describeHost({ name: "Caddy", start: startCaddy, waitingStatus: 429, ...REAL });
  describeHost({ name: "HAProxy", start: startHaproxy, waitingStatus: 200, ...REAL });
});
