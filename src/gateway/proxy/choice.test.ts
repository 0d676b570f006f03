import assert from "node:assert/strict";
import { test } from "node:test";
import { AddressHealth, BACK_OFF_MIN_MS, ERRORS_REMEMBERED_MS } from "./address-health.ts";
import { type Candidate, Choice, hashOf, OFFERED_MIN, type Seeker } from "./choice.ts";

interface Place extends Candidate {
  readonly name: string;
  busy: number;
}

/** Addresses that are nothing but what is known of them. */
function open(names: readonly string[], isSticky = false) {
  const time = { now: 1_000_000 };
  const places = names.map((name): Place => {
    const place: Place = {
      ...{ name, busy: 0, hash: hashOf(name), credit: 0, health: new AddressHealth(names.length > 1) },
      load: () => place.busy,
    };
    return place;
  });
  const choice = new Choice(places, isSticky);
  const seek = (parts: Partial<Seeker> = {}): Seeker => ({
    ...{ phase: null, tried: [], isRepeatable: true, repeats: 0, stickyKey: null },
    ...parts,
  });
  const pick = (parts?: Partial<Seeker>) => choice.pick(seek(parts), time.now);
  /** A request that is answered, or failed, in the same instant. */
  const send = (place: Place, outcome: "good" | "error" | "failed", seeker = seek()) => {
    place.health.begin(seeker, time.now);
    place.health.connected(seeker, time.now);
    if (outcome === "failed") place.health.failed(seeker, time.now);
    else place.health.answered(seeker, time.now, outcome);
    place.health.leave(seeker);
  };
  const breakDown = (place: Place) => {
    for (let n = 0; n < 3; n++) send(place, "failed");
  };
  return { places, choice, time, seek, pick, send, breakDown };
}

const THREE = ["http://a:1", "http://b:1", "http://c:1"] as const;

test("equals take turns and the least loaded goes first", () => {
  const { places, pick } = open(THREE);
  const [a, b, c] = places as [Place, Place, Place];
  assert.deepEqual([pick(), pick(), pick(), pick()], [a, b, c, a]);
  a.busy = 1;
  c.busy = 1;
  assert.deepEqual([pick(), pick()], [b, b]);
  b.busy = 2;
  c.busy = 0;
  assert.equal(pick(), c);
});

test("those tried are left out, until none is left", () => {
  const { places, pick } = open(THREE);
  const [a, b, c] = places as [Place, Place, Place];
  assert.equal(pick({ tried: [a, b] }), c);
  assert.equal(pick({ tried: [a, b, c] }), null);
  const alone = open(["http://a:1"]);
  assert.equal(alone.pick({ tried: alone.places }), null);
  assert.equal(alone.pick(), alone.places[0]);
});

test("an address in doubt gets nothing while others are well, and is used when all are in doubt", () => {
  const { places, time, seek, pick } = open(THREE);
  const [a, b, c] = places as [Place, Place, Place];
  a.health.begin(seek(), time.now);
  for (let n = 0; n < 6; n++) assert.notEqual(pick(), a);
  b.health.begin(seek(), time.now);
  c.health.begin(seek(), time.now);
  assert.equal(new Set([pick(), pick(), pick()]).size, 3);
});

test("failing goes before down, and of those down the one that failed longest ago", () => {
  const { places, time, pick, breakDown } = open(THREE);
  const [a, b, c] = places as [Place, Place, Place];
  breakDown(c);
  for (const place of [b, a]) {
    place.health.unreachable(time.now);
    time.now += 10;
  }
  assert.equal(pick(), c);
  assert.equal(pick({ tried: [c] }), b);
  assert.equal(pick({ tried: [c, b] }), a);
});

test("an address whose rest is over gets one request that can be repeated, at once and however busy it is", () => {
  const { places, time, pick, breakDown } = open(THREE);
  const [a] = places as [Place];
  breakDown(a);
  a.busy = 100;
  assert.notEqual(pick(), a);
  time.now += BACK_OFF_MIN_MS;
  assert.notEqual(pick({ isRepeatable: false }), a);
  assert.equal(pick(), a);
  assert.notEqual(pick(), a);
});

test("at most half rest: when more are failing, all of them are used", () => {
  const { places, pick, breakDown } = open([...THREE, "http://d:1"]);
  const used = () => new Set(Array.from({ length: 40 }, () => pick())).size;
  const counts = places.map((place) => {
    breakDown(place);
    return used();
  });
  assert.deepEqual(counts, [3, 2, 4, 4]);
});

