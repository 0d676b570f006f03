/**
 * The gateway decides about one request. It finds the room and reads the visitor's token. With a valid pass the request goes on
 * without an engine call; without one `threshold.ts` decides. Adapters (`adapters/`) make the facts and act on the verdict.
 *
 *   facts ─▶ visit ─▶ verdict ─┬─ passOn ─▶ depart ─▶ the site, by whatever way the adapter has
 *                              ├─ stream ─▶ opened by the adapter
 *                              ├─ takeBody ─▶ receive ─▶ read by the adapter ─▶ another verdict
 *                              └─ all else ─▶ render ─▶ status, headers, body
 */
import type { Settings } from "../config/schema.ts";
import type { StockNotice } from "../core/board.ts";
import type { Engine, Eventually } from "../core/engine.ts";
import { toHex } from "../core/hex.ts";
import { phaseAt } from "../core/schedule.ts";
import type { World } from "../core/world.ts";
import type { VisitorShop } from "../shop/api/visitor-shop.ts";
import { type StreamLimits, socketLimits } from "../sockets/socket-limits.ts";
import { NONE_ADDED, PERSONAL_JSON } from "./answer-headers.ts";
import { AskEngine } from "./ask-engine.ts";
import { BodyIntake, declaredLength } from "./body-intake.ts";
import { type Call, readCarrier } from "./call.ts";
import { type Facts, headerOf } from "./facts.ts";
import { withoutCode } from "./lanes/carried-code.ts";
import { KeySets } from "./lanes/key-sets.ts";
import { type Gone, Newcomers } from "./newcomers.ts";
import { createWatch } from "./origin-watch.ts";
import { OWN_PREFIX, OwnAddresses } from "./own-addresses.ts";
import type { OwnAnswer } from "./own-answer.ts";
import { PacedLog } from "./paced-log.ts";
import { PresenceReport } from "./presence.ts";
import { originForm, type Refusal } from "./proxy/framing.ts";
import { Memory } from "./proxy/slow-visitors.ts";
import { createTrust, type Trust } from "./proxy/trust.ts";
import { type Limited, RequestsUnderWay } from "./requests-under-way.ts";
import { RoomFront } from "./room-front.ts";
import { createRouter, type Routed, type Router } from "./route.ts";
import { shopAddressAt } from "./shop/shop-addresses.ts";
import { ShopEndpoints } from "./shop/shop-endpoints.ts";
import { ShopFront } from "./shop/shop-front.ts";
import { ShopStreams } from "./shop/shop-streams.ts";
import { EventStreams } from "./streams/event-streams.ts";
import type { OpenAnswer } from "./streams/open-answer.ts";
import { StrayConnections } from "./streams/stray-connections.ts";
import { StreamSeats } from "./streams/stream-seats.ts";
import { VisitConnections } from "./streams/visit-connections.ts";
import { hasCode, redirectWithoutCode, Threshold } from "./threshold.ts";
import type { HeldPass } from "./tokens/held-tokens.ts";
import { Keyring, type KeyringMemo, type KeyState } from "./tokens/keyring.ts";
import { OriginTokens } from "./tokens/origin-token.ts";
import { SHOP_TOKEN_LIFE_MS } from "./tokens/shop-token.ts";
import { VisitorTokens } from "./tokens/visitor-tokens.ts";
import { Traffic } from "./traffic.ts";
import { UnprovenPlaces } from "./unproven-places.ts";
import type { PassOn, Refuse, TakeBody, TooManyUnderWay, Verdict } from "./verdict.ts";
import { type Stay, VisitorEndpoints } from "./visitor-endpoints.ts";

