import assert from "node:assert/strict";
import { test } from "node:test";
import { abuseSchema, checkAbuse, JOINS_PER_MINUTE_MAX, WORK_BITS_MAX } from "./abuse-schema.ts";
import { explain } from "./explain.ts";
import { loadSettings } from "./load.ts";
import { checkRoomChange } from "./room-change.ts";
import { roomSchema } from "./schema.ts";

const SECRET = "example-secret-for-tests-0123456789";

/** What a user gets to see for these lines under `abuse`. */
function explained(...lines: string[]): string {
  const start =
    "origin:\n  addresses: [http://127.0.0.1:3000]\nrooms:\n  main:\n    totalActiveUsers: 200\n    abuse:\n";
  const text = start + lines.map((line) => `      ${line}\n`).join("");
  const noFiles = () => assert.fail("a file was read");
  const result = loadSettings({ text, file: "fairgate.yaml" }, {}, { FAIRGATE_SECRET: SECRET }, noFiles);
  return result.ok ? "" : explain(result.problems);
}

test("a room that says nothing of abuse has everything off", () => {
  assert.deepEqual(roomSchema.parse({}).abuse, {
    joinsPerMinutePerAddress: null,
    joinsPerMinutePerNetwork: null,
    entryDelay: false,
    proofOfWork: null,
    bindTickets: "none",
  });
});

test("proof of work that is only turned on has its documented values", () => {
  assert.deepEqual(abuseSchema.parse({ proofOfWork: {} }).proofOfWork, {
    easiest: 12,
    hardest: 20,
    joinsPerSecond: 50,
  });
});

test("settings that make sense have nothing to explain", () => {
  assert.equal(
    explained(
      "joinsPerMinutePerAddress: 10",
      "joinsPerMinutePerNetwork: 10",
      "entryDelay: true",
      "proofOfWork: { easiest: 10, hardest: 10 }",
      "bindTickets: network",
    ),
    "",
  );
});

test("values that cannot be are explained one by one", () => {
  const words = explained(
    "joinsPerMinutePerAddress: 0",
    `joinsPerMinutePerNetwork: ${JOINS_PER_MINUTE_MAX + 1}`,
    "entryDelay: 2s",
    `proofOfWork: { easiest: 0, hardest: ${WORK_BITS_MAX + 1}, joinsPerSecond: many }`,
    "bindTickets: address",
  );
  const path = "rooms.main.abuse";
  for (const [message, hint] of [
    [`${path}.joinsPerMinutePerAddress is 0`, "a whole number from 1 to 100000"],
    [`${path}.joinsPerMinutePerNetwork is 100001`, "a whole number from 1 to 100000"],
    [`${path}.entryDelay is "2s"`, "true or false"],
    [`${path}.proofOfWork.easiest is 0`, "a whole number from 1 to 24"],
    [`${path}.proofOfWork.hardest is 25`, "a whole number from 1 to 24"],
    [`${path}.proofOfWork.joinsPerSecond is "many"`, "a whole number from 1 to 1000000"],
    [`${path}.bindTickets is "address"`, "none, userAgent or network"],
  ] as const) {
    const at = words.indexOf(message);
    assert.ok(at >= 0, `${message} is not in\n${words}`);
    assert.ok(words.slice(at).split("\n\n", 1)[0]!.includes(`It should be ${hint}.`), `${message}\n${words}`);
  }
  assert.match(words, /\n7 problems\n$/);
});

test("a misspelt setting gets the nearest one suggested", () => {
  assert.match(explained("joinPerMinutePerAddress: 5"), /joinsPerMinutePerAddress/);
});

test("a network that may join less often than one of its addresses is explained", () => {
  const findings = checkAbuse({ joinsPerMinutePerAddress: 10, joinsPerMinutePerNetwork: 5 }, [
    "rooms",
    "main",
    "abuse",
  ]);
  assert.deepEqual(findings, [
    {
      code: "conflict",
      path: ["rooms", "main", "abuse", "joinsPerMinutePerNetwork"],
      at: "value",
      message:
        "rooms.main.abuse.joinsPerMinutePerNetwork is 5, which is less than joinsPerMinutePerAddress, 10",
      hint: "One address could never use its own limit. It should be at least as high.",
    },
  ]);
});

test("work that is hardest before it is easiest is explained", () => {
  const findings = checkAbuse({ proofOfWork: { easiest: 16, hardest: 12 } }, ["abuse"]);
  assert.deepEqual(findings, [
    {
      code: "conflict",
      path: ["abuse", "proofOfWork", "hardest"],
      at: "value",
      message: "abuse.proofOfWork.hardest is 12, which is less than easiest, 16",
      hint: "It should be at least easiest.",
    },
  ]);
});

test("what is unknown or off is no conflict", () => {
  for (const abuse of [
    {},
    { joinsPerMinutePerAddress: 10 },
    { joinsPerMinutePerAddress: 10, joinsPerMinutePerNetwork: null },
    { joinsPerMinutePerAddress: null, joinsPerMinutePerNetwork: 1 },
    { proofOfWork: null },
    { proofOfWork: { hardest: 1 } },
  ])
    assert.deepEqual(checkAbuse(abuse, []), []);
});

test("each of them can be changed while the room runs", () => {
  const room = roomSchema.parse({ totalActiveUsers: 5, abuse: { joinsPerMinutePerAddress: 7 } });
  const changed = checkRoomChange(
    room,
    { abuse: { entryDelay: true, proofOfWork: { easiest: 8 } } },
    { trustedProxies: [], lineKind: "memory", checkPage: () => null },
  );
  assert.ok(changed.ok);
  assert.deepEqual(changed.room.abuse, {
    joinsPerMinutePerAddress: 7,
    joinsPerMinutePerNetwork: null,
    entryDelay: true,
    proofOfWork: { easiest: 8, hardest: 20, joinsPerSecond: 50 },
    bindTickets: "none",
  });
});
