/**
 * The browser's side of a waiting room and of its shop, for pages that show them in their own way: `fairgate/client`.
 *
 *   const line = createLine({ room: "main" });          const shop = createShop({ room: "main" });
 *   line.subscribe(({ status, ahead }) => …);           shop.subscribe(({ catalogue, basket }) => …);
 *   await line.join();                                  await shop.open();
 *                                                       await shop.hold({ product: "seat", count: 2 });
 *
 * Both are stores: `subscribe` and `getSnapshot` go straight into React's `useSyncExternalStore`. News comes by an event stream;
 * while none comes through, it is polled for. Check-ins are sent when the server said so, and none while a stream says it all. A
 * write gets an `Idempotency-Key` and is repeated with it while there is no answer, so it is done once.
 *
 * One file without imports, so that it can also be copied beside a plain page, and small: less than 5 KB when minified. It takes
 * fetch, clock, timers and dice from the browser; a test hands in others.
 */
import type { Board, RoomState, WaitRange } from "./core/board.ts";
import type { Product, ShopPolicies } from "./shop/rules/catalogue.ts";
import type { BasketView, ListPlace, ProductView } from "./shop/rules/commands.ts";

export type { RoomState, WaitRange } from "./core/board.ts";
export type { ChoiceSet, OptionalPart, Part } from "./shop/rules/catalogue.ts";
export type { BasketPhase, HoldView, ListPlace, ShownState } from "./shop/rules/commands.ts";

const ANSWER_TIMEOUT_MS = 15_000;
const TRIES_MAX = 6;
const TRY_AGAIN_MS = 400;
/** After this long without an event a stream may be dead. Boards come all the time, changes of products do not. */
const BOARD_QUIET_MS = 90_000;
const SHOP_QUIET_MS = 660_000;
/** A stream that was ended or refused is opened anew. */
const STREAM_AGAIN_MS = 20_000;
const POLL_MS = 4_000;
const POLL_MAX_MS = 30_000;
const PAYING_POLL_MS = 2_000;
const BASKET_POLL_MAX_MS = 60_000;

/** What the client takes from its browser. */
export interface ClientMachine extends Pick<typeof globalThis, "clearTimeout" | "setTimeout"> {
  /** Undefined where there is none: then everything is polled. */
  readonly EventSource?: typeof EventSource | undefined;
  readonly Date: Pick<DateConstructor, "now">;
  readonly Math: Pick<Math, "random">;
}

export interface ClientOptions {
  /** The room's name. */
  readonly room: string;
  /** Origin of the gateway, such as `https://shop.example`. Default: that of the page. */
  readonly base?: string;
  /** Headers to send with every request, such as `Fairgate-Customer`. */
  readonly headers?: () => Record<string, string>;
  /** Default: the browser's. */
  readonly fetch?: typeof fetch;
  /** Default: the browser's. For tests. */
  readonly machine?: ClientMachine;
}

/** As `useSyncExternalStore` wants it. A listener is also handed the state. */
export interface ClientStore<State> {
  readonly getSnapshot: () => State;
  readonly subscribe: (listener: (state: State) => void) => () => void;
}

