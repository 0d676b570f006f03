/**
 * What visitors and payment providers may ask under `/.fairgate/<room>/shop/` (`shop-addresses.ts`). What is settled here is who
 * asks: by pass, shop token, claim and budget, all of it before the shop is asked anything and before a body is read. What is
 * answered is the shop's (`src/shop/api`).
 *
 *   method ─▶ site ─▶ pass or shop token ─▶ budget ─▶ customer ─▶ payment room's pass ─▶ body ─▶ shop
 *
 * Refusals are `{"status":"refused","reason":…}`, as at the room's other addresses.
 */
import type { Eventually } from "../../core/engine.ts";
import type { World } from "../../core/world.ts";
import type { ShopReply, VisitorCall } from "../../shop/api/visitor-shop.ts";
import { NONE_ADDED, PERSONAL_JSON } from "../answer-headers.ts";
import { after, ENGINE_AWAY } from "../ask-engine.ts";
import type { BodyOutcome, BodyProblem } from "../body-intake.ts";
import type { Call } from "../call.ts";
import { headerOf } from "../facts.ts";
import type { OwnAnswer } from "../own-answer.ts";
import { PacedLog } from "../paced-log.ts";
import { countedAs, type Trust } from "../proxy/trust.ts";
import type { RoomFront } from "../room-front.ts";
import { refused, said } from "../said.ts";
import { isFromElsewhere } from "../same-origin.ts";
import type { Threshold } from "../threshold.ts";
import type { HeldPass } from "../tokens/held-tokens.ts";
import type { VisitorTokens } from "../tokens/visitor-tokens.ts";
import type { Traffic } from "../traffic.ts";
import type { OpenStream, TakeBody } from "../verdict.ts";
import type { Stay } from "../visitor-endpoints.ts";
import type { ShopAddress, ShopEndpoint } from "./shop-addresses.ts";
import type { ShopFront } from "./shop-front.ts";
import type { ShopStreams } from "./shop-streams.ts";
import { type ShopperVisit, ShopVisits, shopperOf } from "./shop-visits.ts";

/** The largest body of a visitor's call. */
export const CALL_BYTES_MAX = 16 * 1_024;
/** The largest callback of a provider, whose events tell everything that is known of a payment. */
export const PAYMENT_CALLBACK_BYTES_MAX = 256 * 1_024;
/** How long a visitor waits for the shop. What they asked for may still be done then, so they repeat it with the same key. */
const PATIENCE_MS = 20_000;
const AWAY_RETRY_SECONDS = 5;
const KEY = /^[\x21-\x7e]{1,200}$/;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const BODY_PROBLEMS: Readonly<Record<BodyProblem, readonly [status: number, error: string]>> = {
  tooLarge: [413, "the body is too large"],
  tooSlow: [408, "the body came too slowly"],
  noMemory: [503, "too many bodies are being read"],
};

type Said = OwnAnswer | OpenStream | TakeBody;

interface ShopEndpointsParts {
  readonly tokens: VisitorTokens;
  readonly threshold: Threshold;
  readonly streams: ShopStreams;
  readonly traffic: Traffic;
  readonly stay: Stay;
  readonly trust: () => Trust;
  readonly frontOf: (room: string) => RoomFront | undefined;
  readonly world: World;
}

/** A call on its way to the shop. */
interface Asking {
  readonly call: Call;
  readonly shopFront: ShopFront;
  readonly endpoint: ShopEndpoint;
  readonly named: string | null;
  /** At least one, the first to be asked for first. */
  readonly visits: readonly ShopperVisit[];
  /** Flat list of what renews passes. */
  readonly headers: readonly string[];
  readonly customer: string | null;
  readonly paymentVisit: string | null;
}

export class ShopEndpoints {
  readonly #parts: ShopEndpointsParts;
  readonly #visits: ShopVisits;
  readonly #log: PacedLog;

  constructor(parts: ShopEndpointsParts) {
    this.#parts = parts;
    this.#visits = new ShopVisits(parts.tokens);
    this.#log = new PacedLog(parts.world);
  }

