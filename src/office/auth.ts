/**
 * The bearer token. Both sides are hashed before they are compared, so that the comparison takes the same time for any
 * input of any length. If no token is set, everything behind this gets 403.
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { LogPace } from "../core/log-pace.ts";
import type { World } from "../core/world.ts";
import { Attempts } from "./attempts.ts";
import { addressOf, type OfficeEnv } from "./caller.ts";
import { refuseCall } from "./refusal.ts";

const REALM = 'Bearer realm="fairgate"';
const NO_TOKEN =
  "The control address is closed until a token is set: start Fairgate with FAIRGATE_CONTROL_TOKEN, at least 32 characters, in the environment.";

/** Lets only requests with the right token through, however many wrong ones came before. */
export function requireToken(token: string | null, world: World): MiddlewareHandler<OfficeEnv> {
  const wrongTokens = new WrongTokens(world);
  const expected = token === null ? null : digest(Buffer.from(token));
  return async (c, next) => {
    if (expected === null) return refuseCall(c, "no_token_set", NO_TOKEN);
    const given = bearerOf(c.req.header("authorization"));
    if (given === null) {
      c.header("WWW-Authenticate", REALM);
      return refuseCall(c, "token_missing", "Send the token as Authorization: Bearer …");
    }
    if (timingSafeEqual(digest(given), expected)) {
      c.env?.onToken?.();
      return next();
    }
    return wrongTokens.refuse(c);
  };
}

/** Responds to wrong tokens. An address that sent too many gets "later", each time on a new connection. */
class WrongTokens {
  readonly #attempts = new Attempts();
  readonly #blocks = new LogPace();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  refuse(c: Context<OfficeEnv>): Response {
    const now = this.#world.clock.now();
    const address = addressOf(c);
    const blockedForMs = this.#attempts.blockedForMs(address, now);
    if (blockedForMs > 0) {
      c.header("Retry-After", String(Math.ceil(blockedForMs / 1_000)));
      c.header("Connection", "close");
      const message = "Too many wrong tokens. Come back later.";
      return refuseCall(c, "too_many_attempts", message);
    }
    if (this.#attempts.fail(address, now)) this.#logBlock(address, now);
    c.header("WWW-Authenticate", `${REALM}, error="invalid_token"`);
    return refuseCall(c, "token_wrong", "The token is wrong.");
  }

  #logBlock(address: string, now: number): void {
    const addresses = this.#blocks.add(now);
    if (addresses > 0)
      this.#world.log.warn({ address, addresses }, "too many wrong tokens at the control address");
  }
}

/** The token's bytes as they were sent: header text has one character for each byte. */
function bearerOf(header: string | undefined): Buffer | null {
  const scheme = /^Bearer +/i.exec(header ?? "")?.[0];
  const token = scheme === undefined ? "" : header!.slice(scheme.length);
  return token === "" ? null : Buffer.from(token, "latin1");
}

function digest(token: Buffer): Buffer {
  return hash("sha256", token, "buffer");
}
