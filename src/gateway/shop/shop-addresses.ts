/**
 * The addresses of a shop under `/.fairgate/<room>/shop/`, and what each asks of its caller:
 *
 *   POST   holds                   take something into the basket            a pass of the room
 *   POST   holds/{id}/items        add what was chosen to a hold             a pass of the room
 *   DELETE holds/{id}              put it back                               a shop token, here and below
 *   GET    basket                  what is in it, and until when
 *   POST   finish                  done: on to payment
 *   POST   pay                     begin to pay                              also a pass of the payment room
 *   POST   leave                   give everything back
 *   GET    catalogue               the products, and what is left of each
 *   GET    events                  the same as a stream
 *   POST   waiting-list/{product}  wait for what is sold out
 *   DELETE waiting-list/{product}  no longer
 *   POST   payments                the provider's callback                   its signature
 *
 * A pass of the room is as good as a shop token.
 */
import type { VisitorAction } from "../../shop/api/visitor-shop.ts";

/** Who may ask: someone on the site, someone with a basket, or the payment provider. */
export type ShopCaller = "onSite" | "shopper" | "provider";

export interface ShopEndpoint {
  readonly action: VisitorAction | "events" | "payments";
  readonly method: "GET" | "POST" | "DELETE";
  readonly caller: ShopCaller;
  readonly hasBody: boolean;
}

export interface ShopAddress {
  readonly room: string;
  /** Every endpoint at this path, by methods. */
  readonly endpoints: readonly ShopEndpoint[];
  /** What the path names: a hold or a product; null: nothing. */
  readonly named: string | null;
}

const ID_CHARACTERS_MAX = 600;
/** Room, then what comes behind `shop/`. */
const SHOP_PATH = /^\/\.fairgate\/([a-z0-9-]{1,32})\/shop\/([^?]{1,700})$/;

/** By the path behind `shop/`; a star is a name. */
const ENDPOINTS: Readonly<Record<string, readonly ShopEndpoint[]>> = {
  holds: [{ action: "hold", method: "POST", caller: "onSite", hasBody: true }],
  "holds/*": [{ action: "undo", method: "DELETE", caller: "shopper", hasBody: false }],
  "holds/*/items": [{ action: "extend", method: "POST", caller: "onSite", hasBody: true }],
  basket: [{ action: "basket", method: "GET", caller: "shopper", hasBody: false }],
  finish: [{ action: "finish", method: "POST", caller: "shopper", hasBody: false }],
  pay: [{ action: "pay", method: "POST", caller: "shopper", hasBody: false }],
  leave: [{ action: "leave", method: "POST", caller: "shopper", hasBody: false }],
  catalogue: [{ action: "catalogue", method: "GET", caller: "shopper", hasBody: false }],
  events: [{ action: "events", method: "GET", caller: "shopper", hasBody: false }],
  "waiting-list/*": [
    { action: "joinList", method: "POST", caller: "onSite", hasBody: true },
    { action: "leaveList", method: "DELETE", caller: "shopper", hasBody: false },
  ],
  payments: [{ action: "payments", method: "POST", caller: "provider", hasBody: true }],
};

/** The address at a path without a query; null for one that is none. */
export function shopAddressAt(path: string): ShopAddress | null {
  const [, room, rest] = SHOP_PATH.exec(path) ?? [];
  if (room === undefined || rest === undefined) return null;
  const [head, written, ...tail] = rest.split("/");
  if (written === undefined) return addressOf(room, head!, null);
  const named = readName(written);
  return named === null ? null : addressOf(room, [head, "*", ...tail].join("/"), named);
}

function addressOf(room: string, shape: string, named: string | null): ShopAddress | null {
  return Object.hasOwn(ENDPOINTS, shape) ? { room, endpoints: ENDPOINTS[shape]!, named } : null;
}

function readName(written: string): string | null {
  if (written === "" || written.length > ID_CHARACTERS_MAX) return null;
  try {
    return decodeURIComponent(written);
  } catch {
    return null;
  }
}
