import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type AbuseSettings, abuseSchema } from "../../config/abuse-schema.ts";
import { seededFraction } from "../../sim/hand-world.ts";
import { Keyring } from "../tokens/keyring.ts";
import { AbuseGuard, type ComeBack, type Joining, type JoinVerdict } from "./abuse-guard.ts";
import { isSlip, SLIP_LIFE_MS } from "./slip.ts";
import { isSolved } from "./work.ts";

const NOW = Date.UTC(2026, 5, 1);
const keyring = new Keyring({ secret: "a secret of at least thirty-two characters", previousSecrets: [] });
const NO_PAST = { visits: 0, since: 0 };
const WORK = { easiest: 4, hardest: 12, joinsPerSecond: 10 };

function guardOf(
  settings: object,
  about: { room?: string; now?: number; before?: AbuseGuard } = {},
): AbuseGuard {
  const { room = "main", now = NOW, before = null } = about;
  const fraction = seededFraction(now);
  const random = {
    bytes: (length: number) => Uint8Array.from({ length }, () => Math.floor(fraction() * 256)),
  };
  const parts = { room, settings: abuseSchema.parse(settings), keyring, random, now };
  return new AbuseGuard(parts, before);
}

function ask(guard: AbuseGuard, now: number, joining: Partial<Joining> = {}): JoinVerdict {
  return guard.mayJoin({
    address: "203.0.113.7",
    slip: null,
    solution: null,
    past: NO_PAST,
    hasPlace: false,
    mustProve: false,
    now,
    ...joining,
  });
}

function comeBack(verdict: JoinVerdict, reason: string): ComeBack {
  assert.equal(verdict.kind, "comeBack");
  assert.equal((verdict as ComeBack).reason, reason);
  return verdict as ComeBack;
}

/** The slip of a first contact. */
function slipOf(guard: AbuseGuard, now: number, joining: Partial<Joining> = {}): string {
  const { slip } = comeBack(ask(guard, now, joining), "firstContact");
  return slip ?? assert.fail("no slip");
}

function solve(challenge: string, bits: number): string {
  for (let nonce = 0; ; nonce++) if (isSolved(challenge, bits, String(nonce))) return String(nonce);
}

/** Digits that solve it not. */
function fail(challenge: string, bits: number): string {
  for (let nonce = 0; ; nonce++) if (!isSolved(challenge, bits, String(nonce))) return String(nonce);
}

test("where nothing is set everybody joins at once, with no dice thrown and nothing proven", () => {
  const random = { bytes: () => assert.fail("dice were thrown") };
  const settings: AbuseSettings = abuseSchema.parse({ bindTickets: "userAgent" });
  const guard = new AbuseGuard({ room: "main", settings, keyring, random, now: NOW }, null);
  const verdict = ask(guard, NOW);
  assert.deepEqual([verdict.kind, verdict.kind === "ok" && verdict.isProven], ["ok", false]);
});

test("a visitor who must prove that they keep a cookie comes back with a slip, and has no delay and no work", () => {
  const guard = guardOf({});
  const first = comeBack(ask(guard, NOW, { mustProve: true }), "firstContact");
  assert.deepEqual([first.waitMs, first.work], [0, null]);
  const back = ask(guard, NOW, { mustProve: true, slip: first.slip });
  assert.deepEqual([back.kind, back.kind === "ok" && back.isProven], ["ok", true]);
  comeBack(ask(guard, NOW + 10_000, { mustProve: true, slip: first.slip }), "usedSlip");
});

test("one address joins as often as it may, and is told when it may again; others are not touched", () => {
  const guard = guardOf({ joinsPerMinutePerAddress: 3 });
  for (let i = 0; i < 3; i++) assert.equal(ask(guard, NOW).kind, "ok");
  const refused = { kind: "tooMany", reason: "addressBudget", retryAfterSeconds: 20 };
  assert.deepEqual(ask(guard, NOW), refused);
  assert.equal(ask(guard, NOW, { address: "203.0.113.8" }).kind, "ok");
  assert.equal(ask(guard, NOW + 19_999).kind, "tooMany");
  assert.equal(ask(guard, NOW + 20_000).kind, "ok");
});

