/**
 * SWIM's messages, and the check of what came over the network.
 *
 * Every message carries news of peers, so that news needs no messages of its own (SWIM, section 4.1). A message with one wrong
 * field is ignored as a whole.
 */

import { type Shape, shape } from "../wire/shapes.ts";

const { list, oneOf, record, upTo } = shape;

/** The most news in one message. */
export const NEWS_MAX = 8;
const PEER_CHARS_MAX = 256;
/** Each refutation adds one, so no honest peer gets near this. */
export const INCARNATION_MAX = 2 ** 32;

export type SwimState = "alive" | "suspect" | "dead";

/** A claim about a peer in one of its incarnations, which only the peer itself can raise. */
export interface SwimNews {
  readonly peer: string;
  readonly incarnation: number;
  readonly is: SwimState;
}

/** A probe, a request to probe another peer, and the acknowledgement of either: `of` is the peer that is alive. */
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
