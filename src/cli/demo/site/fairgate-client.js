/* Made from src/client.ts by `npm run generate`. */
const ANSWER_TIMEOUT_MS = 15_000;
const TRIES_MAX = 6;
const TRY_AGAIN_MS = 400;
const BOARD_QUIET_MS = 90_000;
const SHOP_QUIET_MS = 660_000;
const STREAM_AGAIN_MS = 20_000;
const POLL_MS = 4_000;
const POLL_MAX_MS = 30_000;
const PAYING_POLL_MS = 2_000;
const BASKET_POLL_MAX_MS = 60_000;
export function createLine({ autoEnter = true, onTurn, solve, ...options }             )             {
  const { store, set, call, pause, later, follow } = start              (options, {
    status: "new",
    message: "",
    isOnline: true,
  });
  const { getSnapshot, close } = store;
  let sequence = 0;
  let latestAt = 0;
  let nextMs = 0;
  let isCheckingIn = false;
  function planCheckIn()       {
    isCheckingIn = true;
    later("checkIn", nextMs, () => {
      isCheckingIn = false;
      ask("check-in").catch((problem) => problem.details && planCheckIn());
    });
  }
  async function ask(
    what        ,
    signal              ,
    work                         ,
  )                        {
    const told       = await call("POST", what, signal, work).catch((problem) => {
      if (!(problem.status < 500 && problem.details.status)) throw problem;
      return problem.details;
    });
    if (told.status === "comeBack") {
      const solved = told.work && solve && { "fairgate-work": await solve(told.work) };
      await pause(Math.max(told.waitMs         , 1_000), signal);
      return ask(what, signal, solved);
    }
    if (told.status === "admitted") turn();
    else {
      set(told                );
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
    { nextEventAt: opensAt, marks, waits, lanes, draw, ...board }       ,
    isLive          ,
  )       {
    const shown = getSnapshot();
    const { state, waiting, message, madeAt } = board;
    if (shown.status !== "waiting" || madeAt < latestAt) return;
    latestAt = madeAt;
    set({ state, waiting, message, opensAt });
    const isKnown = !lanes && !draw && marks && sequence <= (marks.at(-1)?.[0] ?? 0);
    if (isKnown) {
      const ahead = Math.min(shown.ahead ?? Infinity, Math.round(along(marks, sequence)[1] ));
      const [, low, middle, high] = waits?.length
        ? along(waits, ahead).map((seconds) => seconds * 1_000)
        : [];
      set({ ahead, waitMs: high === undefined ? null : { low: low , middle: middle , high } });
    }
    if (isLive && isKnown) {
      isCheckingIn = false;
      later("checkIn");
    } else if (!isCheckingIn) planCheckIn();
  }
  function turn()       {
    close();
    if (getSnapshot().status === "admitted") return;
    set({ status: "admitted", ahead: 0 });
    onTurn?.();
    if (autoEnter) ask("enter").catch(() => {});
  }
  const to = (what        ) => (signal              ) => ask(what, signal);
  return { ...store, join: to("join"), enter: to("enter"), leave: to("leave") };
}
function along(points                                , x        )           {
  const at = points.findIndex(([from]) => from  >= x);
  const to = points.at(at) ;
  const from = points.at(at < 0 ? -2 : at && at - 1) ?? to;
  const share = (x - from[0] ) / (to[0]  - from[0]  || 1);
  return from.map((value, n) => value + share * (to[n]  - value));
}
export function createShop(options               )             {
  const { store, set, call, later, follow, clock } = start              (options, {
    catalogue: null,
    basket: null,
    isOnline: true,
  });
  let skewMs = 0;
  const now = () => clock.now() + skewMs;
  const read = async (signal              ) =>
    set({ catalogue: await call("GET", "shop/catalogue", signal) });
  function takeNews(
    news                                                                  ,
    isWhole          ,
  )       {
    const { catalogue } = store.getSnapshot();
    if (!catalogue || news.version <= catalogue.version) return;
    const byId = new Map(news.products.map((product) => [product.id, product]));
    const products = catalogue.products.map((product) => ({ ...product, ...byId.get(product.id) }));
    const isOther = isWhole && (byId.size > products.length || products.some(({ id }) => !byId.has(id)));
    if (isOther || news.catalogueVersion !== catalogue.catalogueVersion) read().catch(() => {});
    else set({ catalogue: { ...catalogue, version: news.version, products } });
  }
  function takeBasket                                 (basket       )        {
    set({ basket });
    const { phase, expiresAt, expiresInMs } = basket ?? ({}                       );
    if (expiresInMs) skewMs = expiresAt  - expiresInMs - clock.now();
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
  async function refresh(signal              )                             {
    const told = await call("GET", "shop/basket", signal);
    return takeBasket(told.phase ? told : null);
  }
  async function change(method        , path        , signal              , body         ) {
    const key = crypto.getRandomValues(new Uint32Array(4)).join("-");
    const headers = { "content-type": "application/json", "idempotency-key": key };
    const told = await call(method, `shop/${path}`, signal, headers, body);
    if (told.phase || told.basket) takeBasket(told.basket ?? told);
    return told;
  }
  const listOf = (product        ) => `waiting-list/${encodeURIComponent(product)}`;
  const holdAt = (hold        ) => `holds/${encodeURIComponent(hold)}`;
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
function start                                              (
  { room, base = "", headers, fetch = globalThis.fetch, machine = globalThis }               ,
  state       ,
) {
  const { EventSource, setTimeout, clearTimeout, Date: clock, Math: dice } = machine;
  const address = `${base}/.fairgate/${room}/`;
  const listeners = new Set                        ();
  const timers = new Map                                       ();
  let over = new AbortController();
  let stream                     = null;
  let isPolling = false;
  let misses = 0;
  function set(change                )       {
    state = { ...state, ...change };
    for (const listener of listeners) listener(state);
  }
  function later(name        , ms         , work             )       {
    clearTimeout(timers.get(name));
    if (work) timers.set(name, setTimeout(work, ms  * (0.8 + 0.4 * dice.random())));
  }
  const ends = (given              ) => AbortSignal.any(given ? [given, over.signal] : [over.signal]);
  function pause(ms        , given              )                {
    const signal = ends(given);
    return new Promise((resolve, reject) => {
      setTimeout(resolve, ms);
      signal.onabort = () => reject(signal.reason);
    });
  }
  async function call(
    method        ,
    path        ,
    given              ,
    more                         ,
    body         ,
  )               {
    const signal = ends(given);
    for (let tries = 1; ; tries++) {
      let status = 0;
      let details      = {};
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
      const isAway = !status || status > 501;
      if (state.isOnline === isAway) set({ isOnline: !isAway }                  );
      if (!isAway && status < 400) return details;
      if (!isAway || tries === TRIES_MAX) {
        const code = details.reason ?? details.error ?? "network";
        throw Object.assign(new Error(code), { status, code, details });
      }
      await pause(TRY_AGAIN_MS * 2 ** tries * (0.5 + dice.random()), signal);
    }
  }
  function follow(
    path        ,
    events                                     ,
    poll                     ,
    quietMs        ,
  )       {
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
          events[name] (JSON.parse((event                ).data));
        });
      opened.onerror = () => {
        if (opened.readyState === 2) later("listen", STREAM_AGAIN_MS, listen);
        fallBack();
      };
      opened.addEventListener("bye", () => {
        opened.close();
        opened.onerror (null         );
      });
    };
    listen();
  }
  const store = {
    getSnapshot: () => state,
    subscribe: (listener                        ) => {
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
