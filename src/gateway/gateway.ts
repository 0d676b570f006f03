/**
 * The gateway: request in, response out. It finds the room, reads what the visitor carries, asks the engine only when
 * it must, and then either hands the request on to the origin or tells its sender to wait.
 *
 *   valid pass ─────────────▶ origin            (no engine call)
 *   ticket ─▶ engine.enter ─▶ origin | waiting
 *   nothing ─▶ engine.join ─▶ origin | waiting
 *   engine away ────────────▶ origin (fail open) | a page that says so (fail closed)
 *
 * How a request reaches the origin is handed in: over the proxy, or to the next middleware.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { OriginSettings, Settings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import { EVERYBODY } from "../core/rules.ts";
import type { World } from "../core/world.ts";
import { type StreamLimits, socketLimits } from "../sockets/socket-limits.ts";
import type { AccessLog } from "./access-log/access-log.ts";
import { entryOf } from "./access-log/entry.ts";
import type { Decision } from "./access-log/line.ts";
import { AskEngine, ENGINE_AWAY } from "./ask-engine.ts";
import { type Asking, readAsking } from "./asking.ts";
import type { BypassRequest } from "./bypass.ts";
import { type Carrier, readCarrier } from "./carrier.ts";
import { EventStreams } from "./event-streams.ts";
import {
  isGivenUp,
  isGone,
  PERSONAL_JSON,
  type Request,
  type Response,
  send,
  sendWhole,
} from "./exchange.ts";
import type { Held, HeldPass } from "./held-tokens.ts";
import { Keyring, type KeyringMemo, type KeyState } from "./keyring.ts";
import { codeInUrl, linkWithoutCode, withoutCode } from "./lanes/carried-code.ts";
import { KeySets } from "./lanes/key-sets.ts";
import { Newcomers, retrySeconds, type TurnedAway, turnedAwaySeconds } from "./newcomers.ts";
import { OriginTokens } from "./origin-token.ts";
import { createWatch, type OnSite } from "./origin-watch.ts";
import { OWN_PREFIX, OwnAddresses } from "./own-addresses.ts";
import { PacedLog } from "./paced-log.ts";
import { PresenceReport } from "./presence.ts";
import { originForm, type Refusal } from "./proxy/framing.ts";
import type { Forward } from "./proxy/proxy.ts";
import { answerRaw } from "./proxy/raw-answer.ts";
import { type Client, createTrust, type Trust } from "./proxy/trust.ts";
import { refuse, refuseUpgrade } from "./refusal.ts";
import { type Counted, type Over, RequestsUnderWay } from "./requests-under-way.ts";
import { RoomFront } from "./room-front.ts";
import { createRouter, type Routed, type Router } from "./route.ts";
import { type StrayConnection, StrayConnections } from "./stray-connections.ts";
import { type Outcome, Threshold } from "./threshold.ts";
import { TooManyRequests } from "./too-many-requests.ts";
import { Traffic } from "./traffic.ts";
import { UnprovenPlaces } from "./unproven-places.ts";
import { type VisitConnection, VisitConnections } from "./visit-connections.ts";
import { type Stay, VisitorEndpoints } from "./visitor-endpoints.ts";
import { VisitorTokens } from "./visitor-tokens.ts";
import { type Told, WaitingAnswers } from "./waiting-answers.ts";

const JWKS_PATH = "/.fairgate/jwks.json";
const FORGET_PERIOD_MS = 10_000;
const REPORT_PERIOD_MS = 1_000;
const AWAY_RETRY_SECONDS = 10;
const NOTHING: readonly string[] = [];
const JWKS_HEADERS: readonly string[] = [
  "Content-Type",
  "application/json",
  "Cache-Control",
  "public, max-age=300",
];

/** Hands a request on to the site. `origin` is the room's, or the default one. */
export type Onward = (forward: Forward, origin: OriginSettings | null) => void;
/** The same, told which request: one function for all of them. */
export type OnwardAny = (
  request: Request,
  response: Response,
  forward: Forward,
  origin: OriginSettings | null,
) => void;

