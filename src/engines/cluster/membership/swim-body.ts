/**
 * What SWIM's messages look like, and whether something that came over the network is one.
 *
 * Every message carries news of peers, so that news needs no messages of its own (SWIM, section 4.1). A
 * message is taken whole or not at all: one wrong field, and nothing in it is believed.
 */

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

/** True for a body that is a SWIM message in every field. */
export function isSwimBody(body: unknown): body is SwimBody {
  if (typeof body !== "object" || body === null) return false;
  const { kind, seq, target, of, news } = body as Record<string, unknown>;
  if (!isCount(seq, Number.MAX_SAFE_INTEGER)) return false;
  if (!Array.isArray(news) || news.length > NEWS_MAX || !news.every(isNews)) return false;
  return kind === "ping" || (kind === "pingReq" && isPeer(target)) || (kind === "ack" && isPeer(of));
}

function isNews(news: unknown): boolean {
  if (typeof news !== "object" || news === null) return false;
  const { peer, incarnation, is } = news as Record<string, unknown>;
  const isState = is === "alive" || is === "suspect" || is === "dead";
  return isState && isPeer(peer) && isCount(incarnation, INCARNATION_MAX);
}

function isPeer(peer: unknown): boolean {
  return typeof peer === "string" && peer !== "" && peer.length <= PEER_CHARS_MAX;
}

function isCount(count: unknown, max: number): boolean {
  return Number.isSafeInteger(count) && (count as number) >= 0 && (count as number) <= max;
}
