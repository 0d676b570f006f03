/** Proxies that serve a site and ask Fairgate, with the files of `deploy/`: three real ones, two imitated. */
import { describeHosts } from "./cases.ts";
import { startCaddy, startHaproxy, startNginx } from "./hosts.ts";
import { startEnvoy, startTraefik } from "./imitated.ts";

const USUAL = { canFailOpen: true, closedStatus: 503 };

describeHosts([
  { name: "nginx", start: startNginx, waitingStatus: 200, ...USUAL },
  { name: "caddy", start: startCaddy, waitingStatus: 429, ...USUAL },
  { name: "haproxy", start: startHaproxy, waitingStatus: 200, ...USUAL },
  { name: "traefik", start: startTraefik, waitingStatus: 429, canFailOpen: false, closedStatus: 500 },
  { name: "envoy", start: startEnvoy, waitingStatus: 429, ...USUAL },
]);
