/**
 * What a request carries that concerns us: its cookies, the `Fairgate-Token` header of a program that keeps none, and
 * the browser's word on which site sent it.
 */
import type { Request } from "./exchange.ts";
import { rawHeader } from "./proxy/raw-header.ts";

export interface Carrier {
  /** The visitor came by https. */
  readonly isSecure: boolean;
  readonly cookie: string | undefined;
  /** The token of a program; such a sender gets new tokens back the same way, not as a cookie. */
  readonly programToken: string | undefined;
  readonly fetchSite: string | undefined;
}

export function readCarrier(request: Request, isSecure: boolean): Carrier {
  return {
    isSecure,
    cookie: rawHeader(request, "Cookie", "cookie"),
    programToken: rawHeader(request, "Fairgate-Token", "fairgate-token"),
    fetchSite: rawHeader(request, "Sec-Fetch-Site", "sec-fetch-site"),
  };
}
