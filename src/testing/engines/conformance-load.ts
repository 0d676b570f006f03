/**
 * The chapters of the conformance suite about what follows the load: a line only when there is need for one, limits
 * that follow how the origin does, turns on top for those that nobody uses, and one capacity for several rooms.
 */
import assert from "node:assert/strict";
import type { Load } from "../../core/engine.ts";
import type { RoomRules, StandbyRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import {
  aheadOfTickets,
  type HeardTurns,
  hearTurns,
  openRoom,
  type Play,
  range,
} from "./conformance-crowd.ts";
import { type EngineStage, expectKind, ROOM, TICK_MS } from "./conformance-stage.ts";

const QUIET: Load = {
  from: "gateway-1",
  periodMs: TICK_MS,
  requests: 0,
  answers: 0,
  errors: 0,
  latencyMs: null,
  inFlight: 0,
};

/** Lets time pass, with this told of the origin each second. */
async function passUnder(
  stage: EngineStage,
  ms: number,
  load: Partial<Load>,
  present: readonly Ticket[] = [],
) {
  for (let left = ms; left > 0; left -= TICK_MS) {
    await stage.engine.report(ROOM, { ...QUIET, ...load });
    await stage.pass(TICK_MS, present);
  }
}

const STANDBY: StandbyRules = {
  requestsPerSecond: 10,
  activeUsers: null,
  originLatencyMs: null,
  originErrors: null,
  stopBelow: 0.5,
  quietForMs: 20_000,
};

export function standby(play: Play): void {
  const rules = { totalActiveUsers: 2, sessionDurationMs: 20_000, standby: STANDBY };

  play("a room that stands by lets everybody through without a line", rules, async (stage) => {
    await passUnder(stage, 3_000, { requests: 5 });
    for (let i = 0; i < 5; i++) await stage.joinEntered();
    const { isActive, onSite, remarks } = await stage.engine.counts(ROOM);
    assert.deepEqual([isActive, onSite, remarks], [false, 5, []]);
  });

  play(
    "the line starts when a threshold is crossed, stops when it is quiet, and says so",
    rules,
    async (stage) => {
      const told: string[] = [];
      stage.engine.subscribe({ onRemark: (_, { text }) => told.push(text) });
      for (let i = 0; i < 3; i++) await stage.joinEntered();
      await passUnder(stage, 2_000, { requests: 600 });
      assert.equal((await stage.engine.counts(ROOM)).isActive, true);
      const { ticket } = await stage.joinWaiting();
      await passUnder(stage, 60_000, {}, [ticket]);
      expectKind(await stage.engine.enter(ticket), "entered");
      await passUnder(stage, 60_000, {});
      const { isActive, remarks } = await stage.engine.counts(ROOM);
      assert.equal(isActive, false);
      assert.deepEqual(
        told,
        remarks.map(({ text }) => text),
      );
      assert.deepEqual(
        [told.length, told[0]!.slice(0, 15), told[1]!.slice(0, 14)],
        [2, "The line starts", "The line stops"],
      );
      for (let i = 0; i < 5; i++) await stage.joinEntered();
    },
  );

  play("nobody is let through before those who wait because the line could stop", rules, async (stage) => {
    for (let i = 0; i < 2; i++) await stage.joinEntered();
    await passUnder(stage, 2_000, { requests: 600 });
    await stage.configure({ ...rules, paused: true });
    const { ticket } = await stage.joinWaiting();
    await passUnder(stage, 120_000, {}, [ticket]);
    assert.equal((await stage.engine.counts(ROOM)).isActive, true);
    assert.deepEqual(await aheadOfTickets(stage, [ticket, (await stage.joinWaiting()).ticket]), [0, 1]);
  });

  const signs: readonly { name: string; rules: Partial<StandbyRules>; load: Partial<Load> }[] = [
    { name: "visitors on the site", rules: { activeUsers: 2 }, load: {} },
    { name: "a slow origin", rules: { originLatencyMs: 500 }, load: { answers: 50, latencyMs: 900 } },
    { name: "an origin with errors", rules: { originErrors: 0.1 }, load: { answers: 50, errors: 20 } },
  ];
  for (const sign of signs) {
    const signed = { ...rules, standby: { ...STANDBY, requestsPerSecond: null, ...sign.rules } };
    play(`${sign.name}, too, can be the sign that starts the line`, signed, async (stage) => {
      await stage.joinEntered();
      await passUnder(stage, 2_000, { answers: 50, latencyMs: 100 });
      assert.equal((await stage.engine.counts(ROOM)).isActive, false);
      for (let i = 0; i < 2; i++) await stage.joinEntered();
      await passUnder(stage, 12_000, sign.load);
      assert.equal((await stage.engine.counts(ROOM)).isActive, true);
      await stage.joinWaiting();
    });
  }
}

export function adaptiveCapacity(play: Play): void {
  const rules: Partial<RoomRules> = {
    totalActiveUsers: 100,
    newUsersPerMinute: 600,
    adaptive: { least: 0.4, latencyFactor: 3, latencyMs: 1_000, errors: 0.1, inFlight: 500 },
  };
  const well = { answers: 100, latencyMs: 100, inFlight: 10 };
  const limitsOf = async (stage: EngineStage) => (await stage.engine.counts(ROOM)).limits;
  const set = { totalActiveUsers: 100, newUsersPerMinute: 600 };

  play("limits stay as they are set while the origin is well", rules, async (stage) => {
    await passUnder(stage, 60_000, well);
    assert.deepEqual(await limitsOf(stage), set);
    assert.deepEqual((await stage.engine.counts(ROOM)).remarks, []);
  });

  const sufferings: readonly { name: string; load: Partial<Load> }[] = [
    { name: "answers slowly", load: { ...well, latencyMs: 3_000 } },
    { name: "answers with errors", load: { ...well, errors: 60 } },
    { name: "has too much under way", load: { ...well, inFlight: 2_000 } },
  ];
  for (const { name, load } of sufferings) {
    play(
      `limits are lowered when the origin ${name}, with a reason and never below the least`,
      rules,
      async (stage) => {
        await passUnder(stage, 20_000, well);
        await passUnder(stage, 12_000, load);
        const { limits, remarks } = await stage.engine.counts(ROOM);
        assert.ok(limits.totalActiveUsers! < 100 && limits.newUsersPerMinute! < 600, JSON.stringify(limits));
        assert.match(remarks.at(-1)!.text, /^Capacity down from \d+% to \d+%: .+\.$/);
        for (let i = 0; i < 12; i++) {
          await passUnder(stage, 10_000, load);
          const { totalActiveUsers, newUsersPerMinute } = await limitsOf(stage);
          assert.ok(totalActiveUsers! >= 40 && newUsersPerMinute! >= 240);
        }
        assert.deepEqual(await limitsOf(stage), { totalActiveUsers: 40, newUsersPerMinute: 240 });
      },
    );
  }

  play(
    "lowered limits hold at the door, and rise again slowly once the origin is well",
    rules,
    async (stage) => {
      await passUnder(stage, 20_000, well);
      await passUnder(stage, 60_000, { ...well, latencyMs: 3_000 });
      const lowered = await limitsOf(stage);
      assert.equal(lowered.totalActiveUsers, 40);
      const tickets: Ticket[] = [];
      for (let i = 0; i < 60; i++) {
        const answer = await stage.engine.join(ROOM);
        if (answer.kind === "waiting") tickets.push(answer.ticket);
      }
      await stage.pass(10_000, tickets);
      const { onSite, admitted } = await stage.engine.counts(ROOM);
      assert.equal(onSite + admitted, 40);
      await passUnder(stage, 30_000, well);
      const sooner = await limitsOf(stage);
      assert.ok(sooner.totalActiveUsers! < 60, `${sooner.totalActiveUsers} half a minute later`);
      await passUnder(stage, 120_000, well);
      const later = await limitsOf(stage);
      assert.ok(later.totalActiveUsers! > sooner.totalActiveUsers! && later.totalActiveUsers! <= 100);
    },
  );

  play(
    "limits that followed the origin are the set ones again when they no longer shall",
    rules,
    async (stage) => {
      await passUnder(stage, 20_000, well);
      await passUnder(stage, 60_000, { ...well, latencyMs: 3_000 });
      await stage.configure({ ...rules, adaptive: null });
      assert.deepEqual(await limitsOf(stage), set);
    },
  );
}

const CAPACITY = 10;
const STAY_MS = 8_000;
const LEARNING_S = 140;
const WATCHED_S = 40;

/** People at a door where turns are given on top: some never come, the others come at once and stay a while. */
class Comers {
  readonly #stage: EngineStage;
  readonly #tickets = new Map<number, Ticket>();
  readonly #turns: HeardTurns;
  readonly #onSite: { ticket: Ticket; leavesAt: number }[] = [];
  #come: number[] = [];
  /** By sequence: how many joined before. */
  readonly #places = new Map<number, number>();
  turnsMax = 0;
  /** Those who came to a full site and kept their turn. */
  kept = 0;
  /** How many were on the site at the end of each second. */
  readonly onSiteBySecond: number[] = [];

  constructor(stage: EngineStage, turns: HeardTurns) {
    this.#stage = stage;
    this.#turns = turns;
  }

  async join(count: number): Promise<void> {
    for (const ticket of await this.#stage.joinMany(count)) {
      this.#places.set(ticket.sequence, this.#places.size);
      this.#tickets.set(ticket.sequence, ticket);
    }
  }

  /** One second, in which those come who are called, if by when they joined they are among those who do. */
  async second(isComing: (place: number) => boolean): Promise<void> {
    const { engine } = this.#stage;
    for (const { ticket } of this.#takeGone()) await engine.leave(ticket);
    await this.#stage.pass(TICK_MS);
    await this.#look();
    const called = (await this.#turns.take()).filter((sequence) => isComing(this.#places.get(sequence)!));
    const coming = [...this.#come, ...called];
    this.#come = [];
    for (const sequence of coming) {
      const ticket = this.#tickets.get(sequence)!;
      const answer = await engine.enter(ticket);
      if (answer.kind === "entered") {
        this.#onSite.push({ ticket, leavesAt: this.#stage.now() + STAY_MS });
      } else {
        assert.equal(expectKind(answer, "waiting").ahead, 0, "their turn stays theirs");
        this.#come.push(sequence);
        this.kept++;
      }
    }
    this.onSiteBySecond.push(await this.#look());
  }

  async #look(): Promise<number> {
    const { onSite, admitted } = await this.#stage.engine.counts(ROOM);
    assert.ok(onSite <= CAPACITY, `${onSite} on the site`);
    this.turnsMax = Math.max(this.turnsMax, onSite + admitted);
    return onSite;
  }

  #takeGone(): { ticket: Ticket }[] {
    const now = this.#stage.now();
    const firstToStay = this.#onSite.findIndex(({ leavesAt }) => leavesAt > now);
    return this.#onSite.splice(0, firstToStay < 0 ? this.#onSite.length : firstToStay);
  }
}

export function noShows(play: Play): void {
  const rules = {
    totalActiveUsers: CAPACITY,
    fillNoShows: true,
    claimWindowMs: 4_000,
    lapseAfterMs: 3_600_000,
  };
  const isEven = (place: number) => place % 2 === 0;
  /** Everybody stands in the line before the first is called. */
  const comersTo = async (stage: EngineStage, open: Partial<RoomRules>, count: number) => {
    const comers = new Comers(stage, await hearTurns(stage));
    await comers.join(count);
    await stage.configure(open);
    return comers;
  };

  play(
    "turns that nobody uses are given out on top, and the site is never too full (ce6)",
    { ...rules, paused: true },
    async (stage) => {
      const comers = await comersTo(stage, rules, 600);
      for (let i = 0; i < LEARNING_S + WATCHED_S; i++) await comers.second(isEven);
      const { noShows: share } = await stage.engine.counts(ROOM);
      assert.ok(share > 0.15 && share <= 0.5, `${share} where half do not come`);
      assert.ok(comers.turnsMax > CAPACITY, "turns on top");
      assert.ok(fullness(comers) > 0.8, `${fullness(comers)} full`);
      // From here on everybody comes: more than there is room for.
      for (let i = 0; i < 20; i++) await comers.second(() => true);
      assert.ok(comers.kept > 0, "somebody came to a full site, and kept the turn");
    },
    ["turnsOnTop"],
  );

  play("without that, everyone with a firm turn has a slot", { ...rules, paused: true }, async (stage) => {
    const comers = await comersTo(stage, { ...rules, fillNoShows: false }, 200);
    for (let i = 0; i < WATCHED_S; i++) await comers.second(isEven);
    assert.deepEqual([comers.turnsMax, comers.kept], [CAPACITY, 0]);
    assert.ok(fullness(comers) < 0.85, `${fullness(comers)} full`);
  });
}

/** How full the site was of late, 0 to 1. */
function fullness({ onSiteBySecond }: Comers): number {
  const watched = onSiteBySecond.slice(-WATCHED_S);
  return watched.reduce((sum, onSite) => sum + onSite, 0) / watched.length / CAPACITY;
}

export function sharedBudget(play: Play): void {
  const budget = { name: "origin", totalActiveUsers: 10, guaranteed: 3 };
  const OTHER = "other";
  const used = async (stage: EngineStage, room: string) => {
    const { onSite, admitted } = await stage.engine.counts(room);
    return onSite + admitted;
  };

  play(
    "a crowd in one room leaves the others what they are guaranteed (mt3, mt4)",
    { budget },
    async (stage) => {
      await openRoom(stage, OTHER, { budget });
      for (let i = 0; i < 7; i++) await stage.joinEntered();
      const tickets = await stage.joinMany(20);
      await stage.pass(5_000, tickets);
      assert.equal(await used(stage, ROOM), 7);
      for (let i = 0; i < 3; i++) assert.equal((await stage.engine.join(OTHER)).kind, "entered");
      assert.equal((await stage.engine.join(OTHER)).kind, "waiting");
    },
  );

  play(
    "rooms of one budget never have more in them than it says, whatever they do at once (ce6)",
    { budget },
    async (stage) => {
      await openRoom(stage, OTHER, { budget });
      await Promise.all(range(40).map((i) => stage.engine.join(i % 2 === 0 ? ROOM : OTHER)));
      for (let i = 0; i < 5; i++) {
        assert.ok((await used(stage, ROOM)) + (await used(stage, OTHER)) <= 10);
        stage.world.pass(TICK_MS);
        await Promise.all([stage.engine.admit(ROOM), stage.engine.admit(OTHER)]);
      }
      assert.equal((await used(stage, ROOM)) + (await used(stage, OTHER)), 10);
    },
  );

  const MISSED = 100;
  const wide = { ...budget, totalActiveUsers: 2 * MISSED };
  play(
    "with turns given out on top, a budget's rooms hold no more than it says (ce6)",
    { budget: wide },
    async (stage) => {
      const rules = { fillNoShows: true, claimWindowMs: 1_000, lapseAfterMs: 3_600_000, budget: wide };
      // Many are given a turn and nobody comes, so that turns would be given on top from then on.
      await stage.configure({ ...rules, paused: true });
      await stage.joinMany(MISSED);
      await stage.configure(rules);
      await stage.pass(3_000);
      const budgeted = { ...rules, budget, claimWindowMs: 60_000 };
      await openRoom(stage, OTHER, budgeted);
      await stage.configure({ ...budgeted, paused: true });
      const tickets = await stage.joinMany(40);
      await stage.configure(budgeted);
      for (let i = 0; i < 5; i++) {
        await stage.pass(TICK_MS, tickets);
        for (const ticket of tickets) await stage.engine.enter(ticket);
        if (i < 3) await stage.engine.join(OTHER);
        const onSite = [ROOM, OTHER].map(async (room) => (await stage.engine.counts(room)).onSite);
        const [here = 0, there = 0] = await Promise.all(onSite);
        assert.ok(here + there <= budget.totalActiveUsers, `${here} and ${there} on the site`);
        assert.ok(
          here <= budget.totalActiveUsers - budget.guaranteed,
          `${here}, some of them the other room's`,
        );
      }
    },
    ["turnsOnTop"],
  );

  const tight = {
    budget: { name: "origin", totalActiveUsers: 1, guaranteed: 0 },
    sessionDurationMs: 2_000,
    claimWindowMs: 2_000,
    lapseAfterMs: 3_600_000,
  };
  play("with fewer slots than rooms, each room gets its turn (mt3)", tight, async (stage) => {
    const rooms = [ROOM, OTHER, "third"];
    for (const room of rooms.slice(1)) await openRoom(stage, room, tight);
    for (let i = 0; i < 60; i++) await stage.engine.join(rooms[i % 3]!);
    for (let second = 0; second < 40; second++) {
      stage.world.pass(TICK_MS);
      for (const room of rooms) await stage.engine.admit(room);
    }
    for (const room of rooms) {
      const { totals } = await stage.engine.counts(room);
      assert.ok(totals.admitted >= 5, `${totals.admitted} admitted in ${room}`);
    }
  });

  play("rooms of other budgets, or of none, are not disturbed (mt3)", { budget }, async (stage) => {
    await openRoom(stage, OTHER, { budget: { ...budget, name: "elsewhere" } });
    await openRoom(stage, "free", {});
    for (let i = 0; i < 10; i++) await stage.joinEntered();
    await stage.joinWaiting();
    for (const room of [OTHER, "free"])
      for (let i = 0; i < 10; i++) assert.equal((await stage.engine.join(room)).kind, "entered");
  });

  play("a room's own limit holds inside its budget", { budget, totalActiveUsers: 4 }, async (stage) => {
    await openRoom(stage, OTHER, { budget });
    for (let i = 0; i < 4; i++) await stage.joinEntered();
    await stage.joinWaiting();
    for (let i = 0; i < 6; i++) assert.equal((await stage.engine.join(OTHER)).kind, "entered");
    assert.equal((await stage.engine.join(OTHER)).kind, "waiting");
  });
}