test("one network joins as often as it may, from whichever of its addresses", () => {
  const guard = guardOf({ joinsPerMinutePerNetwork: 3 });
  for (let i = 0; i < 3; i++) assert.equal(ask(guard, NOW, { address: `2001:db8:1:${i}::1` }).kind, "ok");
  const refused = { kind: "tooMany", reason: "networkBudget", retryAfterSeconds: 20 };
  assert.deepEqual(ask(guard, NOW, { address: "2001:db8:1:99::1" }), refused);
  assert.equal(ask(guard, NOW, { address: "2001:db8:2::1" }).kind, "ok");
});

test("an address that may not join costs its network nothing", () => {
  const guard = guardOf({ joinsPerMinutePerAddress: 1, joinsPerMinutePerNetwork: 2 });
  assert.equal(ask(guard, NOW, { address: "203.0.113.1" }).kind, "ok");
  for (let i = 0; i < 10; i++) assert.equal(ask(guard, NOW, { address: "203.0.113.1" }).kind, "tooMany");
  assert.equal(ask(guard, NOW, { address: "203.0.113.2" }).kind, "ok");
});

test("with an entry delay a place is given at the second contact, a second after the first", () => {
  const guard = guardOf({ entryDelay: true });
  const first = comeBack(ask(guard, NOW), "firstContact");
  assert.ok(first.slip !== null && isSlip(first.slip));
  assert.deepEqual([first.waitMs, first.work], [1_000, null]);
  const early = comeBack(ask(guard, NOW + 999, { slip: first.slip }), "tooSoon");
  assert.deepEqual([early.waitMs, early.slip], [1, null]);
  assert.equal(ask(guard, NOW + 1_000, { slip: first.slip }).kind, "ok");
});

test("a visitor who keeps nothing never gets a place", () => {
  const guard = guardOf({ entryDelay: true });
  for (let i = 0; i < 100; i++) comeBack(ask(guard, NOW + i * 1_000), "firstContact");
});

test("a slip of another room, a forged one and one that has run out lead to a new one", () => {
  const guard = guardOf({ entryDelay: true });
  const slip = slipOf(guard, NOW);
  const elsewhere = guardOf({ entryDelay: true }, { room: "other" });
  for (const [verdict, why] of [
    [ask(elsewhere, NOW + 2_000, { slip }), "another room"],
    [ask(guard, NOW + 2_000, { slip: `${slip.slice(0, -2)}AA` }), "forged"],
    [ask(guard, NOW + 2_000, { slip: "x".repeat(100_000) }), "nonsense"],
    [ask(guard, NOW + SLIP_LIFE_MS, { slip }), "run out"],
  ] as const) {
    const { slip: fresh, waitMs } = comeBack(verdict, "badSlip");
    assert.ok(fresh !== null && fresh !== slip, why);
    assert.equal(waitMs, 1_000);
  }
});

test("one slip is one place, however many show it", () => {
  const guard = guardOf({ entryDelay: true });
  const slip = slipOf(guard, NOW);
  const verdicts = Array.from({ length: 50 }, (_, i) => ask(guard, NOW + 1_000 + i * 200, { slip }).kind);
  assert.equal(verdicts.filter((kind) => kind === "ok").length, 1);
});

test("a slip shown again at once leaves the cookie alone: its place is on the way; later it leads to a new one", () => {
  const guard = guardOf({ entryDelay: true });
  const slip = slipOf(guard, NOW);
  assert.equal(ask(guard, NOW + 1_000, { slip }).kind, "ok");
  assert.equal(comeBack(ask(guard, NOW + 1_001, { slip }), "usedSlip").slip, null);
  const fresh = comeBack(ask(guard, NOW + 6_000, { slip }), "usedSlip").slip;
  assert.ok(fresh !== null && fresh !== slip);
  assert.equal(ask(guard, NOW + 7_000, { slip: fresh }).kind, "ok");
});