/** Everything that follows from the settings; replaced whole when they change. */
interface InForce {
  readonly settings: Settings;
  readonly router: Router;
  readonly trust: Trust;
  readonly fronts: ReadonlyMap<string, RoomFront>;
  readonly own: OwnAddresses;
}

/** Settings with all that was built from them, to be put in force. */
export interface Prepared {
  readonly inForce: InForce;
  readonly keyring: Keyring;
}

/** One request on its way to the site. */
interface Departing {
  readonly front: RoomFront | undefined;
  readonly carrier: Carrier;
  readonly onward: Onward;
  readonly isContinueExpected: boolean;
  /** Behind a line, so that the answer is for its visitor alone. */
  readonly isPersonal: boolean;
  /** They have a visit. */
  readonly isOnSite: boolean;
  /** Whom it counts for; null where that is not known. */
  readonly client: string | null;
  /** Of a visit; null where there is none. */
  readonly connection: VisitConnection | null;
}

/** What someone is told who shows a token that was given to another browser. */
const STRANGE: TurnedAway = { kind: "turnedAway", reason: "wrongBrowser", until: null };
/** The same for a request that belongs to no visit. */
const MUST_WAIT: TurnedAway = { kind: "turnedAway", reason: "mustWait", until: null };

export interface GatewayParts {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly world: World;
  /** How many files this process may open; left out where that does not matter. */
  readonly fileLimit?: number;
  /** What becomes of requests is noted there. */
  readonly accessLog?: AccessLog;
}

export class Gateway {
  readonly traffic = new Traffic();
  readonly #engine: Engine;
  readonly #world: World;
  readonly #tokens: VisitorTokens;
  readonly #streams: EventStreams;
  readonly #streamLimits: (settings: Settings) => StreamLimits;
  readonly #endpoints: VisitorEndpoints;
  readonly #newcomers: Newcomers;
  readonly #threshold: Threshold;
  readonly #answers: WaitingAnswers;
  readonly #presence: PresenceReport;
  readonly #underWay: RequestsUnderWay;
  readonly #tooMany: TooManyRequests;
  readonly #connections: VisitConnections;
  readonly #strays: StrayConnections;
  readonly #stop: (() => void)[] = [];
  readonly #idPrefix: string;
  readonly #keySets: KeySets;
  readonly #ask: AskEngine;
  readonly #bugs: PacedLog;
  readonly #accessLog: AccessLog | undefined;
  #originTokens: OriginTokens;
  #inForce!: InForce;
  #requests = 0;

