/**
 * News to be sent along with SWIM's messages (SWIM, section 4.1, "infection-style").
 *
 * The least-told news goes first, and each is told a limited number of times: a few times log2 of the members reaches everyone
 * with overwhelming probability. Only the latest news of each peer is kept.
 */
import { NEWS_MAX, type SwimNews } from "./swim-body.ts";

export class Gossip {
  readonly #waiting = new Map<string, { readonly news: SwimNews; told: number }>();

  /** Adds news, in place of older news of the same peer. */
  tell(news: SwimNews): void {
    this.#waiting.delete(news.peer);
    this.#waiting.set(news.peer, { news, told: 0 });
  }

  forget(peer: string): void {
    this.#waiting.delete(peer);
  }

  /** News for one message: `first` if given, then the least told. `timesMax`: how often each is told; 0 for none. */
  take({ first, timesMax }: { first: SwimNews | null; timesMax: number }): SwimNews[] {
    const taken = first ? [first] : [];
    if (timesMax === 0 || this.#waiting.size === 0) return taken;
    const others = [...this.#waiting.values()].filter(({ news }) => news.peer !== first?.peer);
    others.sort((a, b) => a.told - b.told);
    for (const entry of others.slice(0, NEWS_MAX - taken.length)) {
      taken.push(entry.news);
      if (++entry.told >= timesMax) this.#waiting.delete(entry.news.peer);
    }
    return taken;
  }
}