test("a join that came to nothing is given back: budget, slip and work are good again, and nobody has more work for it", () => {
  const guard = guardOf({ joinsPerMinutePerAddress: 1, joinsPerMinutePerNetwork: 1, proofOfWork: WORK });
  const { slip, work } = comeBack(ask(guard, NOW), "firstContact");
  const solution = solve(work!.challenge, work!.bits);
  for (let i = 0; i < 5_000; i++) {
    const verdict = ask(guard, NOW + i, { slip, solution });
    assert.ok(verdict.kind === "ok");
    verdict.giveBack(NOW + i);
    verdict.giveBack(NOW + i);
  }
  const { work: others } = comeBack(ask(guard, NOW + 5_000, { address: "192.0.2.1" }), "firstContact");
  assert.equal(others!.bits, WORK.easiest);
  assert.equal(ask(guard, NOW + 5_000, { slip, solution }).kind, "ok");
  assert.equal(ask(guard, NOW + 5_000).kind, "tooMany");
});

test("what was taken under settings that have changed since is given back all the same", () => {
  const before = guardOf({ proofOfWork: { ...WORK, joinsPerSecond: 1 } });
  const taken = Array.from({ length: 100 }, () => {
    const slip = slipOf(before, NOW);
    const verdict = ask(before, NOW, { slip, solution: solve(slip, 8) });
    return verdict.kind === "ok" ? verdict : assert.fail(verdict.kind);
  });
  const settings = { proofOfWork: { ...WORK, joinsPerSecond: 1 }, joinsPerMinutePerAddress: 500 };
  const after = guardOf(settings, { now: NOW + 1, before });
  assert.ok(comeBack(ask(after, NOW + 1), "firstContact").work!.bits > WORK.easiest);
  for (const verdict of taken) verdict.giveBack(NOW + 2);
  assert.equal(comeBack(ask(after, NOW + 2), "firstContact").work!.bits, WORK.easiest);
});

test("someone who has a place need not come twice or work again for another, and keeps to the budgets", () => {
  const guard = guardOf({ joinsPerMinutePerAddress: 1, entryDelay: true, proofOfWork: WORK });
  assert.equal(ask(guard, NOW, { hasPlace: true }).kind, "ok");
  assert.equal(ask(guard, NOW, { hasPlace: true }).kind, "tooMany");
});

test("with proof of work a place is given for a solution, and for nothing less", () => {
  const guard = guardOf({ proofOfWork: WORK });
  const { slip, work, waitMs } = comeBack(ask(guard, NOW), "firstContact");
  assert.deepEqual([work, waitMs], [{ challenge: slip, bits: 4 }, 0]);
  const idle = comeBack(ask(guard, NOW + 1, { slip }), "noWork");
  assert.deepEqual([idle.slip, idle.work], [null, work]);
  for (const solution of [fail(slip!, 4), "", "12 34", "9".repeat(10_000)])
    assert.equal(ask(guard, NOW + 1, { slip, solution }).kind, "wrongWork", solution.slice(0, 20));
  assert.equal(ask(guard, NOW + 1, { slip, solution: solve(slip!, 4) }).kind, "ok");
});

test("work is good for one place", () => {
  const guard = guardOf({ proofOfWork: WORK });
  const [slip, other] = [slipOf(guard, NOW), slipOf(guard, NOW)];
  const solution = solve(slip, 4);
  assert.equal(ask(guard, NOW, { slip, solution }).kind, "ok");
  comeBack(ask(guard, NOW + 1, { slip, solution }), "usedSlip");
  // What solves one slip solves another only by chance.
  const kind = isSolved(other, 4, solution) ? "ok" : "wrongWork";
  assert.equal(ask(guard, NOW + 1, { slip: other, solution }).kind, kind);
});

