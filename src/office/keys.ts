/**
 * Signing keys at the control address: the list, and rotation. Rotation costs nobody their place, since older keys verify
 * until everything they signed has expired. Only ids are shown, never keys.
 */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { addressOf, type OfficeEnv } from "./caller.ts";
import type { Handed } from "./desk.ts";
import { answered, COMMON_REFUSALS, refusals } from "./refusal.ts";

const keySchema = z
  .object({
    id: z.string(),
    isSigning: z.boolean().openapi({ description: "True for the key that signs new tickets and passes." }),
    retiresAt: z.iso
      .datetime()
      .nullable()
      .openapi({ description: "When it stops verifying. null: not decided." }),
  })
  .openapi("Key");

const listRoute = createRoute({
  method: "get",
  path: "/keys",
  summary: "The keys that sign and verify",
  responses: {
    200: answered("The keys.", z.object({ keys: z.array(keySchema) })),
    ...COMMON_REFUSALS,
  },
});
const rotateRoute = createRoute({
  method: "post",
  path: "/keys/rotate",
  summary: "Sign with a new key from now on",
  responses: {
    200: answered("The new key.", z.object({ id: z.string() })),
    ...COMMON_REFUSALS,
    ...refusals("not_kept"),
  },
});

/** Adds the keys' routes. */
export function addKeys(app: OpenAPIHono<OfficeEnv>, { desk, world }: Handed): void {
  app.openapi(listRoute, (c) => {
    const keys = desk.keys().map(({ id, isSigning, retiresAt }) => ({
      id,
      isSigning,
      retiresAt: retiresAt === null ? null : new Date(retiresAt).toISOString(),
    }));
    return c.json({ keys }, 200);
  });
  app.openapi(rotateRoute, async (c) => {
    const from = desk.keys().find((key) => key.isSigning)?.id ?? null;
    const { id } = await desk.rotateKeys();
    world.log.info(
      { from, to: id, by: addressOf(c) },
      "the signing key was changed from the control address",
    );
    return c.json({ id }, 200);
  });
}
