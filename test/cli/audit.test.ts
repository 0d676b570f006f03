/**
 * `fairgate audit draw`: anyone's check of a draw. The records here are made with Node's own hash by the published rule and not
 * by our code, so a record that the command finds good follows the rule.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Child } from "../../src/testing/cli/child.ts";
import { fairgate, MAIN, ownFolder } from "../../src/testing/cli/fairgate.ts";

const SEED = "00112233445566778899aabbccddeeff".repeat(2);
const hashOf = (hex: string) => createHash("sha256").update(Buffer.from(hex, "hex")).digest("hex");
const HASH = hashOf(SEED);

/** Tickets in the order that a random seed gives them. */
function drawnTickets(count: number, seed = SEED): string[] {
  const tickets = Array.from({ length: count }, (_, i) =>
    hashOf(i.toString(16).padStart(8, "0")).slice(0, 32),
  );
  return tickets
    .map((ticket) => ({ ticket, key: hashOf(seed + ticket) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ ticket }) => ticket);
}

function record(
  tickets: readonly string[],
  about: { size?: number; seed?: string; hash?: string } = {},
): string {
  const { size = tickets.length, seed = SEED, hash = HASH } = about;
  const times = "startAt: 2026-06-01T10:00:00.000Z\ndrawnAt: 2026-06-01T10:00:00.250Z";
  const lot = `seedHash: ${hash}\nseed: ${seed}\nsize: ${size}`;
  const head = `fairgate draw 1\nroom: tickets\nevent: sale\n${times}\n${lot}`;
  return `${head}\n\n${tickets.map((ticket) => `${ticket}\n`).join("")}`;
}

function receipt(tickets: readonly string[], place: number, changes: object = {}): string {
  const ticket = tickets[place - 1];
  const own = {
    room: "tickets",
    event: "sale",
    ticket,
    place,
    of: tickets.length,
    seedHash: HASH,
    seed: SEED,
  };
  return JSON.stringify({ ...own, ...changes });
}

/** Runs the command in a folder with these files. */
async function audit(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
  using folder = ownFolder(files);
  const { code, out, err } = await fairgate(["audit", "draw", ...args], { cwd: folder.path });
  return { code, out, err };
}

interface Result {
  readonly ok: boolean;
  readonly checks: readonly { of: string; ok: boolean; reason: string }[];
  readonly [field: string]: unknown;
}

async function auditJson(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const { code, out } = await audit([...args, "--json"], files);
  return { code, result: JSON.parse(out) as Result };
}

const TICKETS = drawnTickets(1_000);
const GOOD = record(TICKETS);