test("work done before the second is over is not asked for again", () => {
  const guard = guardOf({ proofOfWork: WORK, entryDelay: true });
  const slip = slipOf(guard, NOW);
  const solution = solve(slip, 4);
  assert.equal(comeBack(ask(guard, NOW + 100, { slip, solution }), "tooSoon").waitMs, 900);
  assert.equal(ask(guard, NOW + 1_000, { slip, solution }).kind, "ok");
});

test("work gets harder as more join, and easier again when they stop", () => {
  const guard = guardOf({ proofOfWork: { ...WORK, easiest: 1 } });
  const bitsAt = (now: number) => comeBack(ask(guard, now), "firstContact").work!.bits;
  assert.equal(bitsAt(NOW), 1);
  let now = NOW;
  for (let i = 0; i < 1_500; i++) {
    now += 10;
    const { work } = comeBack(ask(guard, now), "firstContact");
    const { challenge, bits } = work!;
    assert.equal(ask(guard, now, { slip: challenge, solution: solve(challenge, bits) }).kind, "ok");
  }
  assert.ok(bitsAt(now) >= 3, `${bitsAt(now)} bits at about 80 joins a second`);
  assert.equal(bitsAt(now + 120_000), 1);
});

test("first contacts alone do not make the work harder for others", () => {
  const guard = guardOf({ proofOfWork: WORK });
  for (let i = 0; i < 5_000; i++) slipOf(guard, NOW + i);
  assert.equal(comeBack(ask(guard, NOW + 5_000), "firstContact").work!.bits, 4);
});

test("slips hoarded while work is easy are worth little once it is hard", () => {
  const guard = guardOf({ proofOfWork: { easiest: 1, hardest: 12, joinsPerSecond: 1 } });
  const hoard = Array.from({ length: 2_000 }, (_, i) => slipOf(guard, NOW + i));
  let now = NOW + 2_000;
  const verdicts = hoard.map((slip) => ask(guard, now++, { slip, solution: solve(slip, 1) }));
  const joined = verdicts.filter(({ kind }) => kind === "ok").length;
  assert.ok(joined > 0 && joined < 200, `${joined} of the hoard joined`);
  const { work } = comeBack(verdicts.at(-1)!, "easyWork");
  assert.ok(work!.bits > 3);
});

test("what someone was asked to do stays enough while the work gets a little harder", () => {
  const guard = guardOf({ proofOfWork: { easiest: 4, hardest: 12, joinsPerSecond: 1 } });
  const slip = slipOf(guard, NOW);
  for (let i = 0; i < 50; i++) {
    const { work } = comeBack(ask(guard, NOW), "firstContact");
    ask(guard, NOW, { slip: work!.challenge, solution: solve(work!.challenge, work!.bits) });
  }
  assert.equal(comeBack(ask(guard, NOW), "firstContact").work!.bits, 6);
  assert.equal(ask(guard, NOW, { slip, solution: solve(slip, 4) }).kind, "ok");
});

test("a slip from before there was work to do is not enough once there is", () => {
  const before = guardOf({ entryDelay: true });
  const slip = slipOf(before, NOW);
  const guard = guardOf({ proofOfWork: { ...WORK, easiest: 1 } }, { now: NOW + 500, before });
  comeBack(ask(guard, NOW + 2_000, { slip, solution: "0" }), "easyWork");
});

