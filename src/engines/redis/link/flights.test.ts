import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Flight, Flights } from "./flights.ts";

const flight = (dueAt: number): Flight => ({ dueAt, isAnswered: false, isGivenUp: false });

test("what is due is given up once, in the order of asking", () => {
  const flights = new Flights<Flight>();
  const [early, late, early2] = [flight(10), flight(20), flight(10)];
  for (const each of [early, late, early2]) flights.add(each);
  assert.deepEqual(flights.giveUp(9), []);
  const overdue = flights.giveUp(10);
  assert.equal(overdue.length, 2);
  assert.ok(overdue[0] === early && overdue[1] === early2);
  assert.deepEqual(flights.giveUp(15), []);
  assert.ok(flights.giveUp(20)[0] === late);
});

test("what was given up counts until it is answered", () => {
  const flights = new Flights<Flight>();
  const one = flight(10);
  flights.add(one);
  flights.giveUp(10);
  assert.equal(flights.size, 1);
  flights.land(one);
  assert.equal(flights.size, 0);
});

test("what is answered is not given up", () => {
  const flights = new Flights<Flight>();
  const [one, two] = [flight(10), flight(10)];
  flights.add(one);
  flights.add(two);
  // Out of order, as when a connection ends.
  flights.land(two);
  assert.deepEqual(flights.giveUp(10), [one]);
});

test("whatever is sent, answered and given up, the books agree with a plain list", () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 50 }) }) },
    {
      weight: 5,
      arbitrary: fc.record({ land: fc.nat({ max: 3 }), times: fc.integer({ min: 1, max: 3_000 }) }),
    },
    { weight: 1, arbitrary: fc.record({ giveUp: fc.nat({ max: 60 }) }) },
    { weight: 1, arbitrary: fc.record({ addMany: fc.integer({ min: 1_000, max: 3_000 }) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const flights = new Flights<Flight>();
      let plain: Flight[] = [];
      const add = (dueAt: number) => {
        const each = flight(dueAt);
        flights.add(each);
        plain.push(each);
      };
      for (const each of steps) {
        if ("add" in each) add(each.add);
        else if ("addMany" in each) for (let i = 0; i < each.addMany; i++) add(i % 50);
        else if ("giveUp" in each) {
          const wanted = plain.filter((one) => !one.isAnswered && !one.isGivenUp && one.dueAt <= each.giveUp);
          assert.deepEqual(flights.giveUp(each.giveUp), wanted);
        } else {
          for (let i = 0; i < each.times && plain.length > 0; i++) {
            const [landing] = plain.splice(Math.min(each.land, plain.length - 1), 1);
            flights.land(landing!);
          }
        }
        plain = plain.filter((one) => !one.isAnswered);
        // Answered ones may stay behind the first that is not, but never when all are answered.
        assert.ok(flights.size >= plain.length && (plain.length > 0 || flights.size === 0));
      }
    }),
    { numRuns: 60 },
  );
});
