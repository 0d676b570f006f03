import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { proves } from "../testing/requirements/proves.ts";
import { DEFAULT_RULES, type EventRules, type RoomRules } from "./rules.ts";
import { overlapping, phaseAt } from "./schedule.ts";

interface Times {
  readonly prequeueAt?: number | null;
  readonly startAt: number;
  readonly endAt: number;
}

function event(name: string, { prequeueAt = null, startAt, endAt }: Times): EventRules {
  const rules = { ...DEFAULT_RULES, message: name };
  return { name, prequeueAt, startAt, endAt, isShuffled: false, seed: "", rules };
}

function roomWith(events: readonly EventRules[], rules: Partial<RoomRules> = {}): RoomRules {
  return { ...DEFAULT_RULES, ...rules, events };
}

describe("a room with one event", () => {
  const sale = event("sale", { prequeueAt: 100, startAt: 200, endAt: 300 });
  const room = roomWith([sale]);
  const own = { rules: room, event: null, isPrequeue: false, opensAt: null };

  test("has its own rules before the prequeue, until it opens", () => {
    assert.deepEqual(phaseAt(room, 0), { ...own, until: 100 });
    assert.deepEqual(phaseAt(room, 99), { ...own, until: 100 });
  });

  test("has the event's rules from the prequeue on, and everyone waits for the start", () => {
    const prequeue = { rules: sale.rules, event: sale, isPrequeue: true, opensAt: 200, until: 200 };
    assert.deepEqual(phaseAt(room, 100), prequeue);
    assert.deepEqual(phaseAt(room, 199), prequeue);
  });

  test(proves(["me1"], "lets people in by the event's rules from its start to its end"), () => {
    const on = { rules: sale.rules, event: sale, isPrequeue: false, opensAt: null, until: 300 };
    assert.deepEqual(phaseAt(room, 200), on);
    assert.deepEqual(phaseAt(room, 299), on);
  });

  test("has its own rules again from the end on, for good", () => {
    assert.deepEqual(phaseAt(room, 300), { ...own, until: Number.POSITIVE_INFINITY });
  });
});

test("without a prequeue the room's own rules hold up to the start", () => {
  const room = roomWith([event("sale", { startAt: 200, endAt: 300 })]);
  assert.equal(phaseAt(room, 199).event, null);
  assert.equal(phaseAt(room, 199).until, 200);
  assert.equal(phaseAt(room, 200).isPrequeue, false);
  assert.equal(phaseAt(room, 200).event?.name, "sale");
});

test("a closed room says when it opens next, and nothing once no event is left", () => {
  const events = [
    event("sale", { startAt: 200, endAt: 300 }),
    event("gala", { prequeueAt: 400, startAt: 500, endAt: 600 }),
  ];
  const room = roomWith(events, { closed: true });
  assert.deepEqual(
    [0, 300, 399, 600].map((now) => phaseAt(room, now).opensAt),
    [200, 400, 400, null],
  );
  assert.equal(phaseAt(roomWith(events), 0).opensAt, null);
});

test("a room without events has one phase", () => {
  const room = roomWith([]);
  assert.deepEqual(phaseAt(room, 5), {
    rules: room,
    event: null,
    isPrequeue: false,
    opensAt: null,
    until: Number.POSITIVE_INFINITY,
  });
});

/** Events one after another, each beginning no sooner than the one before it ends. */
const inOrder = fc
  .array(fc.tuple(fc.nat(5), fc.option(fc.integer({ min: 1, max: 5 })), fc.integer({ min: 1, max: 5 })), {
    maxLength: 6,
    size: "max",
  })
  .map((gaps) => {
    let at = 0;
    return gaps.map(([pause, gathering, length], index) => {
      const begin = at + pause;
      const startAt = begin + (gathering ?? 0);
      at = startAt + length;
      return event(`e${index}`, { prequeueAt: gathering === null ? null : begin, startAt, endAt: at });
    });
  });

const beginning = ({ prequeueAt, startAt }: Pick<EventRules, "prequeueAt" | "startAt">) =>
  prequeueAt ?? startAt;

test("at every instant the current event is found, and its rules hold", () => {
  fc.assert(
    fc.property(inOrder, fc.nat(70), (events, now) => {
      const room = roomWith(events);
      const on = events.find((event) => beginning(event) <= now && now < event.endAt) ?? null;
      const phase = phaseAt(room, now);
      assert.equal(phase.event, on);
      assert.equal(phase.rules, on ? on.rules : room);
      assert.equal(phase.isPrequeue, on !== null && now < on.startAt);
    }),
  );
});

test("a phase lasts until the instant it names, and another follows", () => {
  fc.assert(
    fc.property(inOrder, fc.boolean(), fc.nat(70), (events, closed, now) => {
      const room = roomWith(events, { closed });
      const phase = phaseAt(room, now);
      assert.ok(phase.until > now);
      if (phase.until === Number.POSITIVE_INFINITY) return;
      for (let at = now; at < phase.until; at++) assert.deepEqual(phaseAt(room, at), phase);
      assert.notDeepEqual(phaseAt(room, phase.until), phase);
    }),
  );
});

const anyEvents = fc.array(
  fc
    .tuple(fc.nat(30), fc.option(fc.integer({ min: 1, max: 5 })), fc.integer({ min: 1, max: 8 }))
    .map(([startAt, gathering, length]) => ({
      prequeueAt: gathering === null ? null : startAt - gathering,
      startAt,
      endAt: startAt + length,
    })),
  { maxLength: 6, size: "max" },
);

test("an overlap is found exactly when two events are on at once", () => {
  fc.assert(
    fc.property(anyEvents, (events) => {
      const areOnAtOnce = events.some((a, index) =>
        events.slice(index + 1).some((b) => beginning(a) < b.endAt && beginning(b) < a.endAt),
      );
      const pair = overlapping(events);
      assert.equal(pair !== null, areOnAtOnce);
      if (!pair) return;
      const [first, second] = pair;
      assert.notEqual(first, second);
      assert.ok(beginning(first) <= beginning(second) && beginning(second) < first.endAt);
    }),
    { numRuns: 500 },
  );
});

test("adjacent events do not overlap, and the list is not changed", () => {
  fc.assert(
    fc.property(inOrder, (events) => {
      const shuffled = events.toReversed();
      const before = [...shuffled];
      assert.equal(overlapping(shuffled), null);
      assert.deepEqual(shuffled, before);
    }),
  );
});
