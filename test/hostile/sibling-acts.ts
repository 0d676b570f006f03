/**
 * A page on a sibling subdomain, or elsewhere, makes a visitor's browser call our endpoints. The browser sends the visitor's
 * cookie along and says where the call comes from. Such a page could otherwise give up the visitor's place.
 */

import { ask } from "../../src/visitor/ask.ts";
import type { Attack } from "./attack.ts";

const ROUNDS = { small: 10, full: 1_000 } as const;
const ENDPOINTS = ["join", "check-in", "enter", "leave"] as const;
/** The headers that browsers send about a page elsewhere, with and without the newer one. */
const ELSEWHERE = [
  { "sec-fetch-site": "same-site", origin: "https://blog.shop.example" },
  { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
  { "sec-fetch-site": "same-site" },
  { origin: "https://blog.shop.example" },
  { origin: "null" },
];

export const siblingActs: Attack = {
  name: "sibling pages",
  about: "give up a visitor's place from a page on a sibling subdomain",
  async run(target, scale) {
    const host = "shop.example";
    const joined = await ask(target, { method: "POST", path: "/.fairgate/main/join", headers: { host } });
    const cookie = joined.cookie;
    if (cookie === null) throw new Error(`nobody could join: ${joined.status} ${joined.text}`);
    const examples: string[] = [];
    let attempts = 0;
    for (let round = 0; round < ROUNDS[scale]; round++)
      for (const headers of ELSEWHERE)
        for (const endpoint of ENDPOINTS) {
          attempts++;
          const path = `/.fairgate/main/${endpoint}`;
          const { status } = await ask(target, {
            method: "POST",
            path,
            headers: { host, cookie, ...headers },
          });
          if (status !== 403) examples.push(`${endpoint} ${JSON.stringify(headers)}: ${status}`);
        }
    return { attempts, through: examples.length, examples: examples.slice(0, 3) };
  },
};
