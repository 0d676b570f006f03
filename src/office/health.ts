/**
 * Health checks. `healthz`: the process lives. `readyz`: visitors can be sent here; if not, why, in words that tell an
 * outsider nothing. Neither needs a token.
 */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { askEngine } from "./ask-engine.ts";
import type { OfficeEnv } from "./caller.ts";
import type { Handed } from "./desk.ts";
import { answered, refusals } from "./refusal.ts";

const ENGINE_AWAY = "The engine does not answer.";
const NOT_SERVING = "Fairgate is starting or stopping.";

const readinessSchema = z.object({ isReady: z.boolean(), reasons: z.array(z.string()) }).openapi("Readiness");
const wrongHost = refusals("wrong_host");

const healthRoute = createRoute({
  method: "get",
  path: "/healthz",
  summary: "Does the process live?",
  security: [],
  responses: {
    200: answered("It does.", z.object({ isAlive: z.literal(true) })),
    ...wrongHost,
  },
});
const readyRoute = createRoute({
  method: "get",
  path: "/readyz",
  summary: "Can visitors be sent here?",
  security: [],
  responses: {
    200: answered("They can.", readinessSchema),
    ...wrongHost,
    503: answered("Not now, and why.", readinessSchema),
  },
});

/** Adds the health routes. */
export function addHealth(app: OpenAPIHono<OfficeEnv>, handed: Handed): void {
  app.openapi(healthRoute, (c) => c.json({ isAlive: true as const }, 200));
  app.openapi(readyRoute, async (c) => {
    const reasons = await reasonsAgainst(handed);
    return reasons.length === 0
      ? c.json({ isReady: true, reasons }, 200)
      : c.json({ isReady: false, reasons }, 503);
  });
}

async function reasonsAgainst({ desk, world }: Handed): Promise<string[]> {
  try {
    if (await askEngine(world, () => desk.isReady())) return [];
    const name = desk.rooms()[0];
    if (name !== undefined) await askEngine(world, () => desk.engine.counts(name));
    return [NOT_SERVING];
  } catch {
    return [ENGINE_AWAY];
  }
}