  /** What one of these addresses answers. */
  visit({ endpoints, named }: ShopAddress, call: Call, shopFront: ShopFront): Eventually<Said> {
    const { facts, front } = call;
    const { cors } = front;
    if (facts.method === "OPTIONS" && cors.allows(facts))
      return said(call, 204, cors.ownPreflight(facts), "");
    const endpoint = endpoints.find(({ method }) => method === facts.method);
    if (!endpoint) {
      const methods = endpoints.map(({ method }) => method).join(", ");
      return refused(call, 405, `use ${methods}`, ["Allow", methods]);
    }
    if (endpoint.caller === "provider") return this.#callback(call, shopFront);
    if (!cors.allows(facts) && isFromElsewhere(facts, call.carrier.fetchSite))
      return refused(call, 403, "not from another site");
    front.turn(facts.now);
    const held = this.#parts.tokens.read(call);
    if (held?.kind === "stranger") return refusal(call, 403, { reason: "wrongBrowser" });
    const token = this.#visits.read(call);
    const known = { call, shopFront, endpoint, named };
    const go = (pass: HeldPass | null, headers: readonly string[]) =>
      this.#enter({ ...known, visits: this.#visits.of(pass, token), headers });
    if (held?.kind === "pass") return go(held, this.#parts.stay(call, held).headers);
    if (token && endpoint.caller === "shopper") return go(null, NONE_ADDED);
    return after(this.#parts.threshold.resume(call, false), (visit) => {
      if (visit === ENGINE_AWAY) return this.#away(call);
      return visit ? go(visit.held, visit.headers) : refusal(call, 403, { reason: "noPass" });
    });
  }