test("those down are no part of the half that may rest", () => {
  const { places, time, pick, breakDown } = open(THREE);
  const [a, b, c] = places as [Place, Place, Place];
  c.health.unreachable(time.now);
  breakDown(a);
  assert.deepEqual([pick(), pick()], [b, b]);
  breakDown(b);
  assert.deepEqual(new Set([pick(), pick(), pick(), pick()]), new Set([a, b]));
});

/** How many of the next requests each address gets, when `bad` answers with errors at once and the others keep theirs. */
function offer(scene: ReturnType<typeof open>, requests: number, bad: Place | null): Map<Place, number> {
  const { places, pick, send } = scene;
  const counts = new Map(places.map((place) => [place, 0]));
  for (let n = 0; n < requests; n++) {
    const place = pick()!;
    counts.set(place, counts.get(place)! + 1);
    send(place, place === bad ? "error" : "good");
    if (place !== bad) place.busy++;
  }
  return counts;
}

test("an address that fails at once gets a small part of its share, and all of it in the named time after it is well", () => {
  const scene = open(THREE);
  const [bad] = scene.places as [Place];
  const first = offer(scene, 300, bad).get(bad)!;
  assert.ok(first < 50, `${first} of 300`);
  const later = offer(scene, 3_000, bad).get(bad)!;
  assert.ok(later >= 1_000 * OFFERED_MIN * 0.9 && later <= 1_000 * OFFERED_MIN * 1.5, `${later} of 3,000`);
  scene.time.now += ERRORS_REMEMBERED_MS;
  for (const place of scene.places) place.busy = 0;
  assert.deepEqual([...offer(scene, 300, null).values()], [100, 100, 100]);
});

test("errors that all addresses have alike hold none of them back", () => {
  const scene = open(THREE);
  for (const place of scene.places)
    for (let n = 0; n < 100; n++) scene.send(place, n % 2 === 0 ? "error" : "good");
  assert.deepEqual([...offer(scene, 300, null).values()], [100, 100, 100]);
});

const KEYS = Array.from({ length: 3_000 }, (_, n) => `visitor-${n}`);

test("keys are spread evenly, and alike on every gateway, in any order of the addresses", () => {
  const { places, pick } = open(THREE, true);
  const other = open(THREE.toReversed(), true);
  const counts = new Map<string, number>();
  for (const stickyKey of KEYS) {
    const { name } = pick({ stickyKey })!;
    assert.equal(other.pick({ stickyKey })!.name, name);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  for (const { name } of places) {
    const count = counts.get(name)!;
    assert.ok(count > 900 && count < 1_100, `${name}: ${count}`);
  }
});

test("neither load nor errors nor passing doubts move a visitor; an address that cannot serve moves its own alone", () => {
  const { places, time, seek, pick, send, breakDown } = open(THREE, true);
  const [a, b] = places as [Place, Place];
  const homes = KEYS.map((stickyKey) => pick({ stickyKey })!);
  const moved = () => KEYS.filter((stickyKey, n) => pick({ stickyKey }) !== homes[n]).length;
  a.busy = 500;
  for (let n = 0; n < 100; n++) send(a, "error");
  a.health.begin(seek(), time.now);
  assert.equal(moved(), 0);
  a.health.unreachable(time.now);
  const ownOf = (place: Place) => homes.filter((home) => home === place).length;
  assert.equal(moved(), ownOf(a));
  a.health.reached(time.now);
  assert.equal(moved(), 0);
  breakDown(b);
  assert.equal(moved(), ownOf(b));
});

test("without a key, a sticky origin goes by load", () => {
  const { places, pick } = open(THREE, true);
  assert.deepEqual([pick(), pick(), pick()], places);
});

test("another address is known to exist only where it could serve", () => {
  const { places, choice, time, seek } = open(THREE);
  const [a, b, c] = places as [Place, Place, Place];
  assert.equal(choice.hasOther(seek(), a, time.now), true);
  assert.equal(choice.hasOther(seek({ tried: [b, c] }), a, time.now), false);
  b.health.unreachable(time.now);
  c.health.isFailingCheck = true;
  assert.equal(choice.hasOther(seek(), a, time.now), false);
});