  /** A gateway that has yet to be configured. Its secret is that of `settings`. */
  constructor(parts: GatewayParts) {
    const { engine, world, settings, fileLimit = Number.POSITIVE_INFINITY } = parts;
    const { traffic } = this;
    const keyring = newKeyring(settings);
    const ask = new AskEngine(traffic, world, settings.redis?.timeoutMs ?? 0);
    const unproven = new UnprovenPlaces({ engine, ask, world });
    const tokens = new VisitorTokens(keyring, { traffic, unproven, world });
    this.#streamLimits = (next) => socketLimits(next, fileLimit).streams;
    const limits = this.#streamLimits(settings);
    const streams = new EventStreams({ engine, ask, traffic, limits, world });
    this.#engine = engine;
    this.#world = world;
    this.#accessLog = parts.accessLog;
    this.#tokens = tokens;
    this.#streams = streams;
    this.#originTokens = new OriginTokens(keyring);
    const newcomers = new Newcomers({
      ...{ engine, ask, tokens, traffic, clock: world.clock },
      trust: () => this.#inForce.trust,
      newcomersMax: () => this.#inForce.settings.limits.newcomersPerAddressMax,
    });
    const { timers } = world;
    this.#keySets = new KeySets(world);
    this.#newcomers = newcomers;
    this.#threshold = new Threshold({ engine, ask, tokens, newcomers });
    this.#answers = new WaitingAnswers({ tokens, traffic, newcomers, unproven, world });
    this.#ask = ask;
    this.#bugs = new PacedLog(world);
    this.#presence = new PresenceReport({ engine, ask, world });
    this.#underWay = new RequestsUnderWay(world);
    this.#tooMany = new TooManyRequests(traffic, world);
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
      ...{ engine, ask, tokens, newcomers, streams, traffic, timers, threshold: this.#threshold },
      ...{ connections: this.#connections, unproven },
      stay: (front, held, carrier, now) => this.#stay(front, held, carrier, now),
    });
    this.#idPrefix = Buffer.from(world.random.bytes(4)).toString("hex");
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

  /** Builds all that follows from settings, and changes nothing. Throws when they cannot be used. */
  prepare(settings: Settings): Prepared {
    const keyring = this.#keyringFor(settings);
    const fronts = new Map(
      Object.keys(settings.rooms).map((name) => [name, this.#buildFront(settings, name, keyring)]),
    );
    const own = new OwnAddresses(fronts.values());
    const router = createRouter(settings);
    const trust = createTrust(settings.trustedProxies, settings.forwardedHost);
    return { inForce: { settings, router, trust, fronts, own }, keyring };
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
    this.#streams.limits = this.#streamLimits(inForce.settings);
    this.#inForce = inForce;
  }

  /** Puts settings in force, or fails and changes nothing. */
  async configure(settings: Settings): Promise<void> {
    await this.putInForce(this.prepare(settings));
  }

  /** Serves one request; `onward` is how it reaches the site. */
  serve(request: Request, response: Response, onward: OnwardAny, isContinueExpected = false): void {
    const { url: written = "/" } = request;
    const own = this.#inForce.own.find(written);
    if (own?.endpoint === "board" && request.method === "GET")
      return this.#endpoints.sendBoard(own.front, response);
    const entry = this.#accessLog?.begin(request, response);
    const url = written.startsWith("/") ? written : originForm(written);
    const carrier = readCarrier(request, this.#isSecure(request));
    const now = this.#world.clock.now();
    if (own)
      return this.#endpoints.serve(own.endpoint, { front: own.front, request, response, carrier, now });
    if (url.startsWith(OWN_PREFIX)) return this.#serveOther(url, request, response, carrier, now);
    const routed = this.#route(request, url);
    if ("status" in routed) return refuse(request, response, routed, { world: this.#world, isLast: false });
    const { target } = routed;
    // An odd spelling of an address of ours.
    if (target.startsWith(OWN_PREFIX)) return this.#serveOther(target, request, response, carrier, now);
    // What was routed is what is sent.
    if (target !== written) request.url = target;
    const front = this.#frontOf(routed, now);
    if (entry && front) entry.room = front.name;
    const hand: Onward = (words, origin) => {
      if (entry) entry.id = words.id;
      if (front?.membership.takesCodes) request.url = withoutCode(request.url!);
      onward(request, response, words, origin);
    };
    const isLetPast = !front || this.#isLetPast(front, request, target);
    const forward = (held: HeldPass | null, given: readonly string[], decision: Decision) => {
      if (isGone(response)) return;
      entry?.decide(decision, held?.pass.id);
      const isToken = given.length > 0 && carrier.programToken !== undefined;
      const headers = isToken && front ? [...given, ...front.cors.tokenHeaders(request)] : given;
      const client = this.#inForce.trust.client(request);
      if (entry) entry.client = client;
      const connection = held && front ? this.#connections.open(response, front, held.pass) : null;
      const stray = front && decision === "stray" ? this.#strays.open(response, front.name) : null;
      const counted = this.#count(held, client, response, connection, stray);
      if (typeof counted === "string")
        return this.#tooMany.refuse(request, response, { over: counted, address: client.address, headers });
      const { address } = counted;
      this.#forward(
        {
          front,
          carrier,
          onward: hand,
          isContinueExpected,
          isPersonal: !isLetPast,
          isOnSite: held !== null,
          client: address,
          connection,
        },
        held,
        headers,
      );
    };
    if (isLetPast) return forward(null, NOTHING, front ? "bypassed" : "outside");
    const held = this.#tokens.read(front, carrier, now, this.#newcomers.senderFor(front, request));
    // An address with a code in it is left at once, before anyone else sees it.
    const isCodeShown = hasCode(front, request, carrier);
    if (held?.kind === "pass") {
      const { headers } = this.#stay(front, held, carrier, now);
      return isCodeShown
        ? redirect(response, linkWithoutCode(target), headers)
        : forward(held, headers, "pass");
    }
    const asking = readAsking(request, carrier, front.settings.jsonResponseEnabled);
    const told = (headers: readonly string[], sequence: number): Told => {
      return { front, request, response, carrier, asking, headers, sequence };
    };
    if (held?.kind === "stranger") return this.#answers.turnAway(told(NOTHING, -1), STRANGE);
    if (asking.isPreflight && front.cors.isForToken(request))
      return this.#answers.preflight(told(NOTHING, -1));
    if (this.#isStray(front, held, asking, carrier, now))
      return this.#letPastIfRoom(front, request, asking, now, {
        past: () => forward(null, NOTHING, "stray"),
        turnAway: () => this.#answers.turnAway(told(NOTHING, -1), MUST_WAIT),
        away: () => this.#answers.away(told(NOTHING, -1)),
      });
    const arriving = {
      ...{ front, request, carrier, now, hasPlace: false, canWait: asking.canWait },
      isGone: () => isGone(response),
    };
    const outcome: Outcome = {
      through: (pass, headers) =>
        isCodeShown
          ? redirect(response, linkWithoutCode(target), headers)
          : forward(pass, headers, "entered"),
      wait: (waiting, headers, isAnew) => {
        if (isCodeShown) redirect(response, linkWithoutCode(target), headers);
        else this.#answers.wait({ ...told(headers, waiting.ticket.sequence), isAnew }, waiting);
      },
      turnAway: (why) => this.#answers.turnAway(told(NOTHING, -1), why),
      away: () => {
        if (front.settings.engineFailure === "open") forward(null, NOTHING, "failedOpen");
        else this.#answers.away(told(NOTHING, held?.ticket.sequence ?? -1));
      },
    };
    if (isCodeShown && held?.ticket.lane === EVERYBODY) this.#threshold.change(arriving, held, outcome);
    else this.#threshold.come(arriving, held, outcome);
  }

  /** Serves an upgrade (WebSocket): through with a pass or while there is room, else refused. It takes no place. */
  upgrade(request: IncomingMessage, socket: Duplex, onward: Onward): void {
    this.traffic.upgrades++;
    const entry = this.#accessLog?.beginUpgrade(request, socket);
    const routed = this.#route(request, originForm(request.url ?? "/"));
    if ("status" in routed) return refuseUpgrade(socket, routed, this.#world);
    const { target } = routed;
    if (target.startsWith(OWN_PREFIX)) return holdUpgrade(socket, "own", 404, null);
    request.url = target;
    const now = this.#world.clock.now();
    const front = this.#frontOf(routed, now);
    if (entry && front) entry.room = front.name;
    const carrier = readCarrier(request, this.#isSecure(request));
    const hand: Onward = (words, origin) => {
      if (entry) entry.id = words.id;
      if (front?.membership.takesCodes) request.url = withoutCode(request.url!);
      onward(words, origin);
    };
    const isLetPast = !front || this.#isLetPast(front, request, target);
    const forward = (held: HeldPass | null, headers: readonly string[], decision: Decision) => {
      if (socket.destroyed) return;
      entry?.decide(decision, held?.pass.id);
      const client = this.#inForce.trust.client(request);
      if (entry) entry.client = client;
      const connection = held && front ? this.#connections.open(socket, front, held.pass) : null;
      const stray = front && decision === "stray" ? this.#strays.open(socket, front.name) : null;
      const counted = this.#count(held, client, socket, connection, stray);
      if (typeof counted === "string") return this.#tooMany.refuseUpgrade(socket, counted, client.address);
      const { address } = counted;
      this.#forward(
        {
          front,
          carrier,
          onward: hand,
          isContinueExpected: false,
          isPersonal: !isLetPast,
          isOnSite: held !== null,
          client: address,
          connection,
        },
        held,
        headers,
      );
    };
    if (isLetPast) return forward(null, NOTHING, front ? "bypassed" : "outside");
    const held = this.#tokens.read(front, carrier, now, this.#newcomers.senderFor(front, request));
    if (held?.kind === "pass") return forward(held, this.#stay(front, held, carrier, now).headers, "pass");
    if (held?.kind === "stranger") return holdUpgrade(socket, "turnedAway", 403, null);
    const arriving = {
      ...{ front, request, carrier, now, hasPlace: false },
      ...{ canWait: false, isGone: () => socket.destroyed },
    };
    this.#threshold.come(arriving, held, {
      through: (pass, headers) => forward(pass, headers, "entered"),
      wait: ({ nextCheckInMs }) => holdUpgrade(socket, "waiting", 429, Math.ceil(nextCheckInMs / 1_000)),
      turnAway: (why) => {
        if (why.kind === "heldBack") holdUpgrade(socket, "turnedAway", 429, retrySeconds(why.verdict));
        else if (why.reason === "mustWait") holdUpgrade(socket, "waiting", 429, turnedAwaySeconds(why, now));
        else holdUpgrade(socket, "turnedAway", 403, null);
      },
      away: () => {
        if (front.settings.engineFailure === "open") forward(null, NOTHING, "failedOpen");
        else holdUpgrade(socket, "engineAway", 503, AWAY_RETRY_SECONDS);
      },
    });
  }

  /** Turns the ring of keys as far as it was in an earlier life. */
  restoreKeyring(memo: KeyringMemo): void {
    this.#tokens.keyring.restore(memo);
  }

  keys(): KeyState[] {
    return this.#tokens.keyring.states();
  }

  /** A new key signs from now on; every place and pass stays good. `keep` is waited for before that is so. */
  async rotateKeys(keep: (memo: KeyringMemo) => Promise<void> = async () => {}): Promise<string> {
    const lives = [...this.#inForce.fronts.values()].flatMap(({ rules }) => [
      rules.ticketTtlMs,
      rules.sessionDurationMs,
    ]);
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
    this.#streams.close();
  }

  async close(): Promise<void> {
    this.#streams.close();
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

  /** Gives these rooms of the engine the rules back that are in force. */
  async #configureBack(rooms: readonly string[]): Promise<void> {
    const before = rooms.flatMap((room) => this.#inForce?.fronts.get(room) ?? []);
    try {
      for (const { name, roomRules } of before) await this.#engine.configure(name, roomRules);
    } catch (cause) {
      // An engine that went away is given the rules in force when it is back, or at the next start.
      this.#world.log.warn({ err: cause, rooms }, "rooms may have rules that were not put in force");
    }
  }

  #isSecure(request: Request): boolean {
    const { settings, trust } = this.#inForce;
    // Without proxies to believe, the connection itself tells.
    if (settings.trustedProxies.length === 0)
      return (request.socket as { encrypted?: boolean }).encrypted === true;
    return trust.client(request).protocol === "https";
  }

  #route(request: Request, url: string): Routed | Refusal {
    const { router, trust } = this.#inForce;
    // Where one room has everything, neither host nor path decides.
    if (router.only !== null) return { room: router.only, target: url, route: null };
    return router.route(trust.client(request).host, url);
  }

  #frontOf({ room }: Routed, now: number): RoomFront | undefined {
    const front = room === null ? undefined : this.#inForce.fronts.get(room);
    front?.turn(now);
    return front;
  }

  /** Whether a request goes to the site without a line: the room does nothing, or a rule of its says so. */
  #isLetPast(front: RoomFront, request: Request, url: string): boolean {
    front.load.came();
    if (front.settings.suspended) return true;
    const rule = front.bypass.match(request as BypassRequest, url, this.#inForce.trust);
    if (rule !== null) this.traffic.count("bypassed", `${front.name}: ${rule}`);
    return rule !== null;
  }

  /** True for a request that belongs to no visit, and whose sender does not show that they could keep one. */
  #isStray(front: RoomFront, held: Held | null, asking: Asking, carrier: Carrier, now: number): boolean {
    if (asking.isPrefetch) return true;
    return held === null && asking.isStray && !this.#tokens.isKeeper(front, carrier, now);
  }