const JWKS_PATH = "/.fairgate/jwks.json";
const FORGET_PERIOD_MS = 10_000;
const REPORT_PERIOD_MS = 1_000;
const JWKS_HEADERS: readonly string[] = [
  "Content-Type",
  "application/json",
  "Cache-Control",
  "public, max-age=300",
];
/** The log message; where it is a whole proxy that is refused, with what its operator forgot. */
const HINTS: Readonly<Record<Limited, string>> = {
  visitor: "one visitor has too many requests under way",
  address:
    "one address has too many requests under way; if it is a proxy of yours, name it in trustedProxies",
};

/** Everything that follows from the settings; replaced whole when they change. */
interface InForce {
  readonly settings: Settings;
  readonly router: Router;
  readonly trust: Trust;
  readonly fronts: ReadonlyMap<string, RoomFront>;
  readonly own: OwnAddresses;
  /** By shop. */
  readonly shops: ReadonlyMap<string, ShopFront>;
}

/** Settings with all that was built from them, to be put in force. */
export interface Prepared {
  readonly inForce: InForce;
  readonly keyring: Keyring;
}

/** For the access log: an answer of one of our own addresses that belongs to no room. */
const OWN = { decision: "own", room: null, visitor: null } as const;
/** The same for a refused request. */
const REFUSED = { decision: "refused", room: null, visitor: null } as const;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A request that went to the site is over. `isGivenUp`: its sender did not wait for the whole answer. */
export type Over = (isGivenUp: boolean) => void;

export interface GatewayParts {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly world: World;
  /** The shop of a name; left out where there is none. */
  readonly shopOf?: (name: string) => VisitorShop | undefined;
  /** How many files this process may open; left out where that does not matter. */
  readonly fileLimit?: number;
}

export class Gateway {
  readonly traffic = new Traffic();
  readonly #engine: Engine;
  readonly #world: World;
  readonly #tokens: VisitorTokens;
  readonly streams: EventStreams;
  readonly #seats: StreamSeats;
  readonly #streamLimits: (settings: Settings) => StreamLimits;
  readonly #endpoints: VisitorEndpoints;
  readonly #shopEndpoints: ShopEndpoints;
  readonly #shopStreams: ShopStreams;
  readonly #shopOf: (name: string) => VisitorShop | undefined;
  readonly #threshold: Threshold;
  readonly #presence: PresenceReport;
  readonly #underWay: RequestsUnderWay;
  /** For bodies that are read here. */
  readonly #bodies = {
    memory: new Memory(() => this.#inForce.settings.limits.bufferedBodiesBytes),
    underWay: new Set<BodyIntake>(),
  };
  readonly #connections: VisitConnections;
  readonly #strays: StrayConnections;
  readonly #stop: (() => void)[] = [];
  readonly #idPrefix: string;
  readonly #keySets: KeySets;
  readonly #ask: AskEngine;
  readonly #bugs: PacedLog;
  readonly #crowding: PacedLog;
  #originTokens: OriginTokens;
  #inForce!: InForce;
  #requests = 0;