describe("fairgate audit draw", { concurrency: 3 }, () => {
  test("accepts a draw that follows the rule, and says what was checked and what cannot be", async () => {
    const { code, out, err } = await audit(["draw.txt"], { "draw.txt": GOOD });
    assert.equal(code, 0, err);
    assert.match(
      out,
      /^The draw of sale in the room tickets: 1,000 tickets, start 2026-06-01T10:00:00\.000Z/,
    );
    assert.match(out, new RegExp(`Hash of the seed: ${HASH}`));
    assert.match(out, /^good .*seed matches its hash, and all 1,000 tickets are there once each/m);
    assert.match(out, /^Good: the draw was made as promised\.$/m);
    assert.match(out, /does not show:\n- That the hash was published before/);
    assert.equal(err, "");
  });

  test("finds that a record was rigged, and says how", async () => {
    const swapped = TICKETS.with(10, TICKETS[500]!).with(500, TICKETS[10]!);
    const otherSeed = "ab".repeat(32);
    const rigged = {
      order: record(swapped),
      more: record(drawnTickets(1_001), { size: 1_000 }),
      seed: record(drawnTickets(1_000, otherSeed), { seed: otherSeed }),
    };
    const reasons = {
      order: /comes before/,
      more: /should be 1,000 tickets, but there are 1,001/,
      seed: /not the one whose hash was published/,
    };
    for (const [kind, reason] of Object.entries(reasons)) {
      const { code, out } = await audit(["draw.txt"], { "draw.txt": rigged[kind as keyof typeof rigged] });
      assert.equal(code, 1, kind);
      assert.match(out, new RegExp(`^NOT GOOD .*${reason.source}`, "m"));
      assert.match(out, /^Not good: /m);
    }
  });

  test("finds by the hash noted before the draw that the seed and its hash were changed", async () => {
    const seed = "ab".repeat(32);
    const files = { "draw.txt": record(drawnTickets(20, seed), { seed, hash: hashOf(seed) }) };
    const trusting = await auditJson(["draw.txt"], files);
    assert.deepEqual([trusting.code, trusting.result.ok], [0, true]);
    const { code, result } = await auditJson(["draw.txt", "--hash", HASH], files);
    assert.equal(code, 1);
    assert.deepEqual(
      result.checks.map(({ of, ok }) => [of, ok]),
      [
        ["record", true],
        ["hash", false],
      ],
    );
    const noted = await auditJson(["draw.txt", "--hash", hashOf(seed)], files);
    assert.equal(noted.code, 0);
  });

  test("checks a receipt against the record", async () => {
    const files = {
      "draw.txt": GOOD,
      "mine.json": receipt(TICKETS, 421),
      "moved.json": receipt(TICKETS, 421, { place: 422 }),
      "stranger.json": receipt(TICKETS, 421, { ticket: "f".repeat(32) }),
      "fewer.json": receipt(TICKETS, 421, { of: 900 }),
    };
    const good = await audit(["draw.txt", "--receipt", "mine.json"], files);
    assert.equal(good.code, 0, good.err);
    assert.match(good.out, new RegExp(`^good .*Ticket ${TICKETS[420]} has place 421 of 1,000`, "m"));
    assert.match(good.out, new RegExp(`^Key of the ticket: ${hashOf(SEED + TICKETS[420])}$`, "m"));
    for (const [name, reason] of [
      ["moved.json", /at place 421 in the record, not 422/],
      ["stranger.json", /not in the record/],
      ["fewer.json", /another draw: of 900 tickets, the record of 1,000/],
    ] as const) {
      const { code, out } = await audit(["draw.txt", "--receipt", name], files);
      assert.equal(code, 1, name);
      assert.match(out, reason);
    }
  });

  test("checks what it can of a receipt alone, and says what that is", async () => {
    const files = {
      "mine.json": receipt(TICKETS, 421),
      "far.json": receipt(TICKETS, 900, { place: 1 }),
      "seed.json": receipt(TICKETS, 421, { seed: "ab".repeat(32) }),
    };
    const good = await audit(["--receipt", "mine.json"], files);
    assert.equal(good.code, 0, good.err);
    assert.match(good.out, /^Good, as far as a receipt alone can show it\.$/m);
    assert.match(good.out, /- That the place is exactly the one drawn.*the record of the draw shows that/);
    const far = await audit(["--receipt", "far.json"], files);
    assert.equal(far.code, 1);
    assert.match(far.out, /cannot have place 1 of 1,000: its key points to about 9\d\d|about 8\d\d/);
    const seed = await audit(["--receipt", "seed.json"], files);
    assert.equal(seed.code, 1);
    assert.match(seed.out, /seed is not the one whose hash was published/);
  });

  test("--json gives the same for programs", async () => {
    const files = { "draw.txt": GOOD, "mine.json": receipt(TICKETS, 7) };
    const { code, result } = await auditJson(["draw.txt", "--receipt", "mine.json", "--hash", HASH], files);
    assert.equal(code, 0);
    const { checks, unknown, ...about } = result;
    assert.deepEqual(about, {
      ok: true,
      room: "tickets",
      event: "sale",
      seedHash: HASH,
      size: 1_000,
      startAt: "2026-06-01T10:00:00.000Z",
      drawnAt: "2026-06-01T10:00:00.250Z",
      receipt: { ticket: TICKETS[6], place: 7, key: hashOf(SEED + TICKETS[6]) },
    });
    assert.deepEqual(
      checks.map(({ of, ok }) => [of, ok]),
      [
        ["record", true],
        ["hash", true],
        ["receipt", true],
      ],
    );
    assert.equal((unknown as string[]).length, 2);
  });

  test("a draw that is still to come is not good yet", async () => {
    const text = GOOD.split("\n\n")[0]!.replace(/^(seed|drawnAt): .*\n/gm, "");
    const { code, out } = await audit(["draw.txt"], { "draw.txt": text });
    assert.equal(code, 1);
    assert.match(out, /not drawn yet/);
  });

  test("exits with 2 and the reason when the input cannot be read", async () => {
    const files = {
      "draw.txt": GOOD,
      "short.txt": GOOD.slice(0, -3),
      "mine.json": receipt(TICKETS, 1),
    };
    for (const [args, reason] of [
      [[], /Name the file with the record/],
      [["nowhere.txt"], /nowhere\.txt cannot be read: .*ENOENT/],
      [["."], /\. cannot be read: .*EISDIR/],
      [["short.txt"], /short\.txt is not the record of a draw: line 1009 is not a ticket/],
      [["mine.json"], /mine\.json is not the record of a draw: it does not begin/],
      [["--receipt", "draw.txt"], /draw\.txt is too large for a receipt/],
      [["draw.txt", "--hash", "ABC"], /--hash gives is not a hash/],
      [["draw.txt", "--bogus"], /unknown option '--bogus'/],
    ] as const) {
      const { code, out, err } = await audit(args, files);
      assert.equal(code, 2, `${args}: ${err}`);
      assert.match(err, reason);
      assert.equal(out, "");
    }
    const { code, result } = await auditJson(["nowhere.txt"]);
    assert.deepEqual([code, result.ok], [2, false]);
    assert.match(String(result.error), /nowhere\.txt/);
  });

  test("reads a record from another program's output", async () => {
    using folder = ownFolder({ "draw.txt": GOOD });
    const file = join(folder.path, "draw.txt");
    const command = `cat "${file}" | "${process.execPath}" "${MAIN}" audit draw /dev/stdin`;
    const child = new Child("/bin/sh", ["-c", command]);
    assert.equal((await child.ended).code, 0, child.err);
    assert.match(child.out, /^Good: /m);
  });
});