  /** Lets a request through that belongs to no visit, while there is room and its address has its share of them. */
  #letPastIfRoom(
    front: RoomFront,
    request: Request,
    { isPreflight }: Asking,
    now: number,
    outcome: Record<"past" | "turnAway" | "away", () => void>,
  ): void {
    const { address } = this.#inForce.trust.client(request);
    this.#ask.ask(
      () => this.#engine.hasRoom(front.name),
      (hasRoom) => {
        if (hasRoom === ENGINE_AWAY)
          return front.settings.engineFailure === "open" ? outcome.past() : outcome.away();
        const mayPass = hasRoom && front.strays.take(address, isPreflight, now);
        this.traffic.count("strays", mayPass ? "passed" : "refused");
        return mayPass ? outcome.past() : outcome.turnAway();
      },
    );
  }

  /** Addresses of our own that were not written as one: with a query or an odd path; the key set; or none of ours. */
  #serveOther(url: string, request: Request, response: Response, carrier: Carrier, now: number): void {
    const path = url.split("?", 1)[0]!;
    const own = this.#inForce.own.find(path);
    entryOf(response)?.decide("own");
    if (own)
      return this.#endpoints.serve(own.endpoint, { front: own.front, request, response, carrier, now });
    if (path !== JWKS_PATH) return send(response, 404, PERSONAL_JSON, '{"error":"no such address"}');
    this.#originTokens.jwks().then(
      (jwks) => send(response, 200, JWKS_HEADERS, jwks),
      (cause) => {
        const message = "the key set could not be made";
        this.#bugs.add({ level: "error", about: "", fields: { err: cause }, message });
        send(response, 500, PERSONAL_JSON, '{"error":"internal"}');
      },
    );
  }

  /** Someone on the site: no engine call, only word of their presence now and then. Gives what renews their pass. */
  #stay(front: RoomFront, held: HeldPass, carrier: Carrier, now: number): ReturnType<Stay> {
    const leftMs = held.pass.expiresAt - now;
    const renewal = this.#tokens.renew(front, held, carrier, now);
    if (renewal) {
      this.#presence.report(renewal.pass, leftMs);
      this.#connections.renewed(renewal.pass);
    } else if (!held.isReported) this.#presence.report(held.pass, leftMs);
    held.isReported = true;
    return renewal ?? { headers: NOTHING, pass: held.pass };
  }

  /** Counts a request on its way to the site until it is closed. Says whose limit it would exceed. */
  #count(
    held: HeldPass | null,
    client: Client,
    closing: Response | Duplex,
    connection: VisitConnection | null,
    stray: StrayConnection | null,
  ): Counted | Over {
    const counted = this.#underWay.take(held?.pass.id ?? null, client, this.#inForce.settings.limits);
    const closed = () => {
      if (connection) this.#connections.closed(connection);
      if (stray) this.#strays.closed(stray);
    };
    if (typeof counted === "string") {
      closed();
      return counted;
    }
    const atEnd = () => {
      closed();
      if (isGivenUp(closing)) this.#underWay.giveUp(counted);
      else this.#underWay.release(counted);
    };
    const entry = entryOf(closing);
    if (entry) entry.atEnd = atEnd;
    else closing.on("close", atEnd);
    return counted;
  }

  #forward(
    { front, carrier, onward, isContinueExpected, isPersonal, isOnSite, client, connection }: Departing,
    held: HeldPass | null,
    responseHeaders: readonly string[],
  ): void {
    this.traffic.requests.proxied++;
    const origin = front?.settings.origin ?? this.#inForce.settings.origin;
    const id = `${this.#idPrefix}-${(this.#requests++).toString(36)}`;
    const watch = front?.watch ?? null;
    const visitor: OnSite | null = watch && held && carrier ? { held, carrier } : null;
    // The same for all requests of a visitor, wherever they come in.
    const stickyKey = origin?.sticky === "visitor" ? (held?.pass.id ?? client) : null;
    const go = (requestHeaders: readonly string[]) =>
      onward(
        {
          id,
          requestHeaders,
          responseHeaders,
          isPersonal,
          isOnSite,
          client,
          stickyKey,
          isContinueExpected,
          watch,
          visitor,
          connection,
        },
        origin,
      );
    if (!held) return go(NOTHING);
    this.#originTokens.describe(held, origin?.token ?? "none", go, (cause) => {
      const message = "the origin's token was not signed; the request goes on without";
      this.#bugs.add({ level: "error", about: "", fields: { err: cause, id }, message });
    });
  }

  /** Tells the engine how origins do, where it wants to know. */
  #reportLoad(): void {
    if (!this.#inForce) return;
    for (const front of this.#inForce.fronts.values()) {
      // Taken in any case: whoever begins to watch must not hear of a whole day as of one second.
      const load = front.load.take(this.#idPrefix, REPORT_PERIOD_MS);
      if (!front.isLoadWatched) continue;
      this.#ask.ask(
        () => this.#engine.report(front.name, load),
        () => {},
      );
    }
  }

  #listenToEngine(): () => void {
    return this.#engine.subscribe({
      onTurns: (room, sequences) => this.#streams.showTurns(room, sequences),
      onDraw: (room) => {
        this.#tokens.noteDraw(room);
        this.#streams.showDraw(room);
      },
      onRevoked: (room, id, until) => {
        this.#tokens.revoke(id, until);
        this.#connections.ended(room, id);
      },
      onBoard: (board) => {
        this.#inForce?.fronts.get(board.room)?.show(board);
        this.#streams.showBoard(board);
      },
    });
  }
}

