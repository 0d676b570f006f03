/**
 * The ledgers of shops that many gateways share through Redis. One of them keeps each; what it tells is heard by all, so that
 * every gateway shows the same.
 */
import type { Settings } from "../config/schema.ts";
import type { Timers, World } from "../core/world.ts";
import { DurableHost } from "../durable/host.ts";
import { type Library, libraryOf } from "../engines/redis/library.ts";
import type { Ear } from "../engines/redis/link/ears.ts";
import type { RedisLink } from "../engines/redis/link/link.ts";
import { within } from "../engines/redis/link/within.ts";
import type { ShopDesk } from "../shop/api/shop-desk.ts";
import type { LedgerMethods } from "../shop/ledger/shared/remote-calls.ts";
import type { SharedDisk } from "../shop/ledger/shared/shared-disk.ts";
import {
  type MethodKind,
  type OwnLedger,
  SharedLedger,
  sharedBase,
} from "../shop/ledger/shared/shared-ledger.ts";
import { type KeptBy, LEDGER_FUNCTIONS, LEDGER_LUA } from "../shop/ledger/shared/shared-records.ts";
import type { ShopNews } from "../shop/rules/shop-book.ts";
import { type Ledgers, type LedgersParts, SHOP_CLASS, ShopLedgers } from "./shop-ledgers.ts";

/** Every method of a ledger, and where its idempotency key is. */
const METHODS: Readonly<Record<keyof ShopDesk, MethodKind>> = {
  setCatalogue: { keyAt: null },
  catalogue: { keyAt: null },
  products: { keyAt: null },
  basket: { keyAt: null },
  hold: { keyAt: 3 },
  extend: { keyAt: 4 },
  undo: { keyAt: 3 },
  finish: { keyAt: 2 },
  enterPayment: { keyAt: 2 },
  pay: { keyAt: 3 },
  leave: { keyAt: 2 },
  visitEnded: { keyAt: null },
  setPaymentDoor: { keyAt: null },
  adjust: { keyAt: 4 },
  reopen: { keyAt: null },
  close: { keyAt: null },
  open: { keyAt: null },
  orders: { keyAt: null },
  order: { keyAt: null },
  cancel: { keyAt: 4 },
  joinList: { keyAt: 4 },
  leaveList: { keyAt: 3 },
  lists: { keyAt: null },
  stock: { keyAt: null },
  figures: { keyAt: null },
  payment: { keyAt: null },
  ticketCount: { keyAt: null },
  verify: { keyAt: null, isLong: true },
};
/** After these every gateway reads the catalogue anew. */
const CHANGES: ReadonlySet<string> = new Set(["setCatalogue", "close", "open"]);
const LEARN = "learn";
/** News that could not be published are made up for as soon. */
const RETRY_MS = 1_000;
/** A gateway that ends waits as long for what is being sent to others; the next one sends the rest again. */
const SENDING_MS = 1_000;
/** Reading a ledger of millions of records takes minutes. */
const READING_MS_MAX = 1_200_000;

/** The functions of rooms and those of ledgers; the latter are called with their prefix. */
export function libraryWithLedgers(rooms: Library | null = null): Library {
  const ledgers = libraryOf("fairgate_ledger", [LEDGER_LUA]);
  return {
    parts: [...(rooms?.parts ?? []), ...ledgers.parts],
    functionName: (called) => {
      if (called.startsWith(LEDGER_FUNCTIONS))
        return ledgers.functionName(called.slice(LEDGER_FUNCTIONS.length));
      return rooms!.functionName(called);
    },
  };
}

export interface RedisShopsParts extends LedgersParts {
  /** With the machine's own clock; that of `world` is the line's. */
  readonly machine: World;
  readonly link: RedisLink;
  readonly prefix: string;
  readonly kept: KeptBy;
  readonly leaseMs?: number;
  readonly callTimeoutMs?: number;
}

export class RedisShops implements Ledgers {
  readonly #parts: RedisShopsParts;
  readonly #open = new Map<string, { readonly ledger: SharedLedger; readonly news: News }>();

