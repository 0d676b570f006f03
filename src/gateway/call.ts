/**
 * One request to a room, with what it carries that concerns us: its cookies, the `Fairgate-Token` header of a program that
 * keeps none, and the browser's word on which site sent it.
 */
import type { Facts } from "./facts.ts";
import { rawHeader } from "./proxy/raw-header.ts";
import type { RoomFront } from "./room-front.ts";

export interface Call {
  readonly front: RoomFront;
  readonly facts: Facts;
  /** Path and query as they were routed, which is how the site gets them. */
  readonly target: string;
  readonly carrier: Carrier;
}

export interface Carrier {
  /** The visitor came by https. */
  readonly isSecure: boolean;
  readonly cookie: string | undefined;
  /** The token of a program; such a sender gets new tokens back the same way, not as a cookie. */
  readonly programToken: string | undefined;
  readonly fetchSite: string | undefined;
}

export function readCarrier(facts: Facts, isSecure: boolean): Carrier {
  return {
    isSecure,
    cookie: rawHeader(facts, "Cookie", "cookie"),
    programToken: rawHeader(facts, "Fairgate-Token", "fairgate-token"),
    fetchSite: rawHeader(facts, "Sec-Fetch-Site", "sec-fetch-site"),
  };
}
