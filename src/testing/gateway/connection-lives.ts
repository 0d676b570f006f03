/**
 * A property of every engine together with the gateway's list of connections: whatever visitors and operators do, the site never
 * has more visitors than its capacity, counting everyone with a valid pass or an open connection.
 *
 * Random lives: people join, enter, come back, open connections at one gateway or another, send on them or fall silent, leave,
 * and are revoked. The engine, the list and the reports of presence are real; only the sockets are not.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Engine, Eventually } from "../../core/engine.ts";
import { ANYBODY } from "../../core/engine.ts";
import { isRenewalDue, lingerMs, type Pass, renewPass } from "../../core/pass.ts";
import { DEFAULT_RULES, type RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import { AskEngine } from "../../gateway/ask-engine.ts";
import { PresenceReport } from "../../gateway/presence.ts";
import type { RoomFront } from "../../gateway/room-front.ts";
import type { OpenAnswer } from "../../gateway/streams/open-answer.ts";
import { type VisitConnection, VisitConnections } from "../../gateway/streams/visit-connections.ts";
import { Traffic } from "../../gateway/traffic.ts";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";
import { type EngineUnderTest, ROOM } from "../engines/conformance-stage.ts";
import { shrunkBriefly } from "../engines/shrinking.ts";

const SESSION_MS = 20_000;
const NEWCOMER_MS = 6_000;
const CAPACITY = 2;
const STEP_MS = 500;
const GUESTS = 6;
const RUNS = 40;

interface Life {
  readonly graceMs: number;
  readonly disableSessionRenewal: boolean;
  readonly deeds: readonly Deed[];
}

interface Deed {
  readonly what: "ask" | "open" | "download" | "talk" | "close" | "leave" | "revoke";
  readonly who: number;
  /** The gateway it happens at. */
  readonly at: number;
  readonly afterMs: number;
}

const deed: fc.Arbitrary<Deed> = fc.record({
  what: fc.constantFrom(
    ...(["ask", "open", "open", "download", "talk", "talk", "close", "leave", "revoke"] as const),
  ),
  who: fc.nat(GUESTS - 1),
  at: fc.nat(1),
  afterMs: fc.constantFrom(0, 0, 0, STEP_MS, STEP_MS, 2_000, 7_000),
});

const life: fc.Arbitrary<Life> = fc.record({
  graceMs: fc.constantFrom(0, 1_000, 8_000),
  disableSessionRenewal: fc.boolean(),
  deeds: fc.array(deed, { minLength: 20, maxLength: 80 }),
});

/** Declares the property for one engine with a number of gateways. */
export function connectionLives(subject: EngineUnderTest, gateways: number, runs = RUNS): void {
  test(`${subject.name} engine: connections and passes are never more than the capacity`, () =>
    holdInEveryLife(subject, gateways, runs, lingerMs));
  test(`${subject.name} engine: that shows it when no slot is held`, () =>
    assert.rejects(holdInEveryLife(subject, gateways, 2 * RUNS, () => 0)));
}

function holdInEveryLife(
  subject: EngineUnderTest,
  gateways: number,
  numRuns: number,
  held: typeof lingerMs,
): Promise<void> {
  const play = shrunkBriefly(async (one: Life) => {
    const stage = await Stage.open(subject, gateways, one, held);
    try {
      for (const next of one.deeds) await stage.play(next);
      await stage.pass(SESSION_MS);
    } finally {
      await stage.close();
    }
  });
  return fc.assert(fc.asyncProperty(life, play), { numRuns, endOnFailure: held !== lingerMs });
}

/** A connection whose bytes are counted and that can be closed. */
class Carrier implements OpenAnswer {
  bytesRead = 1;
  isOpen = true;
  readonly isUpgraded: boolean;
  readonly entry: VisitConnection;
  readonly #gateway: Gateway;

  constructor(gateway: Gateway, pass: Pass, isUpgraded: boolean) {
    this.#gateway = gateway;
    this.isUpgraded = isUpgraded;
    this.entry = gateway.connections.open(this, gateway.front, pass);
  }

  bytes(): number {
    return this.bytesRead;
  }

  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#gateway.connections.closed(this.entry);
  }
}

class Gateway {
  readonly connections: VisitConnections;
  readonly presence: PresenceReport;
  readonly front: RoomFront;
  readonly ended = new Set<string>();
  readonly #stop: () => void;

  constructor(engine: Engine, world: HandWorld, front: RoomFront) {
    const ask = new AskEngine(new Traffic(), world, 0);
    this.front = front;
    this.presence = new PresenceReport({ engine, ask, world });
    this.connections = new VisitConnections({
      ...{ engine, ask, presence: this.presence, world },
      frontOf: () => front,
      isEnded: (id) => this.ended.has(id),
      onEnd: () => {},
    });
    this.#stop = engine.subscribe({
      onTurns: () => {},
      onBoard: () => {},
      onDraw: () => {},
      onRevoked: (room, id) => {
        this.ended.add(id);
        this.connections.ended(room, id);
      },
    });
  }

  async close(): Promise<void> {
    this.#stop();
    this.connections.close();
    await this.presence.close();
  }
}

interface Guest {
  ticket: Ticket | null;
  pass: Pass | null;
  readonly carriers: Carrier[];
}

