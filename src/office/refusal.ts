/**
 * How the office refuses: always with JSON, `{ error: { code, message } }`, a code for programs and a sentence for people.
 * An unexpected failure gets an id that is also in the log, and tells the caller nothing else.
 */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { CONTROL_REFUSALS } from "../core/errors.ts";
import type { World } from "../core/world.ts";
import { EngineAway } from "./ask-engine.ts";
import { NotKept } from "./desk.ts";

const FAILURE_ID_BYTES = 4;

export const jsonContent = <T extends z.ZodType>(schema: T) => ({ "application/json": { schema } });
/** A JSON response, for the document. */
export const answered = <T extends z.ZodType>(description: string, schema: T) => ({
  description,
  content: jsonContent(schema),
});

export interface ErrorBody {
  readonly error: { readonly code: ControlRefusal; readonly message: string };
}

const errorSchema = z
  .object({
    error: z.object({
      code: z.string().openapi({ description: "For programs." }),
      message: z.string().openapi({ description: "For people." }),
    }),
  })
  .openapi("Error");

export const problemsSchema = errorSchema
  .extend({
    problems: z.array(
      z.object({
        path: z.string().openapi({ description: "The setting. Empty: the whole change." }),
        message: z.string(),
        hint: z.string().optional().openapi({ description: "What it should be, or what to do." }),
      }),
    ),
  })
  .openapi("Problems");

/** Why the office refuses; each code has a status. */
export type ControlRefusal = keyof typeof CONTROL_REFUSALS;

export function errorBody(code: ControlRefusal, message: string): ErrorBody {
  return { error: { code, message } };
}

/** The response to a request that cannot be served. */
export function refuseCall<Code extends ControlRefusal>(c: Context, code: Code, message: string) {
  return c.json(errorBody(code, message), statusOfRefusal(code));
}

export function statusOfRefusal<Code extends ControlRefusal>(
  code: Code,
): (typeof CONTROL_REFUSALS)[Code]["status"] {
  return CONTROL_REFUSALS[code].status;
}

/** Refusals for the document, by their status. */
export function refusals<Code extends ControlRefusal>(...codes: readonly Code[]) {
  const byStatus = Map.groupBy(codes, (code) => statusOfRefusal(code));
  const answers = [...byStatus].map(([status, all]) => {
    const description = all.map((code) => CONTROL_REFUSALS[code].why).join(" Or: ");
    return [status, answered(description, errorSchema)] as const;
  });
  return Object.fromEntries(answers) as Record<(typeof answers)[number][0], (typeof answers)[number][1]>;
}

/** The refusals that every route behind the token can give. */
export const COMMON_REFUSALS = refusals(
  "token_missing",
  "token_wrong",
  "no_token_set",
  "password_for_page",
  "wrong_host",
  "too_many_attempts",
);

/** The response to an error thrown while answering. */
export function answerFailure(error: unknown, c: Context, world: World) {
  if (error instanceof EngineAway) {
    world.log.warn({ err: error.cause, path: c.req.path }, "the engine did not answer the control address");
    return refuseCall(c, "engine_away", "The engine does not answer. Try again.");
  }
  if (error instanceof NotKept) {
    world.log.error({ err: error.cause, path: c.req.path }, "a change from the control address was not kept");
    const message = "This could not be stored, so nothing was changed. The log says why.";
    return refuseCall(c, "not_kept", message);
  }
  if (isShopFailure(error)) {
    world.log.error({ err: error, path: c.req.path }, "a shop did not answer the control address");
    return refuseCall(c, "shop_away", error.message);
  }
  if (error instanceof HTTPException && error.status < 500) return answerBadRequest(error, c);
  const id = Buffer.from(world.random.bytes(FAILURE_ID_BYTES)).toString("hex");
  world.log.error({ err: error, id, path: c.req.path }, "a request to the control address failed");
  return refuseCall(c, "failed", `Something failed. The log has it under ${id}.`);
}

/** What a ledger says that cannot be read, written or reached. Its message says what to do. */
const SHOP_FAILURES: ReadonlySet<string> = new Set(["LedgerDamaged", "StoreProblem", "ShopAway"]);

function isShopFailure(error: unknown): error is Error {
  return error instanceof Error && SHOP_FAILURES.has(error.name);
}

function answerBadRequest(error: HTTPException, c: Context) {
  if (error.status === 415) {
    const message = "The body should be JSON, with Content-Type: application/json.";
    return refuseCall(c, "not_json", message);
  }
  return refuseCall(c, "bad_request", "The body is not well-formed JSON.");
}
