/**
 * The chapters of the conformance suite about the calendar: events with their prequeue, start and end, and the draw,
 * which is recomputed here with nothing of ours from what an engine publishes.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { DEFAULT_RULES, type DoorRules, type EventRules, type RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import {
  aheadOfTickets,
  hearTurns,
  joinAs,
  joinLanes,
  kindsOf,
  type Play,
  placesOf,
  range,
  twoLanes,
  VIP,
} from "./conformance-crowd.ts";
import { type EngineStage, expectKind, ROOM, TICK_MS } from "./conformance-stage.ts";

const SEED = "0123456789abcdef".repeat(4);
const OTHER_SEED = "fedcba9876543210".repeat(4);
const EVENT = "sale";
const OPENS_IN_MS = 10_000;
const STARTS_IN_MS = 20_000;
const ENDS_IN_MS = 60_000;

/** An event that opens its prequeue in ten seconds, starts in twenty and is over in a minute. */
function eventFrom(now: number, rules: Partial<DoorRules>, event: Partial<EventRules> = {}): EventRules {
  return {
    name: EVENT,
    prequeueAt: now + OPENS_IN_MS,
    startAt: now + STARTS_IN_MS,
    endAt: now + ENDS_IN_MS,
    isShuffled: false,
    seed: SEED,
    rules: { ...DEFAULT_RULES, ...rules },
    ...event,
  };
}

/** Puts a room's rules with one event in force. */
async function announce(
  stage: EngineStage,
  {
    rules = {},
    during = {},
    ...event
  }: Partial<Omit<EventRules, "rules">> & {
    readonly rules?: Partial<RoomRules>;
    readonly during?: Partial<DoorRules>;
  } = {},
): Promise<EventRules> {
  const announced = eventFrom(stage.now(), during, event);
  await stage.configure({ ...rules, events: [announced] });
  return announced;
}

/** Lets time pass up to an instant, turning the door on the way while `present` keep checking in. */
async function passUntil(stage: EngineStage, at: number, present: readonly Ticket[] = []): Promise<void> {
  while (at - stage.now() > TICK_MS) await stage.pass(TICK_MS, present);
  await stage.pass(at - stage.now(), present);
}