test("a change of settings forgets neither budgets nor used slips nor the join rate", () => {
  const settings = {
    joinsPerMinutePerAddress: 2,
    proofOfWork: { easiest: 1, hardest: 12, joinsPerSecond: 1 },
  };
  const before = guardOf(settings);
  const slips = Array.from({ length: 80 }, () => slipOf(before, NOW));
  for (const [i, slip] of slips.entries()) {
    const joining = { slip, address: `198.51.100.${i}`, solution: solve(slip, 9) };
    assert.notEqual(ask(before, NOW, joining).kind, "tooMany");
  }
  const slip = slipOf(before, NOW);
  const { bits } = comeBack(ask(before, NOW), "firstContact").work!;
  assert.ok(bits > 1);
  for (let i = 0; i < 2; i++) {
    const { work } = comeBack(ask(before, NOW), "firstContact");
    assert.equal(
      ask(before, NOW, { slip: work!.challenge, solution: solve(work!.challenge, work!.bits) }).kind,
      "ok",
    );
  }
  const after = guardOf({ ...settings, joinsPerMinutePerNetwork: 1_000 }, { now: NOW + 1, before });
  assert.equal(ask(after, NOW + 1).kind, "tooMany");
  const elsewhere = { address: "192.0.2.1" };
  assert.ok(comeBack(ask(after, NOW + 1, elsewhere), "firstContact").work!.bits >= bits);
  const joining = { ...elsewhere, slip, solution: solve(slip, bits) };
  assert.equal(ask(after, NOW + 2, joining).kind, "ok");
  comeBack(ask(after, NOW + 3, joining), "usedSlip");
});

test("a gateway that has started anew takes no slip from before, since it may have been used", () => {
  const slip = slipOf(guardOf({ entryDelay: true }), NOW);
  const restarted = guardOf({ entryDelay: true }, { now: NOW + 500 });
  const fresh = comeBack(ask(restarted, NOW + 1_500, { slip }), "badSlip").slip;
  assert.equal(ask(restarted, NOW + 2_500, { slip: fresh }).kind, "ok");
});

test("what is known of earlier visits goes from token to slip to slip to place", () => {
  const past = { visits: 4, since: NOW - 100_000 };
  const guard = guardOf({ entryDelay: true });
  const first = slipOf(guard, NOW, { past });
  const late = NOW + 2 * SLIP_LIFE_MS;
  const second = comeBack(ask(guard, late, { slip: first }), "badSlip").slip;
  const verdict = ask(guard, late + 1_000, { slip: second });
  assert.ok(verdict.kind === "ok");
  assert.deepEqual(verdict.past, past);
  const unhindered = ask(guardOf({ joinsPerMinutePerAddress: 1 }), NOW, { past });
  assert.ok(unhindered.kind === "ok");
  assert.deepEqual(unhindered.past, past);
});

test("whatever is asked, in whatever order: no slip gives two places, none too early, and budgets hold", () => {
  const request = fc.record({
    step: fc.oneof(fc.constant(0), fc.nat({ max: 800 }), fc.nat({ max: 8_000 })),
    address: fc.constantFrom("203.0.113.1", "203.0.113.2", "198.51.100.1", "2001:db8::1"),
    which: fc.option(fc.nat(), { nil: null }),
    hasWork: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 150, size: "max" }), (requests) => {
      const guard = guardOf({
        joinsPerMinutePerAddress: 4,
        joinsPerMinutePerNetwork: 6,
        entryDelay: true,
        proofOfWork: { easiest: 2, hardest: 3, joinsPerSecond: 1 },
      });
      const slips: { text: string; givenAt: number; bits: number }[] = [];
      const spent = new Set<string>();
      const joined: { address: string; at: number }[] = [];
      let now = NOW;
      for (const { step, address, which, hasWork } of requests) {
        now += step;
        const slip = which === null || slips.length === 0 ? null : slips[which % slips.length]!;
        const solution = slip && hasWork ? solve(slip.text, slip.bits) : null;
        const verdict = ask(guard, now, { address, slip: slip?.text ?? null, solution });
        if (verdict.kind === "comeBack" && verdict.slip !== null)
          slips.push({ text: verdict.slip, givenAt: now, bits: verdict.work!.bits });
        if (verdict.kind !== "ok") continue;
        assert.ok(slip !== null && solution !== null && !spent.has(slip.text));
        assert.ok(now >= slip.givenAt + 1_000);
        spent.add(slip.text);
        joined.push({ address, at: now });
        const lately = joined.filter(({ at }) => at > now - 60_000);
        assert.ok(lately.filter((join) => join.address === address).length <= 2 * 4);
        assert.ok(lately.filter((join) => join.address.startsWith("203.0.113.")).length <= 2 * 6);
      }
    }),
  );
});