function holdUpgrade(
  socket: Duplex,
  decision: Decision,
  status: 403 | 404 | 429 | 503,
  retryAfterSeconds: number | null,
): void {
  entryOf(socket)?.decide(decision);
  const headers = retryAfterSeconds === null ? NOTHING : ["Retry-After", String(retryAfterSeconds)];
  answerRaw(socket, { status, headers, body: Buffer.alloc(0) });
}

/** True for a page whose address has a code in it. */
function hasCode(front: RoomFront, request: Request, carrier: Carrier): boolean {
  if (!front.membership.takesCodes || request.method !== "GET") return false;
  if (codeInUrl(request.url ?? "/") === null) return false;
  return readAsking(request, carrier, front.settings.jsonResponseEnabled).answer === "page";
}

function redirect(response: Response, to: string, headers: readonly string[]): void {
  entryOf(response)?.decide("redirected");
  const all = [...headers, "Location", to, "Cache-Control", "no-store", "Content-Length", "0"];
  sendWhole(response, 303, all, "", "latin1");
}

function newKeyring(settings: Settings): Keyring {
  if (settings.secret === null) throw new Error("a gateway needs a secret");
  return new Keyring({ secret: settings.secret, previousSecrets: settings.previousSecrets });
}

function isSameSecret(before: Settings | undefined, now: Settings): boolean {
  if (before === undefined) return true;
  return before.secret === now.secret && before.previousSecrets.join("\n") === now.previousSecrets.join("\n");
}
