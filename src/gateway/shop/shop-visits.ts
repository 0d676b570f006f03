/**
 * Whose basket a request is about: the visit of the room's pass, or the one that its shop token names. The token comes in a cookie
 * of its own or, from a program that keeps none, in the `Fairgate-Shop` header, and goes back the same way.
 *
 * Both may be there and name different visits: someone came back with a new pass while the basket of their former visit was still
 * there. The former one goes first, so that coming back neither loses a basket nor gives a second one (ce8).
 */
import { laneOf } from "../../core/lanes.ts";
import { EVERYBODY } from "../../core/rules.ts";
import { customerOfVisit } from "../../core/visit-name.ts";
import type { Shopper } from "../../shop/api/visitor-shop.ts";
import { NONE_ADDED } from "../answer-headers.ts";
import type { Call } from "../call.ts";
import { headerOf } from "../facts.ts";
import type { RoomFront } from "../room-front.ts";
import type { HeldPass } from "../tokens/held-tokens.ts";
import type { Keyring } from "../tokens/keyring.ts";
import { readShopToken, SHOP_TOKEN_LIFE_MS, type ShopVisit, shopToken } from "../tokens/shop-token.ts";
import type { VisitorTokens } from "../tokens/visitor-tokens.ts";

const TOKEN_HEADER = "Fairgate-Shop";
const EVERYBODYS = "everybody";
/** A token is given anew when it is older. */
const REISSUE_MS = 86_400_000;

/** A visit that a request may be about. */
export interface ShopperVisit extends Pick<ShopVisit, "visitor" | "lane" | "admittedAt" | "binding"> {
  /** The token that names it; null: there is only a pass. */
  readonly token: ShopVisit | null;
}

export class ShopVisits {
  readonly #tokens: VisitorTokens;

  constructor(tokens: VisitorTokens) {
    this.#tokens = tokens;
  }

  /** The good shop token of a request; null for none. */
  read({ front, facts, carrier }: Call): ShopVisit | null {
    const text = headerOf(facts, "fairgate-shop") ?? front.shopCookie.read(carrier.cookie, carrier.isSecure);
    if (!text) return null;
    const visit = readShopToken(text, { room: front.name, keyring: this.#keyring, now: facts.now });
    return visit && front.binding.isOwn(visit.binding, this.#tokens.sender(facts)) ? visit : null;
  }

  /** The visits behind a request, the one to ask for first. */
  of(pass: HeldPass | null, token: ShopVisit | null): readonly ShopperVisit[] {
    const visits: ShopperVisit[] = token ? [{ ...token, token }] : [];
    if (pass && pass.pass.id !== token?.visitor) {
      const { id: visitor, lane, admittedAt } = pass.pass;
      visits.push({ visitor, lane, admittedAt, binding: pass.badge.binding, token: null });
    }
    return visits;
  }

  /** Flat header list with a token for this visit; empty where the one that is there still does. */
  give({ front, facts, carrier }: Call, visit: ShopperVisit, customer: string | null): readonly string[] {
    const { token, visitor, lane, admittedAt, binding } = visit;
    const expiresAt = facts.now + SHOP_TOKEN_LIFE_MS;
    if (token && token.customer === customer && token.expiresAt > expiresAt - REISSUE_MS) return NONE_ADDED;
    const given = { visitor, lane, admittedAt, binding, expiresAt, customer };
    const text = shopToken(given, front.name, this.#keyring);
    if (carrier.programToken !== undefined) return [TOKEN_HEADER, text];
    return ["Set-Cookie", front.shopCookie.give(text, SHOP_TOKEN_LIFE_MS, carrier.isSecure)];
  }

  get #keyring(): Keyring {
    return this.#tokens.keyring;
  }
}

/** As the shop is told of a visit. */
export function shopperOf(front: RoomFront, visit: ShopperVisit, customer: string | null): Shopper {
  const { visitor, admittedAt } = visit;
  const lane = laneName(front, visit.lane);
  return { visitor, customer: customer ?? customerOfVisit(visitor), room: front.name, lane, admittedAt };
}

function laneName({ roomRules }: RoomFront, lane: number): string {
  const number = laneOf(roomRules.lanes, lane);
  if (number === EVERYBODY) return EVERYBODYS;
  return roomRules.lanes.named.find((named) => named.number === number)!.name;
}
