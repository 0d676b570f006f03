/**
 * The office: the second address, for operators and monitoring. Every request passes the same checks in the same order;
 * only health comes before the token:
 *
 *   strict headers ▶ own host ▶ health │ token ▶ method ▶ body ▶ page, rooms, changes, draws, shops, keys, cluster, metrics, document
 *
 * It works through a desk and knows neither gateway nor engine. It has one page, which only shows, and allows no other origin
 * (no CORS), so a page of another site cannot use it.
 */
import { OpenAPIHono } from "@hono/zod-openapi";
import { methodNotAllowed } from "hono/method-not-allowed";
import type { World } from "../core/world.ts";
import { requireToken } from "./auth.ts";
import { readBody } from "./body.ts";
import type { CallerConnection, OfficeEnv } from "./caller.ts";
import { addChanges } from "./changes.ts";
import { addCluster } from "./cluster.ts";
import type { Desk } from "./desk.ts";
import { addDocument } from "./document.ts";
import { addDraws } from "./draws.ts";
import { requireOwnHost, withStrictHeaders } from "./guard.ts";
import { addHealth } from "./health.ts";
import { addKeys } from "./keys.ts";
import { addMetrics } from "./metrics.ts";
import { addPage } from "./page.ts";
import { answerFailure, errorBody, refuseCall, statusOfRefusal } from "./refusal.ts";
import { addRooms, refuseChange } from "./rooms.ts";
import { addShops } from "./shops.ts";

export interface OfficeOptions {
  readonly desk: Desk;
  /** null: everything except health is closed. */
  readonly token: string | null;
  /** The host it will listen on, as configured. */
  readonly host: string;
  /** True: the page needs no token. For the demo, whose numbers are made up. */
  readonly isPageOpen?: boolean;
  readonly world: World;
}

export interface Office {
  readonly world: World;
  fetch(request: Request, connection?: CallerConnection): Response | Promise<Response>;
}

/** An office that answers requests; `listenOffice` puts it on a socket. */
export function createOffice({ desk, token, host, isPageOpen = false, world }: OfficeOptions): Office {
  const handed = { desk, world };
  const app = new OpenAPIHono<OfficeEnv>({
    defaultHook: (result, c) => {
      if (result.success) return;
      const problems = result.error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
      return refuseChange(c, problems);
    },
  });
  app.onError((error, c) => answerFailure(error, c, world));
  app.notFound((c) => refuseCall(c, "not_found", "There is nothing here. See /openapi.json."));
  app.use(withStrictHeaders, requireOwnHost(host));
  addHealth(app, handed);
  if (isPageOpen) addPage(app, handed);
  app.use(
    requireToken(token, world),
    methodNotAllowed<OfficeEnv>({
      app,
      onMethodNotAllowed: (c, methods) => {
        const allow = methods.join(", ");
        return c.json(errorBody("wrong_method", `Allowed here: ${allow}.`), statusOfRefusal("wrong_method"), {
          Allow: allow,
        });
      },
    }),
    readBody(),
  );
  if (!isPageOpen) addPage(app, handed);
  addRooms(app, handed);
  addChanges(app, handed);
  addDraws(app, handed);
  addShops(app, handed);
  addKeys(app, handed);
  addCluster(app, handed);
  addMetrics(app, handed);
  addDocument(app, desk.version);
  return { world, fetch: (request, connection) => app.fetch(request, connection) };
}