export function events(play: Play): void {
  play("a prequeue gathers everybody and admits nobody until the start", {}, async (stage) => {
    const { prequeueAt, startAt } = await announce(stage);
    await stage.joinEntered();
    assert.equal((await stage.engine.counts(ROOM)).event, null);
    await passUntil(stage, prequeueAt!);
    const tickets = await stage.joinMany(5);
    const { state, event } = await stage.engine.counts(ROOM);
    assert.deepEqual([state, event], ["prequeue", EVENT]);
    stage.world.pass(TICK_MS);
    assert.equal((await stage.engine.board(ROOM)).nextEventAt, startAt);
    await passUntil(stage, startAt - 1, tickets);
    assert.equal((await stage.engine.counts(ROOM)).admitted, 0);
    await passUntil(stage, startAt + TICK_MS, tickets);
    assert.deepEqual(await kindsOf(stage, tickets), Array(5).fill("admitted"));
  });

  play("each part of an event begins at its very instant", {}, async (stage) => {
    const { prequeueAt, startAt, endAt } = await announce(stage, {
      during: { queueingMethod: "reject", totalActiveUsers: 1 },
    });
    const joinAt = async (at: number) => {
      await passUntil(stage, at);
      const answer = await stage.engine.join(ROOM);
      if (answer.kind === "waiting") await stage.engine.leave(answer.ticket);
      if (answer.kind === "entered") await stage.engine.leave(answer.pass);
      return answer.kind === "refused" ? answer.reason : answer.kind;
    };
    assert.equal(await joinAt(prequeueAt! - 1), "entered");
    assert.equal(await joinAt(prequeueAt!), "waiting");
    assert.equal(await joinAt(startAt - 1), "waiting");
    assert.equal(await joinAt(startAt), "entered");
    await stage.joinEntered();
    assert.equal(await joinAt(endAt - 1), "rejected");
    assert.equal(await joinAt(endAt), "entered");
  });

  play("an event's rules hold from its prequeue to its end, then the room's again", {}, async (stage) => {
    const limits = async () => (await stage.engine.counts(ROOM)).limits;
    const { prequeueAt, startAt, endAt } = await announce(stage, {
      rules: { totalActiveUsers: 1 },
      during: { totalActiveUsers: 3, newUsersPerMinute: 600 },
    });
    await stage.joinEntered();
    const tickets = await stage.joinMany(6);
    await passUntil(stage, prequeueAt!, tickets);
    assert.deepEqual(await limits(), { totalActiveUsers: 3, newUsersPerMinute: 600 });
    await passUntil(stage, startAt + TICK_MS, tickets);
    await stage.enterAll(tickets);
    await passUntil(stage, endAt - TICK_MS, tickets);
    assert.equal((await stage.engine.counts(ROOM)).onSite, 3);
    await passUntil(stage, endAt, tickets);
    assert.deepEqual(await limits(), { totalActiveUsers: 1, newUsersPerMinute: null });
    const counts = await stage.engine.counts(ROOM);
    assert.deepEqual([counts.event, counts.waiting], [null, 4]);
  });

  play("latecomers are behind everybody who gathered, in the order they came (ce4)", {}, async (stage) => {
    const { prequeueAt, startAt } = await announce(stage, {
      during: { totalActiveUsers: 1 },
      isShuffled: true,
    });
    await passUntil(stage, prequeueAt!);
    const early = await stage.joinMany(10);
    await passUntil(stage, startAt + TICK_MS, early);
    const late = await stage.joinMany(5);
    const turns = await hearTurns(stage);
    await stage.configure({});
    await stage.pass(TICK_MS, [...early, ...late]);
    assert.deepEqual(placesOf((await turns.take()).slice(-5), late), range(5));
  });

  play("those who waited before the prequeue opened stay in front", {}, async (stage) => {
    const rules = { totalActiveUsers: 1 };
    const { prequeueAt, startAt } = await announce(stage, { rules, during: {}, isShuffled: true });
    await stage.joinEntered();
    const before = await stage.joinMany(4);
    await passUntil(stage, prequeueAt!, before);
    assert.deepEqual(await aheadOfTickets(stage, before), range(4));
    const gathered = await stage.joinMany(10);
    const turns = await hearTurns(stage);
    await passUntil(stage, startAt + TICK_MS, [...before, ...gathered]);
    const order = await turns.take();
    assert.equal(order.length, 14);
    assert.deepEqual(placesOf(order.slice(0, 4), before), range(4));
  });

  play("a closed room opens for its event and is closed again after it", {}, async (stage) => {
    const closed = { kind: "refused", reason: "closed" };
    const { prequeueAt, startAt, endAt } = await announce(stage, { rules: { closed: true }, during: {} });
    assert.deepEqual(await stage.engine.join(ROOM), closed);
    assert.equal((await stage.engine.board(ROOM)).nextEventAt, prequeueAt);
    await passUntil(stage, prequeueAt!);
    const { ticket } = await stage.joinWaiting();
    await passUntil(stage, startAt + TICK_MS, [ticket]);
    expectKind(await stage.engine.enter(ticket), "entered");
    await passUntil(stage, endAt);
    assert.deepEqual(await stage.engine.join(ROOM), closed);
    assert.equal((await stage.engine.counts(ROOM)).state, "closed");
  });

  play("several events come one after the other, each with its own rules", {}, async (stage) => {
    const now = stage.now();
    const first = eventFrom(now, { totalActiveUsers: 1 });
    const second = eventFrom(
      now + 2 * ENDS_IN_MS,
      { totalActiveUsers: 2 },
      { name: "encore", prequeueAt: null },
    );
    await stage.configure({ events: [first, second] });
    const seen = async (at: number) => {
      await passUntil(stage, at);
      const { event, limits } = await stage.engine.counts(ROOM);
      return [event, limits.totalActiveUsers];
    };
    assert.deepEqual(await seen(first.startAt), ["sale", 1]);
    assert.deepEqual(await seen(first.endAt), [null, null]);
    assert.deepEqual(await seen(second.startAt - 1), [null, null]);
    assert.deepEqual(await seen(second.startAt), ["encore", 2]);
  });

  play("an event put in, moved and taken out at run time costs nobody their place", {}, async (stage) => {
    const rules = { totalActiveUsers: 1, sessionDurationMs: 3_600_000 };
    await stage.configure(rules);
    await stage.joinEntered();
    const tickets = await stage.joinMany(4);
    const { prequeueAt } = await announce(stage, { rules, during: rules });
    await passUntil(stage, prequeueAt!, tickets);
    tickets.push(...(await stage.joinMany(2)));
    await announce(stage, { rules, during: rules, prequeueAt: stage.now() });
    await stage.pass(5_000, tickets);
    await stage.configure(rules);
    await stage.pass(TICK_MS, tickets);
    assert.deepEqual(await aheadOfTickets(stage, tickets), range(6));
  });
}

