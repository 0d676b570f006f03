/**
 * For attacks that try to take every connection to the origin. Honest visitors are in, and queue for, the room at `/shop`; the
 * attacker can have a pass for a room of its own at `/side`, and the rest of the site is open to all. All of it has one origin.
 */

import { ask } from "../../src/visitor/ask.ts";
import type { Attack, Target } from "./attack.ts";
import { Flood } from "./flood.ts";
import { SITE_WORDS } from "./site.ts";

/** More than the connections to the origin: 64 for the small form, 512 by default. */
export const CONNECTIONS = { small: 100, full: 2_000 } as const;
/** How long each way is held, with a newcomer now and then. */
const HELD_MS = { small: 1_000, full: 20_000 } as const;
const NEWCOMER_EVERY_MS = 50;

export const CROWDED: Pick<Attack, "room" | "otherRooms" | "scaled"> = {
  room: { path: "/shop" },
  otherRooms: { side: { path: "/side", totalActiveUsers: 10 } },
  // An eighth of every limit on connections.
  scaled: {
    small: {
      origin: { connectionsMax: 64 },
      limits: { requestsPerVisitorMax: 16, requestsPerAddressMax: 32 },
    },
    full: {},
  },
};

/** Where an attack comes from: one pass, one address without a pass, or thousands of addresses. */
export interface Front {
  readonly name: string;
  /** The beginning of its paths. */
  readonly path: string;
  /** A header line, or nothing. */
  readonly cookie: string;
  from(n: number): string;
}

/** Every way to attack. */
export async function frontsOf(target: Target): Promise<Front[]> {
  const cookie = (await ask(target, { path: "/side", headers: { accept: "text/html" } })).cookie;
  if (cookie === null) throw new Error("the attacker got no pass");
  const oneAddress = () => "127.0.0.1";
  return [
    { name: "on one pass", path: "/side", cookie: `Cookie: ${cookie}\r\n`, from: oneAddress },
    { name: "from one address", path: "", cookie: "", from: oneAddress },
    { name: "from many addresses", path: "", cookie: "", from: (n) => `127.77.${(n >> 8) & 255}.${n & 255}` },
  ];
}

/** Floods the site for a while, and returns the newcomers who got no page meanwhile. */
export async function crowdOut(
  target: Target,
  attack: {
    readonly scale: "small" | "full";
    readonly front: Front;
    readonly isDeaf?: boolean;
    send(n: number): string;
    /** Sent over every connection now and then. */
    readonly drip: string;
  },
): Promise<string[]> {
  const { front, send, scale, drip, isDeaf = false } = attack;
  const flood = new Flood({ ...target, from: front.from, send, isDeaf });
  await flood.open(CONNECTIONS[scale]);
  await flood.settle();
  const keptOut: string[] = [];
  const endAt = Date.now() + HELD_MS[scale];
  for (let n = 0; Date.now() < endAt; n++) {
    if (drip !== "") flood.dribble(drip);
    await new Promise((resolve) => setTimeout(resolve, NEWCOMER_EVERY_MS));
    const asked = ask(target, { path: "/", localAddress: `127.0.2.${1 + (n % 250)}` });
    const { status, text } = await asked.catch((error: Error) => ({ status: error.message, text: "" }));
    if (!text.includes(SITE_WORDS)) keptOut.push(`${front.name}, newcomer ${n}: ${status}`);
  }
  flood.end();
  return keptOut;
}
