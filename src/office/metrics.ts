/**
 * Metrics for Prometheus, in a registry of their own. Names start with `fairgate_`, use base units (seconds, not minutes),
 * and end in `_total` for counters; the process's metrics have their usual names.
 */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { OfficeEnv } from "./caller.ts";
import { addClusterMetrics } from "./cluster-metrics.ts";
import type { Handed } from "./desk.ts";
import { COMMON_REFUSALS } from "./refusal.ts";
import { addRoomMetrics } from "./room-metrics.ts";
import type { Scrape } from "./scrape.ts";
import { addShopMetrics } from "./shop-metrics.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";
import { addTrafficMetrics } from "./traffic-metrics.ts";

const metricsRoute = createRoute({
  method: "get",
  path: "/metrics",
  summary: "Metrics for Prometheus",
  responses: {
    200: { description: "The text format.", content: { "text/plain": { schema: z.string() } } },
    ...COMMON_REFUSALS,
  },
});

/** Adds the metrics' route. */
export function addMetrics(app: OpenAPIHono<OfficeEnv>, handed: Handed): void {
  const registry = new Registry();
  let latest: Snapshot;
  const scrape: Scrape = { registry, snapshot: () => latest };
  collectDefaultMetrics({ register: registry });
  addRoomMetrics(scrape);
  addShopMetrics(scrape);
  addTrafficMetrics(scrape);
  addClusterMetrics(scrape);
  app.openapi(metricsRoute, async (c) => {
    latest = await takeSnapshot(handed);
    return c.text(await registry.metrics(), 200, { "Content-Type": registry.contentType });
  });
}