export function draws(play: Play): void {
  const shuffled = { isShuffled: true } as const;

  play(
    "the hash of the seed is there before anybody gathers, and the seed only from the start on",
    {},
    async (stage) => {
      const seedHash = sha256Hex(SEED);
      const { prequeueAt, startAt } = await announce(stage, { during: { totalActiveUsers: 1 }, ...shuffled });
      const isHidden = async () => {
        const [board, record, counts] = [
          await stage.engine.board(ROOM),
          await stage.engine.draw(ROOM, EVENT),
          await stage.engine.counts(ROOM),
        ];
        assert.deepEqual(board.draw, { event: EVENT, seedHash, seed: null });
        assert.partialDeepStrictEqual(record, {
          event: EVENT,
          seedHash,
          seed: null,
          startAt,
          drawnAt: null,
          ids: null,
        });
        assert.ok(!JSON.stringify([board, record, counts]).includes(SEED));
      };
      await isHidden();
      await passUntil(stage, prequeueAt!);
      const tickets = await stage.joinMany(3);
      await passUntil(stage, startAt - 1, tickets);
      await isHidden();
      await passUntil(stage, startAt + TICK_MS, tickets);
      assert.deepEqual((await stage.engine.board(ROOM)).draw, { event: EVENT, seedHash, seed: SEED });
      assert.equal((await stage.engine.draw(ROOM, EVENT))!.seed, SEED);
    },
  );

  play(
    "those who gathered go in the order that seed and ids give, to be recomputed by anyone (cp3)",
    {},
    async (stage) => {
      const { prequeueAt, startAt } = await announce(stage, shuffled);
      await passUntil(stage, prequeueAt!);
      const tickets = await stage.joinMany(60);
      assert.deepEqual(await aheadOfTickets(stage, tickets), Array(60).fill(null), "nobody has a number yet");
      assert.deepEqual((await stage.engine.board(ROOM)).marks, []);
      const turns = await hearTurns(stage);
      await passUntil(stage, startAt + TICK_MS, tickets);
      const given = await turns.take();
      const record = (await stage.engine.draw(ROOM, EVENT))!;
      const order = drawnOrder(record.seed!, tickets);
      assert.deepEqual(
        hexIds(record.ids!),
        order.map(({ id }) => id),
      );
      assert.notDeepEqual(order, tickets);
      assert.deepEqual(
        given,
        tickets.map(({ sequence }) => sequence),
        "sequences rise with each place given",
      );
      const now = await currentTickets(stage, order);
      assert.deepEqual(placesOf(given, now), range(60));
    },
  );

  play(
    "the record is complete: everybody who was given a place, who left and who lapsed included",
    {},
    async (stage) => {
      const { prequeueAt, startAt } = await announce(stage, {
        during: { totalActiveUsers: 1, lapseAfterMs: 1_000 },
        ...shuffled,
      });
      await passUntil(stage, prequeueAt!);
      const tickets = await stage.joinMany(12);
      await stage.engine.leave(tickets[3]!);
      await passUntil(stage, startAt + TICK_MS, tickets.slice(6));
      const record = (await stage.engine.draw(ROOM, EVENT))!;
      assert.equal(record.size, 12);
      assert.equal(record.seedHash, sha256Hex(record.seed!));
      assert.ok(record.drawnAt! >= startAt);
      assert.deepEqual(
        hexIds(record.ids!),
        drawnOrder(SEED, tickets).map(({ id }) => id),
      );
      const late = await stage.joinMany(1);
      const again = (await stage.engine.draw(ROOM, EVENT))!;
      assert.ok(!hexIds(again.ids!).includes(late[0]!.id), "a latecomer is not in it");
    },
  );

  play("a ticket from before the draw is the same place as the one it has become", {}, async (stage) => {
    const during = { totalActiveUsers: 1, sessionDurationMs: 3_600_000 };
    const { prequeueAt, startAt } = await announce(stage, {
      during,
      endAt: stage.now() + 3_600_000,
      ...shuffled,
    });
    await stage.joinEntered();
    await passUntil(stage, prequeueAt!);
    const tickets = await stage.joinMany(8);
    await passUntil(stage, startAt + TICK_MS, tickets);
    const order = drawnOrder(SEED, tickets);
    assert.deepEqual(await aheadOfTickets(stage, order), range(8));
    const renewed = await currentTickets(stage, order);
    assert.deepEqual(await aheadOfTickets(stage, renewed), range(8));
    assert.ok(renewed.every(({ draw }) => draw === Math.floor(startAt / 1_000)));
    assert.equal((await stage.engine.counts(ROOM)).waiting, 8);
    await stage.engine.leave(order[0]!);
    assert.deepEqual(await stage.engine.checkIn(renewed[0]!), { kind: "refused", reason: "ticketSpent" });
    await stage.configure({ totalActiveUsers: 2, sessionDurationMs: 3_600_000 });
    await stage.pass(TICK_MS, order.slice(1));
    const first = expectKind(await stage.engine.enter(order[1]!), "entered");
    assert.equal(first.pass.id, order[1]!.id);
    assert.deepEqual(expectKind(await stage.engine.enter(renewed[1]!), "entered").pass, first.pass);
    assert.deepEqual(await aheadOfTickets(stage, order.slice(2)), range(6));
  });

  play(
    "someone who lapsed while people gathered comes back to the place they were drawn at",
    {},
    async (stage) => {
      const during = { totalActiveUsers: 1, lapseAfterMs: 1_000, sessionDurationMs: 3_600_000 };
      const endAt = stage.now() + 3_600_000;
      const { prequeueAt, startAt } = await announce(stage, {
        during,
        endAt,
        prequeueAt: stage.now() + TICK_MS,
        startAt: stage.now() + 200_000,
        ...shuffled,
      });
      await stage.joinEntered();
      await passUntil(stage, prequeueAt!);
      const tickets = await stage.joinMany(6);
      const order = drawnOrder(SEED, tickets);
      const away = order[2]!;
      const here = tickets.filter((ticket) => ticket !== away);
      await passUntil(stage, startAt + TICK_MS, here);
      assert.equal((await stage.engine.counts(ROOM)).lapsed, 1);
      assert.deepEqual(await aheadOfTickets(stage, [away]), [2]);
      assert.deepEqual(await aheadOfTickets(stage, order), range(6));
    },
  );

  play(
    "a drawn visitor who comes back late is not gathered again by an event announced since",
    {},
    async (stage) => {
      const during = { totalActiveUsers: 1, lapseAfterMs: 1_000, sessionDurationMs: 3_600_000 };
      const endAt = stage.now() + 3_600_000;
      const times = { endAt, prequeueAt: stage.now() + TICK_MS, startAt: stage.now() + 200_000 };
      const { prequeueAt, startAt } = await announce(stage, { during, ...times, ...shuffled });
      await stage.joinEntered();
      await passUntil(stage, prequeueAt!);
      const tickets = await stage.joinMany(4);
      await passUntil(stage, startAt + TICK_MS);
      assert.equal((await stage.engine.counts(ROOM)).lapsed, 4);
      await announce(stage, { during, ...times, name: "another", startAt: endAt - 1, ...shuffled });
      assert.equal((await stage.engine.counts(ROOM)).state, "prequeue");
      const order = drawnOrder(SEED, tickets);
      assert.deepEqual(await aheadOfTickets(stage, order), range(4));
      assert.deepEqual(await aheadOfTickets(stage, order), range(4), "also once they are known to be back");
    },
  );

  play("listeners hear of the draw once, and the board has marks from then on", {}, async (stage) => {
    const { prequeueAt, startAt } = await announce(stage, { during: { totalActiveUsers: 1 }, ...shuffled });
    let heard = 0;
    stage.engine.subscribe({ onDraw: (room) => room === ROOM && heard++ });
    await passUntil(stage, prequeueAt!);
    const tickets = await stage.joinMany(4);
    await passUntil(stage, startAt - 1, tickets);
    assert.equal(heard, 0);
    await passUntil(stage, startAt + 5 * TICK_MS, tickets);
    assert.equal(heard, 1);
    assert.equal((await stage.engine.board(ROOM)).marks.length, 3);
  });

  play(
    "a lane before another stays before it in a draw, and inside each the lot decides",
    {},
    async (stage) => {
      const lanes = twoLanes("strict", 0);
      const { prequeueAt, startAt } = await announce(stage, {
        rules: { lanes },
        during: { lanes },
        ...shuffled,
      });
      await passUntil(stage, prequeueAt!);
      const tickets = await joinLanes(
        stage,
        range(30).map((i) => (i % 3 === 0 ? VIP : 0)),
      );
      const turns = await hearTurns(stage);
      await passUntil(stage, startAt + TICK_MS, tickets);
      const order = drawnOrder(SEED, tickets);
      const expected = [VIP, 0].flatMap((lane) => order.filter((ticket) => ticket.lane === lane));
      assert.deepEqual(placesOf(await turns.take(), await currentTickets(stage, expected)), range(30));
    },
    ["lanes"],
  );

  play(
    "a seed whose hash was published is the one that is drawn by, whatever the rules say later",
    {},
    async (stage) => {
      const { prequeueAt, startAt } = await announce(stage, shuffled);
      const { seedHash } = (await stage.engine.draw(ROOM, EVENT))!;
      await passUntil(stage, prequeueAt!);
      const tickets = await stage.joinMany(10);
      await announce(stage, { ...shuffled, seed: OTHER_SEED, prequeueAt, startAt });
      await passUntil(stage, startAt + TICK_MS, tickets);
      const record = (await stage.engine.draw(ROOM, EVENT))!;
      assert.deepEqual([record.seedHash, record.seed], [seedHash, SEED]);
      assert.deepEqual(
        hexIds(record.ids!),
        drawnOrder(SEED, tickets).map(({ id }) => id),
      );
    },
  );

  play("a newcomer at the very start comes behind those who are about to be drawn", {}, async (stage) => {
    const { prequeueAt, startAt } = await announce(stage, { during: { totalActiveUsers: 1 }, ...shuffled });
    await passUntil(stage, prequeueAt!);
    const tickets = await stage.joinMany(3);
    stage.world.pass(startAt - stage.now());
    const late = expectKind(await joinAs(stage, {}), "waiting").ticket;
    await stage.pass(TICK_MS, [...tickets, late]);
    const [first, ...others] = drawnOrder(SEED, tickets);
    assert.deepEqual(await kindsOf(stage, [first!]), ["admitted"]);
    assert.deepEqual(await aheadOfTickets(stage, [...others, late]), [0, 1, 2]);
  });

  play("an event that is not shuffled has no draw, and no event no record", {}, async (stage) => {
    await announce(stage);
    assert.equal(await stage.engine.draw(ROOM, EVENT), null);
    assert.equal(await stage.engine.draw(ROOM, "nothing"), null);
    assert.equal("draw" in (await stage.engine.board(ROOM)), false);
  });
}

/** The tickets by rising SHA-256 of the seed's bytes and then the id's. */
function drawnOrder(seed: string, tickets: readonly Ticket[]): Ticket[] {
  const keyed = tickets.map((ticket) => ({ ticket, key: sha256Hex(seed + ticket.id) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ ticket }) => ticket);
}

function sha256Hex(hex: string): string {
  return createHash("sha256").update(Buffer.from(hex, "hex")).digest("hex");
}

function hexIds(ids: Uint8Array): string[] {
  return Buffer.from(ids).toString("hex").match(/.{32}/g) ?? [];
}

/** What each of them is after the draw, as told by a check-in. */
async function currentTickets(stage: EngineStage, tickets: readonly Ticket[]): Promise<Ticket[]> {
  const current: Ticket[] = [];
  for (const ticket of tickets) {
    const answer = await stage.engine.checkIn(ticket);
    assert.ok(answer.kind === "waiting" || answer.kind === "admitted");
    current.push(answer.ticket);
  }
  return current;
}
