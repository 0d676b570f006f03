/**
 * One request to a room, with the parts that concern us: its cookies, the `Fairgate-Token` header of a program that keeps no
 * cookies, and what the browser says about the page that made it.
 */
import type { Facts } from "./facts.ts";
import { rawHeader } from "./proxy/raw-header.ts";
import type { RoomFront } from "./room-front.ts";

export interface Call {
  readonly front: RoomFront;
  readonly facts: Facts;
  /** Path and query as they were routed, and as the site gets them. */
  readonly target: string;
  readonly carrier: Carrier;
}

export interface Carrier {
  /** The visitor uses https. */
  readonly isSecure: boolean;
  readonly cookie: string | undefined;
  /** The token of a program; such a client gets new tokens in the same header, not as a cookie. */
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