class Stage {
  readonly #engine: Engine;
  readonly #world: HandWorld;
  readonly #gateways: readonly Gateway[];
  readonly #guests: Guest[] = Array.from({ length: GUESTS }, () => ({
    ticket: null,
    pass: null,
    carriers: [],
  }));
  readonly #pending: Pending;

  static async open(
    subject: EngineUnderTest,
    gateways: number,
    { graceMs, disableSessionRenewal }: Life,
    held: typeof lingerMs,
  ): Promise<Stage> {
    const world = handWorld();
    const pending = new Pending();
    const engine = pending.watched(await subject.make(world));
    const rules: RoomRules = {
      ...DEFAULT_RULES,
      ...{ totalActiveUsers: CAPACITY, sessionDurationMs: SESSION_MS, disableSessionRenewal },
      lingerMs: held(graceMs),
    };
    await engine.configure(ROOM, rules);
    const settings = { connectionGrace: graceMs, newcomerDuration: NEWCOMER_MS };
    const front = { name: ROOM, rules, settings } as unknown as RoomFront;
    const all = Array.from({ length: gateways }, () => new Gateway(engine, world, front));
    return new Stage(engine, world, all, pending);
  }

  private constructor(engine: Engine, world: HandWorld, gateways: readonly Gateway[], pending: Pending) {
    this.#engine = engine;
    this.#world = world;
    this.#gateways = gateways;
    this.#pending = pending;
  }

  async play({ what, who, at, afterMs }: Deed): Promise<void> {
    await this.pass(afterMs);
    const guest = this.#guests[who]!;
    const gateway = this.#gateways[at % this.#gateways.length]!;
    if (what === "talk") for (const carrier of guest.carriers) carrier.bytesRead++;
    else if (what === "close") guest.carriers.shift()?.end();
    else if (what === "leave" && guest.pass)
      await this.#engine.leave(guest.pass, gateway.connections.isIdle(guest.pass.id));
    else if (what === "revoke" && guest.pass) await this.#engine.revoke(ROOM, guest.pass.id);
    else if (what === "ask" || what === "open" || what === "download") {
      await this.#come(guest);
      if (this.#stay(guest, gateway) && what !== "ask")
        guest.carriers.push(new Carrier(gateway, guest.pass!, what === "open"));
    }
    await this.#pending.settled();
    this.#assertNotTooMany();
  }

  /** Time passes, visitors are admitted, and those with a turn use it. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.#world.pass(STEP_MS);
      await this.#pending.settled();
      await this.#engine.admit(ROOM);
      for (const guest of this.#guests) await this.#wait(guest);
      await this.#pending.settled();
      this.#assertNotTooMany();
    }
  }

  async close(): Promise<void> {
    for (const gateway of this.#gateways) await gateway.close();
    await this.#engine.close();
  }

  async #come(guest: Guest): Promise<void> {
    if (guest.ticket || (guest.pass && this.#isGood(guest.pass))) return;
    const answer = await this.#engine.join(ROOM, { ...ANYBODY, visitMs: NEWCOMER_MS });
    if (answer.kind === "entered") guest.pass = answer.pass;
    if (answer.kind === "waiting") guest.ticket = answer.ticket;
  }

  async #wait(guest: Guest): Promise<void> {
    if (!guest.ticket) return;
    const answer = await this.#engine.enter(guest.ticket);
    if (answer.kind === "waiting") guest.ticket = answer.ticket;
    else guest.ticket = null;
    if (answer.kind === "entered") guest.pass = answer.pass;
  }

  /** A request with a good pass, which renews it where that is due. */
  #stay(guest: Guest, { presence, connections, ended }: Gateway): boolean {
    const { pass } = guest;
    const now = this.#world.clock.now();
    if (!pass || ended.has(pass.id) || pass.expiresAt <= now) return false;
    const { disableSessionRenewal } = this.#gateways[0]!.front.rules;
    const renewal = { now, sessionDurationMs: SESSION_MS, disableSessionRenewal };
    if (!isRenewalDue(pass, renewal)) return true;
    guest.pass = renewPass(pass, renewal);
    presence.report(guest.pass, pass.expiresAt - now);
    connections.renewed(guest.pass);
    return true;
  }

  #isGood({ id, expiresAt }: Pass): boolean {
    return expiresAt > this.#world.clock.now() && !this.#gateways[0]!.ended.has(id);
  }

  #assertNotTooMany(): void {
    const there = new Set<string>();
    for (const { pass, carriers } of this.#guests) {
      if (pass && this.#isGood(pass)) there.add(pass.id);
      for (const { entry, isOpen } of carriers) if (isOpen) there.add(entry.pass.id);
    }
    assert.ok(there.size <= CAPACITY, `${there.size} are on a site for ${CAPACITY}`);
  }
}

/** Waits for engine calls whose callers do not wait for the answer. */
class Pending {
  readonly #answers = new Set<Promise<unknown>>();

  /** The engine, with all calls recorded. */
  watched(engine: Engine): Engine {
    return new Proxy(engine, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...asked: unknown[]) =>
          this.#note((value as (...asked: unknown[]) => Eventually<unknown>).apply(target, asked));
      },
    });
  }

  async settled(): Promise<void> {
    do {
      await Promise.all(this.#answers);
      // A caller that got its answer may make more calls.
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#answers.size > 0);
  }

  #note<T>(answer: T): T {
    if (answer instanceof Promise) {
      this.#answers.add(answer);
      const done = () => this.#answers.delete(answer);
      answer.then(done, done);
    }
    return answer;
  }
}
