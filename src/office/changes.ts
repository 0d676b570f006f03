/**
 * Changes made at run time that cannot be used, at the control address: those that are kept and not in force here, and
 * those that were put aside. What bypass rules ask for may be a secret, so it is not shown here either.
 */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { isRecord } from "../config/salvage.ts";
import type { OfficeEnv } from "./caller.ts";
import type { Handed } from "./desk.ts";
import { COMMON_REFUSALS } from "./refusal.ts";

const HIDDEN = "hidden";

const about = {
  room: z.string(),
  settings: z
    .array(z.string())
    .readonly()
    .openapi({ description: "The settings that are not used. Empty: the whole change is not." }),
  reason: z.string(),
};
const unusedSchema = z.object(about).openapi("UnusedChange");
const asideSchema = z
  .object({
    ...about,
    at: z.iso.datetime().openapi({ description: "When it was put aside." }),
    change: z.unknown().openapi({
      description: "The settings as they were sent, without bypass rules. null: it cannot be read.",
    }),
  })
  .openapi("AsideChange");

const changesRoute = createRoute({
  method: "get",
  path: "/changes",
  summary: "Changes made at run time that cannot be used",
  description:
    "`unused` are kept and not in force at this gateway, since others may be able to use them. `aside` were taken out of what is kept. Both are forgotten when the settings file is read again.",
  responses: {
    200: {
      description: "The changes, with what is wrong.",
      content: {
        "application/json": {
          schema: z.object({ unused: z.array(unusedSchema).readonly(), aside: z.array(asideSchema) }),
        },
      },
    },
    ...COMMON_REFUSALS,
  },
});

/** Adds the changes' route. */
export function addChanges(app: OpenAPIHono<OfficeEnv>, { desk }: Handed): void {
  app.openapi(changesRoute, async (c) => {
    const aside = (await desk.asideChanges()).map(({ room, settings, reason, at, change }) => {
      return { room, settings, reason, at: new Date(at).toISOString(), change: shown(change) };
    });
    return c.json({ unused: desk.unusedChanges(), aside }, 200);
  });
}

/** A change as far as anyone may see it. */
function shown(change: unknown): unknown {
  if (!isRecord(change)) return null;
  const { events } = change;
  return {
    ...(withoutBypass(change) as object),
    ...(Array.isArray(events)
      ? { events: events.map(withoutBypass) }
      : events === undefined
        ? {}
        : { events: HIDDEN }),
  };
}

function withoutBypass(settings: unknown): unknown {
  if (!isRecord(settings)) return null;
  return Object.hasOwn(settings, "bypass") ? { ...settings, bypass: HIDDEN } : settings;
}
