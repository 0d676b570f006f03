/**
 * What SWIM's messages look like, and whether something that came over the network is one.
 *
 * Every message carries news of peers, so that news needs no messages of its own (SWIM, section 4.1). A
 * message is taken whole or not at all: one wrong field, and nothing in it is believed.
 */

import { type Shape, shape } from "../wire/shapes.ts";

const { list, oneOf, record, upTo } = shape;

/** The most pieces of news in one message. */
export const NEWS_MAX = 8;
const PEER_CHARS_MAX = 256;
/** Each refutation takes one more, so nobody honest gets near. */
export const INCARNATION_MAX = 2 ** 32;

/** How a peer is held to be. */
export type SwimState = "alive" | "suspect" | "dead";

/** A claim about a peer in one of its incarnations, which only the peer itself can raise. */
export interface SwimNews {
  readonly peer: string;
  readonly incarnation: number;
  readonly is: SwimState;
}

/** A question, a question to be put to another, and the answer to either: `of` is the peer that is known to live. */
export type SwimBody =
  | { readonly kind: "ping"; readonly seq: number; readonly news: readonly SwimNews[] }
  | {
      readonly kind: "pingReq";
      readonly seq: number;
      readonly target: string;
      readonly news: readonly SwimNews[];
    }
  | { readonly kind: "ack"; readonly seq: number; readonly of: string; readonly news: readonly SwimNews[] };

const peer: Shape = (value) => typeof value === "string" && value !== "" && value.length <= PEER_CHARS_MAX;
const is: Shape = (value) => value === "alive" || value === "suspect" || value === "dead";
const common = {
  seq: upTo(Number.MAX_SAFE_INTEGER),
  news: list(record({ peer, is, incarnation: upTo(INCARNATION_MAX) }), NEWS_MAX),
};

/** True for a body that is a SWIM message in every field. */
export const isSwimBody = oneOf(
  {
    ping: record(common),
    pingReq: record({ ...common, target: peer }),
    ack: record({ ...common, of: peer }),
  },
  "kind",
) as (body: unknown) => body is SwimBody;
