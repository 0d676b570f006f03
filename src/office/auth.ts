/**
 * The bearer token. For the page alone a browser may also send it as the password of Basic authentication: a browser sends that
 * with every request, even one that another site's page caused, so it must not be enough for anything but looking. Both sides are hashed before they are compared, so that the comparison takes the same time for any
 * input of any length. If no token is set, everything behind this gets 403.
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { LogPace } from "../core/log-pace.ts";
import type { World } from "../core/world.ts";
import { Attempts } from "./attempts.ts";
import { addressOf, type OfficeEnv } from "./caller.ts";
import { PAGE_PATH } from "./page.ts";
import { refuseCall } from "./refusal.ts";

const REALM = 'Bearer realm="fairgate"';
/** Browsers show the realm where they ask for name and password. */
const PAGE_REALM = 'Basic realm="Fairgate: any name, the control token as password", charset="UTF-8"';
const NO_TOKEN =
  "The control address is closed until a token is set: start Fairgate with FAIRGATE_CONTROL_TOKEN, at least 32 characters, in the environment.";

const ONLY_PAGE = "As a password the token opens only the page at /. Send it as Authorization: Bearer …";

/** Lets only requests with the right token through, however many wrong ones came before. */
export function requireToken(token: string | null, world: World): MiddlewareHandler<OfficeEnv> {
  const wrongTokens = new WrongTokens(world);
  const expected = token === null ? null : digest(Buffer.from(token));
  return async (c, next) => {
    if (expected === null) return refuseCall(c, "no_token_set", NO_TOKEN);
    const sent = c.req.header("authorization");
    const bearer = bearerOf(sent);
    const given = bearer ?? passwordOf(sent);
    if (given === null) {
      c.header("WWW-Authenticate", isForPage(c) ? PAGE_REALM : REALM);
      return refuseCall(c, "token_missing", "Send the token as Authorization: Bearer …");
    }
    if (timingSafeEqual(digest(given), expected)) {
      // Not 401: browsers forget a password that gets one, so that any page could end the login.
      if (bearer === null && !isForPage(c)) return refuseCall(c, "password_for_page", ONLY_PAGE);
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
    c.header("WWW-Authenticate", isForPage(c) ? PAGE_REALM : `${REALM}, error="invalid_token"`);
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

/** True for the page when a person opens it; browsers say so where they load it as a picture, a frame or data. */
function isForPage(c: Context): boolean {
  const use = c.req.header("sec-fetch-dest") ?? "document";
  return c.req.path === PAGE_PATH && ["GET", "HEAD"].includes(c.req.method) && use === "document";
}

function passwordOf(header: string | undefined): Buffer | null {
  const encoded = /^Basic +([\w+/]+=*)$/i.exec(header ?? "")?.[1];
  const pair = Buffer.from(encoded ?? "", "base64");
  const colon = pair.indexOf(":");
  return colon < 0 || colon === pair.length - 1 ? null : pair.subarray(colon + 1);
}

function digest(token: Buffer): Buffer {
  return hash("sha256", token, "buffer");
}
