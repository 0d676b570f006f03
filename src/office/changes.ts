/**
 * Changes made at run time that cannot be used: those that are stored and not in force here, and those that were put
 * aside. The values in bypass rules may be secrets, so they are not shown.
 */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { isRecord } from "../config/salvage.ts";
import type { OfficeEnv } from "./caller.ts";
import type { Handed } from "./desk.ts";
import { answered, COMMON_REFUSALS } from "./refusal.ts";

const HIDDEN = "hidden";

const about = {
  room: z.string(),
  settings: z
    .array(z.string())
    .readonly()
    .openapi({ description: "The settings that are not used. Empty: the whole change." }),
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
    "`unused` are stored and not in force at this gateway; other gateways may be able to use them. `aside` were removed from the store. Both are forgotten when the settings file is read again.",
  responses: {
    200: answered(
      "The changes, with what is wrong.",
      z.object({ unused: z.array(unusedSchema).readonly(), aside: z.array(asideSchema) }),
    ),
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

/** A change without the values in its bypass rules. */
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