  constructor(parts: RedisShopsParts) {
    this.#parts = parts;
  }

  open(shop: string, settings: Settings): ShopDesk {
    const { link, prefix, kept, world, machine, tell, learn, leaseMs, callTimeoutMs } = this.#parts;
    const news = new News({ link, channel: `${sharedBase(prefix, shop)}:news`, timers: machine.timers });
    news.hear({
      onMessage: (text) => (text === LEARN ? learn(shop) : tell(shop, readNews(text))),
      onGap: () => learn(shop),
    });
    const ledger = new SharedLedger({
      ...{ shop, link, prefix, kept, world: machine, className: SHOP_CLASS, methods: METHODS },
      ...(leaseMs !== undefined && { leaseMs }),
      ...(callTimeoutMs !== undefined && { callTimeoutMs }),
      open: (disk) => openHere(disk, { shop, settings, world, machine, news }),
    });
    this.#open.set(shop, { ledger, news });
    return ledger.desk as unknown as ShopDesk;
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#open.values()].map(({ ledger, news }) => {
        news.close();
        return ledger.close();
      }),
    );
  }
}

/** What every gateway hears. What could not be published is made up for: then all of them read everything anew. */
class News {
  readonly #parts: { readonly link: RedisLink; readonly channel: string; readonly timers: Timers };
  #stopHearing = () => {};
  #stopRetry: (() => void) | null = null;
  #isClosed = false;

  constructor(parts: { readonly link: RedisLink; readonly channel: string; readonly timers: Timers }) {
    this.#parts = parts;
  }

  hear(ear: Ear): void {
    this.#stopHearing = this.#parts.link.hear(this.#parts.channel, ear);
  }

  publish(text: string): void {
    const { link, channel } = this.#parts;
    link.command(null, ["PUBLISH", channel, text]).catch(() => this.#retry());
  }

  /** From now on nothing is heard, and nothing published a second time. */
  close(): void {
    this.#isClosed = true;
    this.#stopHearing();
    this.#stopRetry?.();
  }

  #retry(): void {
    if (this.#isClosed) return;
    this.#stopRetry ??= this.#parts.timers.after(RETRY_MS, () => {
      this.#stopRetry = null;
      this.publish(LEARN);
    });
  }
}

interface HereParts {
  readonly shop: string;
  readonly settings: Settings;
  readonly world: World;
  readonly machine: World;
  readonly news: News;
}

/** The ledger on a disk that this gateway owns. */
function openHere(disk: SharedDisk, { shop, settings, world, machine, news }: HereParts): OwnLedger {
  const host = new DurableHost(disk, { world, blockedMsMax: READING_MS_MAX });
  // The owner has to say that it is alive also while it reads a large shop.
  const breathe = () => new Promise<void>((resolve) => machine.timers.after(0, resolve));
  const tell: LedgersParts["tell"] = (_, told) => news.publish(JSON.stringify(told));
  const ledgers = new ShopLedgers({ host, world, tell, breathe });
  const methods = ledgers.open(shop, settings) as unknown as LedgerMethods;
  // The owner before may have died with news that it had not told.
  news.publish(LEARN);
  return {
    methods: withNews(methods, () => news.publish(LEARN)),
    broken: host.broken,
    close: async () => {
      await within(ledgers.close(), SENDING_MS, machine.timers);
      await host.close();
    },
  };
}

/** The methods of the gateway that keeps the ledger: others hear of a change also where its asker has died. */
function withNews(methods: LedgerMethods, changed: () => void): LedgerMethods {
  const told = Object.entries(methods).map(([name, method]) => {
    if (!CHANGES.has(name)) return [name, method];
    const telling = async (...args: never[]) => {
      const answer = await method(...args);
      changed();
      return answer;
    };
    return [name, telling];
  });
  return Object.fromEntries(told);
}

function readNews(text: string): ShopNews {
  return JSON.parse(text) as ShopNews;
}