  /** Someone whose visit is known: whether they may ask now, and as which customer. */
  #enter(known: Omit<Asking, "customer" | "paymentVisit">): Eventually<Said> {
    const { call, shopFront, visits } = known;
    const { now } = call.facts;
    const [first] = visits as [ShopperVisit];
    const client = this.#parts.trust().client(call.facts);
    const waitMs = shopFront.budget.take({ visitor: first.visitor, address: countedAs(client) }, now);
    if (waitMs > 0) {
      this.#parts.traffic.count("shopRefused", "tooManyCalls");
      return refusal(call, 429, { reason: "tooManyCalls" }, retryAfter(Math.ceil(waitMs / 1_000)));
    }
    const answer = after(shopFront.customers.of(call, first.token?.customer ?? null), (customer) => {
      if (customer.kind === "customer")
        return this.#admit({ ...known, customer: customer.customer, paymentVisit: null });
      const { reason, why } = customer;
      this.#parts.traffic.count("shopRefused", reason);
      return reason === "keysAway"
        ? refusal(call, 503, { reason }, retryAfter(AWAY_RETRY_SECONDS))
        : refusal(call, 403, { reason, why });
    });
    return after(answer, (one) => ({ ...one, visitor: first.visitor }));
  }

  /** Someone who may ask: what else it takes. */
  #admit(asking: Asking): Eventually<Said> {
    const { call, endpoint, shopFront } = asking;
    const { action } = endpoint;
    const key = headerOf(call.facts, "idempotency-key");
    if (key !== undefined && !KEY.test(key))
      return refusal(call, 422, {
        reason: "invalid",
        why: "Idempotency-Key is 1 to 200 printable characters",
      });
    if (action === "events") return this.#events(asking);
    const { paymentRoom } = shopFront.shop;
    if (action === "pay" && paymentRoom !== null) return this.#pay(asking, paymentRoom);
    if (!endpoint.hasBody) return this.#ask(asking, null);
    const isJson = JSON_TYPE.test(headerOf(call.facts, "content-type") ?? "");
    const [{ visitor }] = asking.visits as [ShopperVisit];
    return this.#takeBody(call, { bytesMax: CALL_BYTES_MAX, visitor }, (body) =>
      isJson || body.length === 0
        ? this.#ask(asking, body)
        : refused(call, 415, "send JSON, with Content-Type: application/json"),
    );
  }

  /** Whoever pays has come through the payment room's door. */
  #pay(asking: Asking, room: string): Eventually<Said> {
    const { call, headers } = asking;
    const { frontOf, tokens, stay } = this.#parts;
    const front = frontOf(room);
    if (!front) return this.#failed(call, new Error(`the payment room ${room} is not among the rooms`));
    front.turn(call.facts.now);
    const inFront = { ...call, front };
    const held = tokens.read(inFront);
    if (held?.kind !== "pass") return refusal(call, 403, { reason: "noPaymentPass", room });
    const renewed = front === call.front ? NONE_ADDED : stay(inFront, held).headers;
    return this.#ask({ ...asking, paymentVisit: held.pass.id, headers: [...headers, ...renewed] }, null);
  }

  #takeBody(
    call: Call,
    { bytesMax, visitor }: { bytesMax: number; visitor: string | null },
    use: (body: Uint8Array) => Eventually<OwnAnswer>,
  ): TakeBody {
    const read = (body: BodyOutcome): Eventually<OwnAnswer> => {
      if (typeof body !== "string") return use(body);
      const [status, error] = BODY_PROBLEMS[body];
      return refused(call, status, error);
    };
    const sender = this.#parts.trust().client(call.facts);
    const noted = { decision: "own", room: call.front.name, visitor } as const;
    return { kind: "takeBody", ...noted, bytesMax, sender, use: read };
  }

  /** Asks the shop, first for the basket that is there already. */
  async #ask(asking: Asking, body: Uint8Array | null): Promise<OwnAnswer> {
    const { call, visits } = asking;
    try {
      let reply: ShopReply | null = null;
      for (const visit of visits) {
        const next = await this.#askFor(asking, visit, body);
        // Of two baskets that are over, the former is the one that has something to tell.
        if (!next.isOver || reply === null) reply = next;
        if (!next.isOver) return this.#reply(asking, visit, next);
      }
      return this.#reply(asking, visits[0]!, reply!);
    } catch (cause) {
      return this.#failed(call, cause);
    }
  }

  #askFor(asking: Asking, visit: ShopperVisit, body: Uint8Array | null): Promise<ShopReply> {
    const { call, endpoint, named, customer, paymentVisit, shopFront } = asking;
    const { facts, front } = call;
    const asked: VisitorCall = {
      action: endpoint.action as VisitorCall["action"],
      shopper: shopperOf(front, visit, customer),
      named,
      body,
      idempotencyKey: headerOf(facts, "idempotency-key") ?? null,
      paymentVisit,
      now: this.#parts.world.clock.now(),
    };
    return this.#inTime(shopFront.shop.call(asked));
  }

  #reply({ call, headers, customer }: Asking, visit: ShopperVisit, reply: ShopReply): OwnAnswer {
    const isGood = reply.status < 300;
    const given = isGood ? this.#visits.give(call, visit, customer) : NONE_ADDED;
    if (!isGood) this.#parts.traffic.count("shopRefused", String(reply.status));
    const retry = reply.retryAfterSeconds === null ? NONE_ADDED : retryAfter(reply.retryAfterSeconds);
    const answer = said(call, reply.status, [...PERSONAL_JSON, ...headers, ...given, ...retry], reply.body);
    return { ...answer, visitor: visit.visitor };
  }

  async #events({ call, shopFront, visits, headers }: Asking): Promise<OwnAnswer | OpenStream> {
    const { front, facts } = call;
    const [visit] = visits as [ShopperVisit];
    const { lane, visitor } = shopperOf(front, visit, null);
    const feed = shopFront.shop.feed(front.name, lane);
    try {
      await this.#inTime(feed.read());
    } catch (cause) {
      return this.#failed(call, cause);
    }
    const { address } = this.#parts.tokens.sender(facts);
    const readable = front.cors.isOn ? [...headers, ...front.cors.headersFor(facts)] : headers;
    const noted = { decision: "own", room: front.name, visitor } as const;
    return {
      ...{ kind: "stream", ...noted, headers: readable },
      open: (begin) => {
        const opened = this.#parts.streams.open({ feed, visitor, address }, begin);
        if (typeof opened === "function") return opened;
        this.#parts.traffic.count("streamsRefused", opened);
        const status = opened === "all" ? 503 : 429;
        return refusal(call, status, { reason: "tooManyStreams" }, retryAfter(AWAY_RETRY_SECONDS));
      },
    };
  }

  /** The payment provider's word. What it says is checked by its signature, over the body as it was sent. */
  #callback(call: Call, { shop }: ShopFront): Said {
    const { payment } = shop;
    if (payment === null) return refused(call, 404, "there is no payment provider");
    return this.#takeBody(call, { bytesMax: PAYMENT_CALLBACK_BYTES_MAX, visitor: null }, async (body) => {
      const { facts } = call;
      const header = (name: string) => headerOf(facts, name);
      try {
        const now = this.#parts.world.clock.now();
        const { status, body: text } = await this.#inTime(payment({ header, body, now }));
        if (status >= 300) this.#parts.traffic.count("shopRefused", `callback ${status}`);
        return said(call, status, PERSONAL_JSON, text);
      } catch (cause) {
        return this.#failed(call, cause);
      }
    });
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    const { timers } = this.#parts.world;
    return new Promise((resolve, reject) => {
      const stop = timers.after(PATIENCE_MS, () => reject(new Error("no answer of the shop in time")));
      answer.then(resolve, reject).finally(stop);
    });
  }

  #failed(call: Call, cause: unknown): OwnAnswer {
    const fields = { err: cause, room: call.front.name };
    this.#log.add({ level: "error", about: String(cause), fields, message: "the shop does not answer" });
    return this.#away(call);
  }

  #away(call: Call): OwnAnswer {
    this.#parts.traffic.count("shopRefused", "away");
    const headers = [...PERSONAL_JSON, ...retryAfter(AWAY_RETRY_SECONDS)];
    return said(call, 503, headers, '{"status":"shopAway"}');
  }
}

function refusal(
  call: Call,
  status: number,
  why: { readonly reason: string; readonly [field: string]: string },
  headers: readonly string[] = NONE_ADDED,
): OwnAnswer {
  return said(call, status, [...PERSONAL_JSON, ...headers], JSON.stringify({ status: "refused", ...why }));
}

function retryAfter(seconds: number): readonly string[] {
  return ["Retry-After", String(seconds)];
}
