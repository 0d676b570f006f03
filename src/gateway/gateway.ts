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
import type { Engine, JoinAnswer, TicketAnswer, Waiting } from "../core/engine.ts";
import type { Pass } from "../core/pass.ts";
import type { World } from "../core/world.ts";
import { AskEngine, ENGINE_AWAY } from "./ask-engine.ts";
import { keepsPlace } from "./decide.ts";
import { EventStreams } from "./event-streams.ts";
import { PERSONAL_JSON, type Request, type Response, send } from "./exchange.ts";
import type { HeldPass } from "./held-tokens.ts";
import { Keyring, type KeyState } from "./keyring.ts";
import { OriginTokens } from "./origin-token.ts";
import { PresenceReport } from "./presence.ts";
import { originForm } from "./proxy/framing.ts";
import type { Forward } from "./proxy/proxy.ts";
import { createTrust, type Trust } from "./proxy/trust.ts";
import { RoomFront } from "./room-front.ts";
import { createRouter, type Router } from "./route.ts";
import { Traffic } from "./traffic.ts";
import { VisitorEndpoints } from "./visitor-endpoints.ts";
import { type Carrier, VisitorTokens } from "./visitor-tokens.ts";
import { answerKind, type Told, WaitingAnswers } from "./waiting-answers.ts";

const OWN_PREFIX = "/.fairgate/";
const FORGET_PERIOD_MS = 10_000;
const NOTHING: readonly string[] = [];

/** Hands a request on to the site. `origin` is the room's, or the default one. */
export type Onward = (forward: Forward, origin: OriginSettings | null) => void;

/** What becomes of one request: each of these is called at most once. */
interface Outcome {
  readonly through: (held: HeldPass | null, headers: readonly string[]) => void;
  readonly wait: (waiting: Waiting, headers: readonly string[], isNew: boolean) => void;
  readonly away: () => void;
  /** False when a new place would be lost on its sender. */
  readonly keepsPlace: boolean;
}

/** Everything that follows from the settings; replaced whole when they change. */
interface InForce {
  readonly settings: Settings;
  readonly router: Router;
  readonly trust: Trust;
  readonly fronts: ReadonlyMap<string, RoomFront>;
}

export class Gateway {
  readonly traffic = new Traffic();
  readonly #engine: Engine;
  readonly #world: World;
  readonly #ask: AskEngine;
  readonly #tokens: VisitorTokens;
  readonly #streams: EventStreams;
  readonly #endpoints: VisitorEndpoints;
  readonly #answers: WaitingAnswers;
  readonly #presence: PresenceReport;
  readonly #stop: (() => void)[] = [];
  readonly #idPrefix: string;
  #originTokens: OriginTokens;
  #inForce!: InForce;
  #requests = 0;

  /** Opens a gateway with its rooms configured. Fails when the engine does. */
  static async open(parts: { settings: Settings; engine: Engine; world: World }): Promise<Gateway> {
    const gateway = new Gateway(parts);
    await gateway.configure(parts.settings);
    return gateway;
  }

  private constructor(parts: { settings: Settings; engine: Engine; world: World }) {
    const { engine, world, settings } = parts;
    const { traffic } = this;
    this.#engine = engine;
    this.#world = world;
    const keyring = newKeyring(settings);
    this.#originTokens = new OriginTokens(keyring);
    const ask = new AskEngine(world);
    const tokens = new VisitorTokens(keyring, traffic, world);
    const streams = new EventStreams({ engine, ask, traffic, world });
    this.#ask = ask;
    this.#tokens = tokens;
    this.#streams = streams;
    this.#endpoints = new VisitorEndpoints({ engine, ask, tokens, streams, traffic, world });
    this.#answers = new WaitingAnswers(traffic, world);
    this.#presence = new PresenceReport(engine, world);
    this.#idPrefix = Buffer.from(world.random.bytes(4)).toString("hex");
    this.#stop.push(world.timers.every(FORGET_PERIOD_MS, () => tokens.forget(world.clock.now())));
    this.#stop.push(this.#listenToEngine());
  }

  get settings(): Settings {
    return this.#inForce.settings;
  }

  get trust(): Trust {
    return this.#inForce.trust;
  }

