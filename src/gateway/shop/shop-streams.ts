/**
 * Streams of what is left: everyone in a shop reads, live, how many of each product can be had. A stream begins with all products;
 * after that it has those that changed. All readers of a room and lane get the same bytes, framed once; a change that comes while
 * the one before is still being written goes out together with those that follow.
 *
 *   event: products   id: VERSION   data: {"version":…,"catalogueVersion":…,"products":[{"id":…,"state":…,"available":…},…]}
 *   event: changes    the same with the changed products alone
 *   event: bye        open another stream; its pass may have to be renewed
 *
 * Where there are other products than before, or another catalogue, everything is sent again.
 */
import type { World } from "../../core/world.ts";
import type { ProductFeed, ProductsShown, ProductView } from "../../shop/api/visitor-shop.ts";
import { InTurns } from "../streams/in-turns.ts";
import { eventOf, type StreamEvent, type StreamSink, writeEvent } from "../streams/stream-event.ts";
import type { StreamRefusal, StreamSeats } from "../streams/stream-seats.ts";

const LIFE_MS = 10 * 60_000;
const LOOK_EVERY_MS = 1_000;
/** Proxies close connections on which nothing passes. */
const COMMENT_EVERY_MS = 20_000;
const RETRY_MS = 3_000;
/** Beside the list, which may be long. */
const BACKLOG_BYTES = 64 * 1_024;
const BYE = eventOf("event: bye\ndata: {}\n\n");
const COMMENT = eventOf(":\n\n");

interface Reader {
  readonly sink: StreamSink;
  readonly channel: Channel;
  readonly visitor: string;
  readonly address: string;
  readonly until: number;
}

/** Everyone who reads one feed. */
interface Channel {
  readonly feed: ProductFeed;
  readonly readers: Set<Reader>;
  readonly stop: () => void;
  /** What all readers have been written, or are being written. */
  shown: ProductsShown;
  /** All of it as an event, until it is another. */
  whole: StreamEvent | null;
  /** How far a reader may be behind. */
  backlogMax: number;
  isWriting: boolean;
}

export interface ShopListening {
  /** Read before. */
  readonly feed: ProductFeed;
  readonly visitor: string;
  readonly address: string;
}

export class ShopStreams {
  readonly #seats: StreamSeats;
  readonly #world: World;
  readonly #inTurns: InTurns;
  readonly #channels = new Map<ProductFeed, Channel>();
  readonly #byVisitor = new Map<string, number>();
  readonly #stop: () => void;
  #commentedAt = 0;

  constructor(parts: { readonly seats: StreamSeats; readonly world: World; readonly inTurns?: InTurns }) {
    const { seats, world, inTurns = new InTurns() } = parts;
    this.#seats = seats;
    this.#world = world;
    this.#inTurns = inTurns;
    this.#stop = world.timers.every(LOOK_EVERY_MS, () => this.#look());
  }

  /** Opens a stream, for which `begin` sends the head. Gives what is to be called when its reader is gone; or what was full. */
  open({ feed, visitor, address }: ShopListening, begin: () => StreamSink): (() => void) | StreamRefusal {
    const own = this.#byVisitor.get(visitor) ?? 0;
    const refusal = this.#seats.refusal(address, own);
    if (refusal !== null || feed.latest === null) return refusal ?? "all";
    const channel = this.#channels.get(feed) ?? this.#newChannel(feed, feed.latest);
    const until = this.#world.clock.now() + LIFE_MS;
    const reader: Reader = { sink: begin(), channel, visitor, address, until };
    this.#seats.take(address);
    this.#byVisitor.set(visitor, own + 1);
    channel.readers.add(reader);
    channel.whole ??= eventOf(`retry: ${RETRY_MS}\n${productsText("products", channel.shown)}`);
    channel.backlogMax = Math.max(channel.backlogMax, BACKLOG_BYTES + channel.whole.plain.length);
    writeEvent(reader.sink, channel.whole);
    return () => this.#closed(reader);
  }

  close(): void {
    this.#stop();
    for (const { readers } of this.#channels.values()) for (const reader of readers) this.#end(reader);
  }

  #newChannel(feed: ProductFeed, shown: ProductsShown): Channel {
    const readers = new Set<Reader>();
    const stop = feed.watch(() => this.#news(channel));
    const fresh = { whole: null, backlogMax: BACKLOG_BYTES, isWriting: false };
    const channel: Channel = { feed, readers, stop, shown, ...fresh };
    this.#channels.set(feed, channel);
    return channel;
  }

  #news(channel: Channel): void {
    const { latest } = channel.feed;
    if (channel.isWriting || latest === null || latest.version === channel.shown.version) return;
    const text = isSameList(channel.shown, latest)
      ? productsText("changes", { ...latest, products: changed(channel.shown.products, latest.products) })
      : productsText("products", latest);
    channel.shown = latest;
    channel.whole = null;
    channel.isWriting = true;
    const event = eventOf(text);
    channel.backlogMax = Math.max(channel.backlogMax, BACKLOG_BYTES + event.plain.length);
    this.#inTurns.forEach(
      [...channel.readers],
      (reader) => {
        if (channel.readers.has(reader)) writeEvent(reader.sink, event, channel.backlogMax);
      },
      () => {
        channel.isWriting = false;
        this.#news(channel);
      },
    );
  }

  #look(): void {
    const now = this.#world.clock.now();
    const isCommenting = now - this.#commentedAt >= COMMENT_EVERY_MS;
    if (isCommenting) this.#commentedAt = now;
    for (const { readers, backlogMax } of this.#channels.values())
      for (const reader of readers) {
        if (reader.until <= now) this.#end(reader);
        else if (isCommenting) writeEvent(reader.sink, COMMENT, backlogMax);
      }
  }

  #end(reader: Reader): void {
    this.#closed(reader);
    writeEvent(reader.sink, BYE);
    reader.sink.end();
  }

  #closed(reader: Reader): void {
    const { channel, visitor, address } = reader;
    if (!channel.readers.delete(reader)) return;
    this.#seats.give(address);
    const left = this.#byVisitor.get(visitor)! - 1;
    if (left === 0) this.#byVisitor.delete(visitor);
    else this.#byVisitor.set(visitor, left);
    if (channel.readers.size > 0) return;
    channel.stop();
    this.#channels.delete(channel.feed);
  }
}

function productsText(name: "products" | "changes", shown: ProductsShown): string {
  const { version, catalogueVersion, products } = shown;
  return `event: ${name}\nid: ${version}\ndata: ${JSON.stringify({ version, catalogueVersion, products })}\n\n`;
}

function isSameList(before: ProductsShown, after: ProductsShown): boolean {
  if (before.catalogueVersion !== after.catalogueVersion) return false;
  const { products } = before;
  return (
    products.length === after.products.length && products.every(({ id }, at) => id === after.products[at]!.id)
  );
}

/** The products that are not as they were, of two lists of the same. */
function changed(before: readonly ProductView[], after: readonly ProductView[]): readonly ProductView[] {
  return after.filter(({ state, available }, at) => {
    const one = before[at]!;
    return one.state !== state || one.available !== available;
  });
}