  /** A gateway that has yet to be configured. Its secret is that of `settings`. */
  constructor(parts: GatewayParts) {
    const { engine, world, settings, shopOf = () => undefined, fileLimit = Number.POSITIVE_INFINITY } = parts;
    const { traffic } = this;
    const keyring = newKeyring(settings);
    const ask = new AskEngine(traffic, world, settings.redis?.timeoutMs ?? 0);
    const unproven = new UnprovenPlaces({ engine, ask, world });
    const trust = () => this.#inForce.trust;
    const tokens = new VisitorTokens(keyring, { traffic, unproven, world, trust });
    this.#streamLimits = (next) => socketLimits(next, fileLimit).streams;
    const limits = this.#streamLimits(settings);
    const seats = new StreamSeats(limits, traffic);
    const streams = new EventStreams({ engine, ask, seats, world });
    this.#engine = engine;
    this.#world = world;
    this.#tokens = tokens;
    this.streams = streams;
    this.#seats = seats;
    this.#originTokens = new OriginTokens(keyring);
    const newcomers = new Newcomers({
      ...{ engine, ask, tokens, traffic, trust, clock: world.clock },
      newcomersMax: () => this.#inForce.settings.limits.newcomersPerAddressMax,
    });
    this.#keySets = new KeySets(world);
    this.#threshold = new Threshold({
      ...{ engine, ask, tokens, traffic, unproven, newcomers },
      passOn: (call, held, given, decision) => this.#passOn(call, held, given, decision),
    });
    this.#ask = ask;
    this.#bugs = new PacedLog(world);
    this.#crowding = new PacedLog(world);
    this.#presence = new PresenceReport({ engine, ask, world });
    this.#underWay = new RequestsUnderWay(world);
    this.#connections = new VisitConnections({
      ...{ engine, ask, presence: this.#presence, world },
      frontOf: (room) => this.#inForce.fronts.get(room),
      isEnded: (id) => tokens.isRevoked(id),
      onEnd: () => traffic.connectionsEnded++,
    });
    this.#strays = new StrayConnections({
      ...{ engine, ask, world },
      onEnd: () => traffic.connectionsEnded++,
    });
    this.#endpoints = new VisitorEndpoints({
      ...{ engine, ask, tokens, newcomers, traffic, threshold: this.#threshold },
      ...{ connections: this.#connections, unproven, streams },
      stay: (call, held) => this.#stay(call, held),
    });
    this.#shopStreams = new ShopStreams({ seats, world });
    this.#shopEndpoints = new ShopEndpoints({
      ...{ tokens, threshold: this.#threshold, streams: this.#shopStreams, traffic, trust, world },
      stay: (call, held) => this.#stay(call, held),
      frontOf: (room) => this.#inForce.fronts.get(room),
    });
    this.#shopOf = shopOf;
    this.#idPrefix = toHex(world.random.bytes(4));
    this.#stop.push(world.timers.every(FORGET_PERIOD_MS, () => tokens.forget(world.clock.now())));
    this.#stop.push(world.timers.every(REPORT_PERIOD_MS, () => this.#reportLoad()));
    this.#stop.push(this.#listenToEngine());
  }

  get settings(): Settings {
    return this.#inForce.settings;
  }

  get trust(): Trust {
    return this.#inForce.trust;
  }

  /** Builds everything that depends on the settings, and changes nothing. Throws when they cannot be used. */
  prepare(settings: Settings): Prepared {
    const keyring = this.#keyringFor(settings);
    const fronts = new Map(
      Object.keys(settings.rooms).map((name) => [name, this.#buildFront(settings, name, keyring)]),
    );
    const own = new OwnAddresses(fronts.values());
    const router = createRouter(settings);
    const trust = createTrust(settings.trustedProxies, settings.forwardedHost);
    const shops = this.#buildShops(settings);
    return { inForce: { settings, router, trust, fronts, own, shops }, keyring };
  }

  /** Why a room cannot be built from its settings; null when it can. */
  problemOf(settings: Settings, room: string): string | null {
    try {
      this.#buildFront(settings, room, this.#keyringFor(settings));
      return null;
    } catch (cause) {
      return (cause as Error).message;
    }
  }

  /** Puts in force what was prepared from the settings before. Fails, changing nothing, when the engine does. */
  async putInForce({ inForce, keyring }: Prepared): Promise<void> {
    const told: string[] = [];
    try {
      for (const front of inForce.fronts.values()) {
        told.push(front.name);
        await this.#engine.configure(front.name, front.roomRules);
        front.show(await this.#engine.board(front.name));
      }
    } catch (cause) {
      await this.#configureBack(told);
      throw cause;
    }
    if (keyring !== this.#tokens.keyring) this.#originTokens = new OriginTokens(keyring);
    this.#tokens.turnTo(keyring);
    this.#seats.limits = this.#streamLimits(inForce.settings);
    this.#inForce = inForce;
  }

  /** Puts settings in force, or fails and changes nothing. */
  async configure(settings: Settings): Promise<void> {
    await this.putInForce(this.prepare(settings));
  }

  /** Decides about a request: synchronously, unless the engine answers with a promise. */
  visit(facts: Facts): Eventually<Verdict> {
    const { url } = facts;
    if (!facts.isUpgrade) {
      const own = this.#inForce.own.find(url);
      if (own?.endpoint === "board" && facts.method === "GET") return this.#endpoints.board(own.front);
      if (own) return this.#endpoints.visit(own.endpoint, this.#callOf(own.front, facts, url));
    }
    const written = url.startsWith("/") ? url : originForm(url);
    if (written.startsWith(OWN_PREFIX)) return this.#visitOwn(written, facts);
    const routed = this.#route(facts, written);
    if ("status" in routed) return this.refuse(routed);
    const { target } = routed;
    // An odd spelling of an address of ours.
    if (target.startsWith(OWN_PREFIX)) return this.#visitOwn(target, facts);
    const front = routed.room === null ? undefined : this.#inForce.fronts.get(routed.room);
    if (front === undefined)
      return this.#passOn(this.#callOf(null, facts, target), null, NONE_ADDED, "outside");
    front.turn(facts.now);
    const call = this.#callOf(front, facts, target);
    if (this.#isLetPast(call)) return this.#passOn(call, null, NONE_ADDED, "bypassed");
    const held = this.#tokens.read(call);
    if (held?.kind !== "pass") return this.#threshold.come(call, held);
    const { headers } = this.#stay(call, held);
    return hasCode(call) ? redirectWithoutCode(call, headers) : this.#passOn(call, held, headers, "pass");
  }

  /** Refuses a request without acting on it. */
  refuse({ status, reason }: Refusal): Refuse {
    this.#world.log.debug({ code: "REQUEST_REFUSED", status, reason }, "request refused");
    return { kind: "refuse", ...REFUSED, status, reason };
  }

  /**
   * A request goes to the site: it counts as under way until the function that is returned is called, and is broken off by
   * `answer` when its visit ends. Or its sender has too many under way.
   */
  depart(verdict: PassOn, answer: OpenAnswer, isContinueExpected: boolean): Over | TooManyUnderWay {
    const { held, front, sender, origin } = verdict;
    const counted = this.#underWay.take(held?.pass.id ?? null, sender, this.#inForce.settings.limits);
    if (typeof counted === "string") return this.#tooMany(verdict, counted);
    const connection = held && front ? this.#connections.open(answer, front, held.pass) : null;
    const stray = front && verdict.decision === "stray" ? this.#strays.open(answer, front.name) : null;
    const forward: Mutable<PassOn> = verdict;
    forward.client = counted.address;
    // The same for all requests of a visitor, wherever they come in.
    if (origin?.sticky === "visitor") forward.stickyKey = held?.pass.id ?? counted.address;
    forward.isContinueExpected = isContinueExpected;
    forward.connection = connection;
    this.traffic.requests.proxied++;
    return (isGivenUp) => {
      if (connection) this.#connections.closed(connection);
      if (stray) this.#strays.closed(stray);
      if (isGivenUp) this.#underWay.giveUp(counted);
      else this.#underWay.release(counted);
    };
  }

  /**
   * A body is to be read: what comes of it goes into what is returned, and `answer` is called once with what it leads to, unless
   * its sender leaves before. Or its sender has too many requests under way.
   */
  receive(
    { visitor, room, sender, bytesMax, use }: TakeBody,
    facts: Facts,
    answer: (verdict: Eventually<OwnAnswer | Gone>) => void,
  ): BodyIntake | TooManyUnderWay {
    const { limits } = this.#inForce.settings;
    const counted = this.#underWay.take(visitor, sender, limits);
    if (typeof counted === "string")
      return this.#tooMany({ facts, responseHeaders: NONE_ADDED, sender, room, visitor }, counted);
    const intake = new BodyIntake({
      ...{ bytesMax, limits, ...this.#bodies, world: this.#world },
      settle: (body) => answer(use(body)),
      over: (isGivenUp) => {
        if (isGivenUp) this.#underWay.giveUp(counted);
        else this.#underWay.release(counted);
      },
    });
    intake.begin(declaredLength(headerOf(facts, "content-length")));
    return intake;
  }

  /** False while nobody is let into a room by its settings: it is paused, closed, or gathers people. True: there is no such room. */
  isLettingIn(room: string): boolean {
    const front = this.#inForce.fronts.get(room);
    if (!front) return true;
    const { rules, isPrequeue } = phaseAt(front.roomRules, this.#world.clock.now());
    return !isPrequeue && !rules.paused && !rules.closed && !rules.queueAll;
  }

  /** What is left to buy behind a room: everyone who waits there is told. */
  noteStock(room: string, stock: StockNotice): void {
    const front = this.#inForce.fronts.get(room);
    if (front?.noteStock(stock)) this.streams.showBoard(front.board);
  }

  /** Turns the key ring as far as it was before a restart. */
  restoreKeyring(memo: KeyringMemo): void {
    this.#tokens.keyring.restore(memo);
  }

  keys(): KeyState[] {
    return this.#tokens.keyring.states();
  }

  /** A new key signs from now on; every place and pass stays good. `keep` is waited for before that is so. */
  async rotateKeys(keep: (memo: KeyringMemo) => Promise<void> = async () => {}): Promise<string> {
    const { fronts, shops } = this.#inForce;
    const lives = [...fronts.values()].flatMap(({ rules }) => [rules.ticketTtlMs, rules.sessionDurationMs]);
    if (shops.size > 0) lives.push(SHOP_TOKEN_LIFE_MS);
    const now = this.#world.clock.now();
    const { keyring } = this.#tokens;
    const memo = keyring.turned({ now, tokenLifeMs: Math.max(0, ...lives) });
    await keep(memo);
    keyring.restore(memo);
    const [{ id }] = keyring.states() as [KeyState];
    this.#world.log.info({ key: id }, "keys rotated");
    return id;
  }

  /** Ends every event stream, so that a listener can close. */
  closeStreams(): void {
    this.streams.close();
    this.#shopStreams.close();
  }

  async close(): Promise<void> {
    this.closeStreams();
    for (const stop of this.#stop) stop();
    this.#connections.close();
    this.#strays.close();
    await this.#presence.close();
  }

  #keyringFor(settings: Settings): Keyring {
    const isSame = isSameSecret(this.#inForce?.settings, settings);
    return isSame ? this.#tokens.keyring : newKeyring(settings);
  }

  #buildFront(settings: Settings, name: string, keyring: Keyring): RoomFront {
    const world = this.#world;
    const before = this.#inForce?.fronts.get(name);
    const front = new RoomFront({ name, settings, keyring, keySets: this.#keySets, world, before });
    front.watch = createWatch(front, { engine: this.#engine, ask: this.#ask, tokens: this.#tokens, world });
    return front;
  }

  #buildShops(settings: Settings): ReadonlyMap<string, ShopFront> {
    const now = this.#world.clock.now();
    const fronts = Object.entries(settings.shops).flatMap(([name, shopSettings]): [string, ShopFront][] => {
      const shop = this.#shopOf(name);
      if (!shop) return [];
      const customerSecret = settings.shopSecrets.get(name)?.customer ?? null;
      const before = this.#inForce?.shops.get(name);
      const parts = { shop, settings: shopSettings, customerSecret, keySets: this.#keySets, now, before };
      return [[name, new ShopFront(parts)]];
    });
    return new Map(fronts);
  }

  /** Gives these rooms of the engine back the rules in force. */
  async #configureBack(rooms: readonly string[]): Promise<void> {
    const before = rooms.flatMap((room) => this.#inForce?.fronts.get(room) ?? []);
    try {
      for (const { name, roomRules } of before) await this.#engine.configure(name, roomRules);
    } catch (cause) {
      // An engine that went away is given the rules in force when it is back, or at the next start.
      this.#world.log.warn({ err: cause, rooms }, "rooms may have rules that were not put in force");
    }
  }

  #callOf<Front extends RoomFront | null>(
    front: Front,
    facts: Facts,
    target: string,
  ): Call & { front: Front } {
    const { settings, trust } = this.#inForce;
    // Without proxies to believe, the connection itself tells.
    const isSecure =
      settings.trustedProxies.length === 0
        ? facts.socket.encrypted === true
        : trust.client(facts).protocol === "https";
    return { front: front as Front & RoomFront, facts, target, carrier: readCarrier(facts, isSecure) };
  }

  #route(facts: Facts, url: string): Routed | Refusal {
    const { router, trust } = this.#inForce;
    // Where one room has everything, neither host nor path decides.
    if (router.only !== null) return { room: router.only, target: url, route: null };
    return router.route(trust.client(facts).host, url);
  }

  /** Whether a request goes to the site without a line: the room does nothing, or a rule of its says so. */
  #isLetPast({ front, facts, target }: Call): boolean {
    front.load.came();
    if (front.settings.suspended) return true;
    const rule = front.bypass.match(facts, target, this.#inForce.trust);
    if (rule !== null) this.traffic.count("bypassed", `${front.name}: ${rule}`);
    return rule !== null;
  }

  /** Other spellings of our own addresses (with a query or an odd path), the key set, and unknown addresses. */
  #visitOwn(url: string, facts: Facts): Eventually<Verdict> {
    const path = url.split("?", 1)[0]!;
    const own = facts.isUpgrade ? undefined : this.#inForce.own.find(path);
    if (own) return this.#endpoints.visit(own.endpoint, this.#callOf(own.front, facts, url));
    const inShop = facts.isUpgrade ? null : this.#visitShop(path, url, facts);
    if (inShop !== null) return inShop;
    if (path !== JWKS_PATH || facts.isUpgrade)
      return jsonAnswer(404, PERSONAL_JSON, '{"error":"no such address"}');
    return this.#originTokens.jwks().then(
      (jwks) => jsonAnswer(200, JWKS_HEADERS, jwks),
      (cause) => {
        const message = "the key set could not be made";
        this.#bugs.add({ level: "error", about: "", fields: { err: cause }, message });
        return jsonAnswer(500, PERSONAL_JSON, '{"error":"internal"}');
      },
    );
  }

  /** The answer of a shop's address; null for a path that is none. */
  #visitShop(path: string, url: string, facts: Facts): Eventually<Verdict> | null {
    const address = shopAddressAt(path);
    const front = address && this.#inForce.fronts.get(address.room);
    const { shop } = front?.roomSettings ?? { shop: null };
    const shopFront = shop === null ? undefined : this.#inForce.shops.get(shop);
    if (!address || !front || !shopFront) return null;
    return this.#shopEndpoints.visit(address, this.#callOf(front, facts, url), shopFront);
  }

  /** Someone on the site: no engine call, only word of their presence now and then. Gives what renews their pass. */
  #stay(call: Call, held: HeldPass): ReturnType<Stay> {
    const leftMs = held.pass.expiresAt - call.facts.now;
    const renewal = this.#tokens.renew(call, held);
    if (renewal) {
      this.#presence.report(renewal.pass, leftMs);
      this.#connections.renewed(renewal.pass);
    } else if (!held.isReported) this.#presence.report(held.pass, leftMs);
    held.isReported = true;
    return renewal ?? { headers: NONE_ADDED, pass: held.pass };
  }

  #passOn(
    { front, facts, target, carrier }: Call | (Omit<Call, "front"> & { readonly front: null }),
    held: HeldPass | null,
    given: readonly string[],
    decision: PassOn["decision"],
  ): Eventually<Verdict> {
    const isToken = given.length > 0 && carrier.programToken !== undefined;
    const verdict: Mutable<PassOn> = {
      kind: "passOn",
      decision,
      room: front?.name ?? null,
      visitor: held?.pass.id ?? null,
      id: `${this.#idPrefix}-${(this.#requests++).toString(36)}`,
      front,
      origin: front?.settings.origin ?? this.#inForce.settings.origin,
      target: front?.membership.takesCodes ? withoutCode(target) : target,
      requestHeaders: NONE_ADDED,
      responseHeaders: isToken && front ? [...given, ...front.cors.tokenHeaders(facts)] : given,
      isPersonal: decision !== "bypassed" && decision !== "outside",
      isOnSite: held !== null,
      sender: this.#inForce.trust.client(facts),
      client: null,
      stickyKey: null,
      isContinueExpected: false,
      watch: front?.watch ?? null,
      connection: null,
      held,
      facts,
      carrier,
    };
    if (!held) return verdict;
    const described = this.#originTokens.describe(held, verdict.origin?.token ?? "none", (cause) => {
      const message = "the origin's token was not signed; the request goes on without";
      this.#bugs.add({ level: "error", about: "", fields: { err: cause, id: verdict.id }, message });
    });
    if (described instanceof Promise)
      return described.then((headers) => {
        verdict.requestHeaders = headers;
        return verdict;
      });
    verdict.requestHeaders = described;
    return verdict;
  }

  #tooMany(
    {
      facts,
      responseHeaders,
      sender,
      room,
      visitor,
    }: Pick<PassOn, "facts" | "responseHeaders" | "sender" | "room" | "visitor">,
    over: Limited,
  ): TooManyUnderWay {
    this.traffic.count("requestsRefused", over);
    const fields = { code: "TOO_MANY_REQUESTS", address: sender.address };
    this.#crowding.add({ level: "warn", about: "", fields, message: HINTS[over] });
    const words = { accept: headerOf(facts, "accept"), language: headerOf(facts, "accept-language") };
    return { kind: "tooMany", decision: "tooMany", room, visitor, over, ...words, headers: responseHeaders };
  }

  /** Tells the engine how origins do, where it wants to know. */
  #reportLoad(): void {
    if (!this.#inForce) return;
    for (const front of this.#inForce.fronts.values()) {
      // Taken in any case: the first report must not tell of a whole day as of one second.
      const load = front.load.take(this.#idPrefix, REPORT_PERIOD_MS);
      if (!front.isLoadWatched) continue;
      void this.#ask.ask(() => this.#engine.report(front.name, load));
    }
  }

  #listenToEngine(): () => void {
    return this.#engine.subscribe({
      onTurns: (room, sequences) => this.streams.showTurns(room, sequences),
      onDraw: (room) => {
        this.#tokens.noteDraw(room);
        this.streams.showDraw(room);
      },
      onRevoked: (room, id, until) => {
        this.#tokens.revoke(id, until);
        this.#connections.ended(room, id);
      },
      onBoard: (board) => {
        const front = this.#inForce?.fronts.get(board.room);
        front?.show(board);
        this.streams.showBoard(front?.board ?? board);
      },
    });
  }
}

function jsonAnswer(status: number, headers: readonly string[], body: string): OwnAnswer {
  const all = [...headers, "Content-Length", String(body.length)];
  return { kind: "answer", ...OWN, status, headers: all, body, isPoll: false };
}

function newKeyring(settings: Settings): Keyring {
  if (settings.secret === null) throw new Error("a gateway needs a secret");
  return new Keyring({ secret: settings.secret, previousSecrets: settings.previousSecrets });
}

function isSameSecret(before: Settings | undefined, now: Settings): boolean {
  if (before === undefined) return true;
  return before.secret === now.secret && before.previousSecrets.join("\n") === now.previousSecrets.join("\n");
}