/** What calls reject with: the server refused, or there was no answer. */
export interface ClientProblem extends Error {
  /** Of the answer; 0: there was none. */
  readonly status: number;
  /** Such as `soldOut`; `network` when there was no answer. */
  readonly code: string;
  /** All of the answer. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** What a visitor is told of their place. What is null or missing is not known, or not shown in this room. */
export interface LineSnapshot {
  /** `new` before `join`; `admitted` when it is their turn, until they have entered. */
  readonly status: "new" | "waiting" | "admitted" | "entered" | "expired" | "refused" | "left";
  /** Why there is no place. */
  readonly reason?: string;
  readonly ahead?: number | null;
  readonly waiting?: number | null;
  readonly waitMs?: WaitRange | null;
  /** Of the room. */
  readonly state?: RoomState | null;
  /** In milliseconds since 1970. */
  readonly opensAt?: number | null;
  /** The organiser's, to everyone waiting. */
  readonly message: string;
  /** False while the last request got no answer. */
  readonly isOnline: boolean;
}

export interface LineOptions extends ClientOptions {
  /** False: the page calls `enter` when it is the visitor's turn. Default: the client does. */
  readonly autoEnter?: boolean;
  readonly onTurn?: () => void;
  /** Solves the work that a room with `abuse.proofOfWork` asks for (docs/programs.md). */
  readonly solve?: (work: { readonly challenge: string; readonly bits: number }) => Promise<string>;
}

export interface LineClient extends ClientStore<LineSnapshot> {
  /** A place, or straight in. Resolves with the first answer; the place is then kept and watched. */
  readonly join: (signal?: AbortSignal) => Promise<LineSnapshot>;
  readonly enter: (signal?: AbortSignal) => Promise<LineSnapshot>;
  /** Gives up the place or the visit. */
  readonly leave: (signal?: AbortSignal) => Promise<LineSnapshot>;
  /** Watches no longer. The place is kept until it lapses. */
  readonly close: () => void;
}

/** An answer about a place. */
interface Told extends Omit<LineSnapshot, "status"> {
  readonly status: LineSnapshot["status"] | "comeBack";
  readonly sequence: number;
  readonly nextCheckInMs: number;
  readonly work?: { readonly challenge: string; readonly bits: number };
}

/** A line that the visitor may join, or has a place in. */
export function createLine({ autoEnter = true, onTurn, solve, ...options }: LineOptions): LineClient {
  const { store, set, call, pause, later, follow } = start<LineSnapshot>(options, {
    status: "new",
    message: "",
    isOnline: true,
  });
  const { getSnapshot, close } = store;
  let sequence = 0;
  let latestAt = 0;
  let nextMs = 0;
  let isCheckingIn = false;

  /** While no event comes, and while events do not have this visitor's numbers. */
  function planCheckIn(): void {
    isCheckingIn = true;
    later("checkIn", nextMs, () => {
      isCheckingIn = false;
      // Closing ends it without details.
      ask("check-in").catch((problem) => problem.details && planCheckIn());
    });
  }

  async function ask(
    what: string,
    signal?: AbortSignal,
    work?: Record<string, string>,
  ): Promise<LineSnapshot> {
    // An answer that says what becomes of the place is no failure, whatever its status.
    const told: Told = await call("POST", what, signal, work).catch((problem) => {
      if (!(problem.status < 500 && problem.details.status)) throw problem;
      return problem.details;
    });
    if (told.status === "comeBack") {
      const solved = told.work && solve && { "fairgate-work": await solve(told.work) };
      await pause(Math.max(told.waitMs as never, 1_000), signal);
      return ask(what, signal, solved);
    }
    if (told.status === "admitted") turn();
    else {
      set(told as LineSnapshot);
      if (told.status === "waiting") {
        ({ sequence, nextCheckInMs: nextMs } = told);
        planCheckIn();
        const poll = async () => takeBoard(await call("GET", "board"));
        follow("events", { board: (board) => takeBoard(board, true), turn }, poll, BOARD_QUIET_MS);
      } else close();
    }
    return getSnapshot();
  }

  function takeBoard(
    { nextEventAt: opensAt, marks, waits, lanes, draw, ...board }: Board,
    isLive?: boolean,
  ): void {
    const shown = getSnapshot();
    const { state, waiting, message, madeAt } = board;
    if (shown.status !== "waiting" || madeAt < latestAt) return;
    latestAt = madeAt;
    set({ state, waiting, message, opensAt });
    // Only check-ins tell those in a lane, those whose place is drawn, and those who came after the board was made.
    const isKnown = !lanes && !draw && marks && sequence <= (marks.at(-1)?.[0] ?? 0);
    if (isKnown) {
      const ahead = Math.min(shown.ahead ?? Infinity, Math.round(along(marks, sequence)[1]!));
      const [, low, middle, high] = waits?.length
        ? along(waits, ahead).map((seconds) => seconds * 1_000)
        : [];
      set({ ahead, waitMs: high === undefined ? null : { low: low!, middle: middle!, high } });
    }
    if (isLive && isKnown) {
      isCheckingIn = false;
      later("checkIn");
    } else if (!isCheckingIn) planCheckIn();
  }

  function turn(): void {
    close();
    if (getSnapshot().status === "admitted") return;
    set({ status: "admitted", ahead: 0 });
    onTurn?.();
    if (autoEnter) ask("enter").catch(() => {});
  }

  const to = (what: string) => (signal?: AbortSignal) => ask(what, signal);
  return { ...store, join: to("join"), enter: to("enter"), leave: to("leave") };
}

/** Where `x` lies on straight lines between points, which begin with it; beyond the last as before it. */
function along(points: readonly (readonly number[])[], x: number): number[] {
  const at = points.findIndex(([from]) => from! >= x);
  const to = points.at(at)!;
  const from = points.at(at < 0 ? -2 : at && at - 1) ?? to;
  const share = (x - from[0]!) / (to[0]! - from[0]! || 1);
  return from.map((value, n) => value + share * (to[n]! - value));
}

/** A product as the shop shows it. Amounts are in minor units, instants in milliseconds since 1970. */
export interface ShopProduct
  extends ProductView,
    Pick<Product, "name" | "price" | "isForSale" | "parts" | "options" | "choices" | "limitPerCustomer"> {
  readonly saleStart: number | null;
  readonly saleEnd: number | null;
}

export interface ShopCatalogue
  extends Pick<ShopPolicies, "opensAt" | "isClosed" | "itemsMax" | "shoppingWindowMs"> {
  readonly version: number;
  readonly catalogueVersion: number;
  readonly currency: string;
  /** The room in front of payment; null: there is none. */
  readonly paymentRoom: string | null;
  readonly products: readonly ShopProduct[];
}

export interface ShopBasket extends BasketView {
  /** Of a call that took something: the ids of the holds it made. */
  readonly made?: readonly string[];
  readonly expiresInMs: number | null;
}

export interface ShopSnapshot {
  /** Null before `open`. */
  readonly catalogue: ShopCatalogue | null;
  /** Null: there is none. */
  readonly basket: ShopBasket | null;
  /** False while the last request got no answer. */
  readonly isOnline: boolean;
}

/** A product, how many of it, and what is chosen with each. */
export interface ShopWish {
  readonly product: string;
  /** Default: 1. */
  readonly count?: number;
  readonly chosen?: readonly ShopWish[];
}

/** A payment attempt that has begun: what the payment provider is to be asked for. */
export interface Attempt {
  readonly attempt: string;
  readonly amount: number;
  readonly currency: string;
  readonly basket: ShopBasket;
}

/** A call that is refused changes nothing. */
export interface ShopClient extends ClientStore<ShopSnapshot> {
  /** Reads catalogue and basket, and keeps both up to date from then on. */
  readonly open: (signal?: AbortSignal) => Promise<void>;
  /** Reads the basket again, such as when another tab may have changed it. */
  readonly refresh: (signal?: AbortSignal) => Promise<ShopBasket | null>;
  /** Takes a product into the basket, whole or not at all. */
  readonly hold: (wish: ShopWish, signal?: AbortSignal) => Promise<ShopBasket>;
  /** Adds an option or a choice to a hold. */
  readonly extend: (hold: string, wish: ShopWish, signal?: AbortSignal) => Promise<ShopBasket>;
  /** Gives a hold back. */
  readonly undo: (hold: string, signal?: AbortSignal) => Promise<ShopBasket>;
  readonly finish: (signal?: AbortSignal) => Promise<ShopBasket>;
  readonly pay: (signal?: AbortSignal) => Promise<Attempt>;
  readonly leave: (signal?: AbortSignal) => Promise<ShopBasket>;
  readonly joinList: (product: string, count?: number, signal?: AbortSignal) => Promise<ListPlace>;
  readonly leaveList: (product: string, signal?: AbortSignal) => Promise<void>;
  /** The server's time, which deadlines are in. */
  readonly now: () => number;
  readonly close: () => void;
}

/** The shop behind a room. */
export function createShop(options: ClientOptions): ShopClient {
  const { store, set, call, later, follow, clock } = start<ShopSnapshot>(options, {
    catalogue: null,
    basket: null,
    isOnline: true,
  });
  let skewMs = 0;
  const now = () => clock.now() + skewMs;
  const read = async (signal?: AbortSignal) =>
    set({ catalogue: await call("GET", "shop/catalogue", signal) });

  /** States and numbers by product. Other products, or another catalogue, are read whole. */
  function takeNews(
    news: Pick<ShopCatalogue, "version" | "catalogueVersion" | "products">,
    isWhole?: boolean,
  ): void {
    const { catalogue } = store.getSnapshot();
    if (!catalogue || news.version <= catalogue.version) return;
    const byId = new Map(news.products.map((product) => [product.id, product]));
    const products = catalogue.products.map((product) => ({ ...product, ...byId.get(product.id) }));
    const isOther = isWhole && (byId.size > products.length || products.some(({ id }) => !byId.has(id)));
    if (isOther || news.catalogueVersion !== catalogue.catalogueVersion) read().catch(() => {});
    else set({ catalogue: { ...catalogue, version: news.version, products } });
  }

  /** Looks again when its phase ends by itself, while a payment is under way, and now and then for what a waiting list offers. */
  function takeBasket<Taken extends ShopBasket | null>(basket: Taken): Taken {
    set({ basket });
    const { phase, expiresAt, expiresInMs } = basket ?? ({} as Partial<ShopBasket>);
    if (expiresInMs) skewMs = expiresAt! - expiresInMs - clock.now();
    const leftMs = phase === "paying" ? 0 : (expiresInMs ?? Infinity);
    const nextMs = Math.min(Math.max(leftMs, PAYING_POLL_MS), BASKET_POLL_MAX_MS);
    later(
      "basket",
      nextMs,
      phase === "departed"
        ? undefined
        : () => refresh().catch((problem) => problem.details && takeBasket(basket)),
    );
    return basket;
  }

  async function refresh(signal?: AbortSignal): Promise<ShopBasket | null> {
    const told = await call("GET", "shop/basket", signal);
    return takeBasket(told.phase ? told : null);
  }

  async function change(method: string, path: string, signal?: AbortSignal, body?: object) {
    // `randomUUID` is only there in secure contexts.
    const key = crypto.getRandomValues(new Uint32Array(4)).join("-");
    const headers = { "content-type": "application/json", "idempotency-key": key };
    const told = await call(method, `shop/${path}`, signal, headers, body);
    if (told.phase || told.basket) takeBasket(told.basket ?? told);
    return told;
  }

  const listOf = (product: string) => `waiting-list/${encodeURIComponent(product)}`;
  const holdAt = (hold: string) => `holds/${encodeURIComponent(hold)}`;

  return {
    ...store,
    refresh,
    now,
    open: async (signal) => {
      await Promise.all([read(signal), refresh(signal)]);
      follow(
        "shop/events",
        { products: (news) => takeNews(news, true), changes: takeNews },
        read,
        SHOP_QUIET_MS,
      );
    },
    hold: (wish, signal) => change("POST", "holds", signal, wish),
    extend: (hold, wish, signal) => change("POST", `${holdAt(hold)}/items`, signal, wish),
    undo: (hold, signal) => change("DELETE", holdAt(hold), signal),
    finish: (signal) => change("POST", "finish", signal),
    pay: (signal) => change("POST", "pay", signal),
    leave: (signal) => change("POST", "leave", signal),
    joinList: async (product, count, signal) =>
      (await change("POST", listOf(product), signal, { count })).place,
    leaveList: (product, signal) => change("DELETE", listOf(product), signal),
  };
}

/** What line and shop have in common: a store, requests to one room, timers by name, and news. */
function start<State extends { readonly isOnline: boolean }>(
  { room, base = "", headers, fetch = globalThis.fetch, machine = globalThis }: ClientOptions,
  state: State,
) {
  const { EventSource, setTimeout, clearTimeout, Date: clock, Math: dice } = machine;
  const address = `${base}/.fairgate/${room}/`;
  const listeners = new Set<(state: State) => void>();
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  let over = new AbortController();
  let stream: EventSource | null = null;
  let isPolling = false;
  let misses = 0;

  function set(change: Partial<State>): void {
    state = { ...state, ...change };
    for (const listener of listeners) listener(state);
  }

  /** Calls `work` after about this time, in place of what was planned by this name; without `work` nothing is. */
  function later(name: string, ms?: number, work?: () => void): void {
    clearTimeout(timers.get(name));
    if (work) timers.set(name, setTimeout(work, ms! * (0.8 + 0.4 * dice.random())));
  }

  const ends = (given?: AbortSignal) => AbortSignal.any(given ? [given, over.signal] : [over.signal]);

  function pause(ms: number, given?: AbortSignal): Promise<void> {
    const signal = ends(given);
    return new Promise((resolve, reject) => {
      setTimeout(resolve, ms);
      signal.onabort = () => reject(signal.reason);
    });
  }

  /** One request, repeated as it is while there is no answer. */
  async function call(
    method: string,
    path: string,
    given?: AbortSignal,
    more?: Record<string, string>,
    body?: object,
    // biome-ignore lint/suspicious/noExplicitAny: JSON, of which each caller says what it expects
  ): Promise<any> {
    const signal = ends(given);
    for (let tries = 1; ; tries++) {
      let status = 0;
      // biome-ignore lint/suspicious/noExplicitAny: JSON
      let details: any = {};
      try {
        const answer = await fetch(address + path, {
          method,
          headers: { accept: "application/json", ...headers?.(), ...more },
          credentials: "include",
          signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
          ...(body && { body: JSON.stringify(body) }),
        });
        details = await answer.json();
        status = answer.status;
      } catch {
        signal.throwIfAborted();
      }
      // Without JSON it is no answer of ours.
      const isAway = !status || status > 501;
      if (state.isOnline === isAway) set({ isOnline: !isAway } as Partial<State>);
      if (!isAway && status < 400) return details;
      if (!isAway || tries === TRIES_MAX) {
        const code = details.reason ?? details.error ?? "network";
        throw Object.assign(new Error(code), { status, code, details });
      }
      await pause(TRY_AGAIN_MS * 2 ** tries * (0.5 + dice.random()), signal);
    }
  }

  /** Hands out events as they come, and polls while none come through. */
  function follow(
    path: string,
    // biome-ignore lint/suspicious/noExplicitAny: JSON, of a type for each name
    events: Record<string, (news: any) => void>,
    poll: () => Promise<void>,
    quietMs: number,
  ): void {
    if (stream || isPolling) return;
    const pollLater = () => {
      if (isPolling) later("poll", Math.min(POLL_MS * 1.5 ** misses, POLL_MAX_MS), look);
    };
    const look = async () => {
      misses++;
      await poll().then(
        () => (misses = 0),
        () => {},
      );
      pollLater();
    };
    const fallBack = () => {
      if (isPolling) return;
      isPolling = true;
      pollLater();
    };
    const listen = () => {
      stream?.close();
      fallBack();
      if (!EventSource) return;
      const opened = new EventSource(address + path, { withCredentials: true });
      stream = opened;
      for (const name in events)
        opened.addEventListener(name, (event) => {
          isPolling = false;
          later("poll");
          later("listen", quietMs, listen);
          events[name]!(JSON.parse((event as MessageEvent).data));
        });
      opened.onerror = () => {
        // 2: it was refused, and the browser does not try again.
        if (opened.readyState === 2) later("listen", STREAM_AGAIN_MS, listen);
        fallBack();
      };
      opened.addEventListener("bye", () => {
        opened.close();
        opened.onerror!(null as never);
      });
    };
    listen();
  }

  const store = {
    getSnapshot: () => state,
    subscribe: (listener: (state: State) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => {
      over.abort();
      over = new AbortController();
      stream?.close();
      stream = null;
      isPolling = false;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
  return { store, set, call, pause, later, follow, clock };
}
