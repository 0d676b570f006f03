/**
 * The bearer token. Both sides are hashed before they are compared, so that the comparison takes the same time
 * whatever was sent and however long it was. No token on our side opens nothing: everything behind this is then 403.
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { World } from "../core/world.ts";
import { Attempts } from "./attempts.ts";
import { addressOf, type OfficeEnv } from "./caller.ts";
import { refuse } from "./refusal.ts";

const REALM = 'Bearer realm="fairgate"';
const NO_TOKEN =
  "The control address is closed until a token is set: start Fairgate with FAIRGATE_CONTROL_TOKEN, at least 32 characters, in the environment.";

/** Lets only requests with the token through. */
export function requireToken(token: string | null, world: World): MiddlewareHandler<OfficeEnv> {
  const attempts = new Attempts();
  const expected = token === null ? null : digest(Buffer.from(token));
  return async (c, next) => {
    if (expected === null) return refuse(c, 403, { code: "no_token_set", message: NO_TOKEN });
    const now = world.clock.now();
    const address = addressOf(c);
    const blockedForMs = attempts.blockedForMs(address, now);
    if (blockedForMs > 0) {
      c.header("Retry-After", String(Math.ceil(blockedForMs / 1_000)));
      return refuse(c, 429, {
        code: "too_many_attempts",
        message: "Too many wrong tokens. Come back later.",
      });
    }
    const given = bearerOf(c.req.header("authorization"));
    if (given === null) {
      c.header("WWW-Authenticate", REALM);
      return refuse(c, 401, { code: "token_missing", message: "Send the token as Authorization: Bearer …" });
    }
    if (timingSafeEqual(digest(given), expected)) return next();
    if (attempts.fail(address, now))
      world.log.warn({ address }, "too many wrong tokens at the control address");
    c.header("WWW-Authenticate", `${REALM}, error="invalid_token"`);
    return refuse(c, 401, { code: "token_wrong", message: "The token is not the right one." });
  };
}

/** The token's bytes as they were sent: header text has one character for each byte. */
function bearerOf(header: string | undefined): Buffer | null {
  const match = /^Bearer +(.+)$/i.exec(header ?? "");
  return match ? Buffer.from(match[1]!, "latin1") : null;
}

function digest(token: Buffer): Buffer {
  return hash("sha256", token, "buffer");
}
