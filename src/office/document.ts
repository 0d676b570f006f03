/** The OpenAPI document, generated from the routes, so that it always matches them. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { OfficeEnv } from "./caller.ts";
import { answered, COMMON_REFUSALS } from "./refusal.ts";

const documentRoute = createRoute({
  method: "get",
  path: "/openapi.json",
  summary: "This document",
  responses: {
    200: answered("OpenAPI 3.1.", z.looseObject({})),
    ...COMMON_REFUSALS,
  },
});

/** Adds the document's route. It describes every route added before and after it. */
export function addDocument(app: OpenAPIHono<OfficeEnv>, version: string): void {
  app.openAPIRegistry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description: "The token set with FAIRGATE_CONTROL_TOKEN.",
  });
  let document: object | undefined;
  app.openapi(documentRoute, (c) => {
    document ??= app.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "Fairgate control",
        version,
        description: "Counts, settings, keys, metrics and health of a Fairgate process.",
      },
      security: [{ token: [] }],
    });
    return c.json({ ...document }, 200);
  });
}