  /** Puts settings in force. Everything new is built first; if anything fails, nothing has changed. */
  async configure(settings: Settings): Promise<void> {
    const previous = this.#inForce?.settings;
    const keyring = isSameSecret(previous, settings) ? this.#tokens.keyring : newKeyring(settings);
    const rooms = Object.entries(settings.rooms);
    const fronts = new Map(rooms.map(([name, room]) => [name, new RoomFront(name, room)]));
    const router = createRouter(settings.rooms);
    const trust = createTrust(settings.trustedProxies);
    for (const front of fronts.values()) {
      await this.#engine.configure(front.name, front.rules);
      front.show(await this.#engine.board(front.name));
    }
    if (keyring !== this.#tokens.keyring) this.#originTokens = new OriginTokens(keyring);
    this.#tokens.keyring = keyring;
    this.#inForce = { settings, router, trust, fronts };
  }

  /** Serves one request; `onward` is how it reaches the site. */
  serve(request: Request, response: Response, onward: Onward, isContinueExpected = false): void {
    const { trust, router, fronts, settings } = this.#inForce;
    const now = this.#world.clock.now();
    const url = request.url!.startsWith("/") ? request.url! : originForm(request.url!);
    const client = trust.client(request);
    const carrier: Carrier = {
      isSecure: client.protocol === "https",
      isProgram: request.headers["fairgate-token"] !== undefined,
    };
    if (url.startsWith(OWN_PREFIX)) return this.#serveOwn(url, { request, response, carrier, now });
    const room = router.match(client.host, url);
    const front = room === null ? undefined : fronts.get(room);
    const pass = (held: HeldPass | null, headers: readonly string[]) => {
      this.traffic.requests.proxied++;
      this.#forward(held, headers, isContinueExpected, front?.settings.origin ?? settings.origin, onward);
    };
    if (!front) return pass(null, NOTHING);
    const kind = () => answerKind(front, request);
    const told = (headers: readonly string[], isNew: boolean): Told => ({
      front,
      request,
      response,
      headers,
      isNew,
    });
    this.#decide(front, request, carrier, now, {
      through: pass,
      wait: (waiting, headers, isNew) => this.#answers.wait(told(headers, isNew), kind(), waiting),
      away: () =>
        front.settings.engineFailure === "open"
          ? pass(null, NOTHING)
          : this.#answers.away(told(NOTHING, false), kind()),
      get keepsPlace() {
        return keepsPlace(kind());
      },
    });
  }

  /** Serves an upgrade (WebSocket): through with a pass or while there is room, else refused with 429. */
  upgrade(request: IncomingMessage, socket: Duplex, onward: Onward): void {
    const { trust, router, fronts, settings } = this.#inForce;
    const now = this.#world.clock.now();
    const client = trust.client(request);
    const front = fronts.get(router.match(client.host, request.url!) ?? "");
    this.traffic.upgrades++;
    const pass = (held: HeldPass | null, headers: readonly string[]) =>
      this.#forward(held, headers, false, front?.settings.origin ?? settings.origin, onward);
    if (!front) return pass(null, NOTHING);
    const carrier = {
      isSecure: client.protocol === "https",
      isProgram: request.headers["fairgate-token"] !== undefined,
    };
    this.#decide(front, request, carrier, now, {
      through: pass,
      wait: (waiting) =>
        refuseUpgrade(socket, "429 Too Many Requests", Math.ceil(waiting.nextCheckInMs / 1_000)),
      away: () =>
        front.settings.engineFailure === "open"
          ? pass(null, NOTHING)
          : refuseUpgrade(socket, "503 Service Unavailable", 10),
      keepsPlace: false,
    });
  }

  keys(): KeyState[] {
    return this.#tokens.keyring.states();
  }

  /** A new key signs from now on; every place and pass stays good. */
  rotateKeys(): string {
    const lives = [...this.#inForce.fronts.values()].map(({ rules }) =>
      Math.max(rules.ticketTtlMs, rules.sessionDurationMs),
    );
    const id = this.#tokens.keyring.rotate({
      now: this.#world.clock.now(),
      tokenLifeMs: Math.max(0, ...lives),
    });
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
    await this.#presence.close();
  }

  #serveOwn(
    url: string,
    call: { request: Request; response: Response; carrier: Carrier; now: number },
  ): void {
    const query = url.indexOf("?");
    const [room = "", endpoint = ""] = url
      .slice(OWN_PREFIX.length, query < 0 ? undefined : query)
      .split("/", 3);
    const front = this.#inForce.fronts.get(room);
    if (front) return this.#endpoints.serve(endpoint, { ...call, front });
    if (room === "jwks.json") {
      this.#originTokens.jwks().then(
        (jwks) =>
          send(
            call.response,
            200,
            ["Content-Type", "application/json", "Cache-Control", "public, max-age=300"],
            jwks,
          ),
        (cause) => {
          this.#world.log.error({ err: cause }, "the key set could not be made");
          send(call.response, 500, PERSONAL_JSON, '{"error":"internal"}');
        },
      );
      return;
    }
    send(call.response, 404, PERSONAL_JSON, '{"error":"no such room"}');
  }

  /** The heart: what the visitor carries decides who is asked what. */
  #decide(front: RoomFront, request: Request, carrier: Carrier, now: number, outcome: Outcome): void {
    const held = this.#tokens.read(front, request, carrier, now);
    if (held?.kind === "pass") return this.#stay(front, held, carrier, now, outcome);
    if (!held) return this.#join(front, carrier, outcome);
    this.#ask.ask(
      () => this.#engine.enter(held.ticket),
      (answer) => {
        if (answer === ENGINE_AWAY) return outcome.away();
        if (answer.kind === "expired" || answer.kind === "refused")
          return this.#join(front, carrier, outcome);
        if (answer.kind === "waiting") held.ticket = { ...held.ticket, aheadShown: answer.ahead };
        this.#settle(front, answer, carrier, false, outcome);
      },
    );
  }

  #join(front: RoomFront, carrier: Carrier, outcome: Outcome): void {
    this.traffic.requests.joins++;
    this.#ask.ask(
      () => this.#engine.join(front.name),
      (answer) =>
        answer === ENGINE_AWAY ? outcome.away() : this.#settle(front, answer, carrier, true, outcome),
    );
  }

  #settle(
    front: RoomFront,
    answer: JoinAnswer | TicketAnswer,
    carrier: Carrier,
    isNew: boolean,
    outcome: Outcome,
  ): void {
    if (answer.kind === "entered") {
      const { headers, held } = this.#tokens.givePass(front, answer.pass, carrier);
      held.isReported = true;
      return outcome.through(held, headers);
    }
    if (answer.kind !== "waiting") return outcome.away();
    if (isNew && !outcome.keepsPlace) {
      this.#ask.ask(
        () => this.#engine.leave(answer.ticket),
        () => {},
      );
      return outcome.wait(answer, NOTHING, true);
    }
    const ticket = { ...answer.ticket, aheadShown: answer.ahead };
    outcome.wait(answer, this.#tokens.giveTicket(front, ticket, carrier).headers, isNew);
  }

  /** Someone on the site: no engine call, only word of their presence now and then. */
  #stay(front: RoomFront, held: HeldPass, carrier: Carrier, now: number, outcome: Outcome): void {
    const renewal = this.#tokens.renew(front, held, carrier, now);
    if (renewal) this.#presence.report(renewal.pass);
    else if (!held.isReported) this.#presence.report(held.pass);
    held.isReported = true;
    outcome.through(held, renewal?.headers ?? NOTHING);
  }

  #forward(
    held: HeldPass | null,
    responseHeaders: readonly string[],
    isContinueExpected: boolean,
    origin: OriginSettings | null,
    onward: Onward,
  ): void {
    const id = `${this.#idPrefix}-${(this.#requests++).toString(36)}`;
    const go = (requestHeaders: readonly string[]) =>
      onward({ id, requestHeaders, responseHeaders, isContinueExpected }, origin);
    const keep = (headers: readonly string[]) => {
      if (held) held.originHeaders = headers;
      go(headers);
    };
    if (!held) return go(NOTHING);
    if (held.originHeaders) return go(held.originHeaders);
    const plain = originHeaders(held.pass);
    if (!origin || origin.token === "none") return keep(plain);
    this.#originTokens.sign(held.pass, origin.token).then(
      (token) => keep([...plain, "Fairgate-Pass", token]),
      (cause) => {
        this.#world.log.error(
          { err: cause, id },
          "the origin's token was not signed; the request goes on without",
        );
        go(plain);
      },
    );
  }

  #listenToEngine(): () => void {
    return this.#engine.subscribe({
      onTurns: (room, sequences) => this.#streams.showTurns(room, sequences),
      onRevoked: (_room, id, until) => this.#tokens.revoke(id, until),
      onBoard: (board) => {
        this.#inForce?.fronts.get(board.room)?.show(board);
        this.#streams.showBoard(board);
        this.traffic.engineFailures = this.#ask.failures;
      },
    });
  }
}

/** What the origin is told of a visitor. */
function originHeaders(pass: Pass): readonly string[] {
  return [
    "Fairgate-Room",
    pass.room,
    "Fairgate-Visitor",
    pass.id,
    "Fairgate-Joined-At",
    new Date(pass.joinedAt).toISOString(),
    "Fairgate-Admitted-At",
    new Date(pass.admittedAt).toISOString(),
  ];
}

function refuseUpgrade(socket: Duplex, status: string, retryAfterSeconds: number): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nRetry-After: ${retryAfterSeconds}\r\nCache-Control: no-store\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  );
}

function newKeyring(settings: Settings): Keyring {
  if (settings.secret === null) throw new Error("a gateway needs a secret");
  return new Keyring({ secret: settings.secret, previousSecrets: settings.previousSecrets });
}

function isSameSecret(before: Settings | undefined, now: Settings): boolean {
  return (
    before === undefined ||
    (before.secret === now.secret && before.previousSecrets.join("\n") === now.previousSecrets.join("\n"))
  );
}
