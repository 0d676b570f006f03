/** Texts of the commands: what is read from an answer, in which columns it stands, and what is typed as a change. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeFrom, changeLines } from "./change.ts";
import { bar, clipped, columnsOf, fitted, sparkline } from "./columns.ts";
import { readOverview } from "./overview.ts";
import { overviewText, roomText, waitWords } from "./status-text.ts";

const ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e";

const TOTALS = {
  joined: 1_234,
  straightThrough: 34,
  admitted: 9,
  entered: 8,
  lapsed: 7,
  missedTurns: 6,
  left: 5,
  expired: 4,
};
const COUNTS = {
  ...{
    waiting: 1_204,
    onSite: 190,
    admitted: 10,
    lapsed: 3,
    ratePerMinute: 600,
    unfairness: 0.01,
    noShows: 0.02,
    toldWaitsInside: null,
  },
  ...{ event: null, limits: { totalActiveUsers: 200, newUsersPerMinute: null }, lanes: [], totals: TOTALS },
  remarks: [{ at: 0, text: `the origin is slow${ESCAPES}` }],
};
const ANSWER = {
  version: "0.1.0",
  rooms: [
    { name: `main${ESCAPES}`, state: "queueing", newcomerWait: { low: 95, high: 400 }, counts: COUNTS },
  ],
  origins: [
    { origin: "(default)", address: `http://a${ESCAPES}`, isUp: false, trouble: "unreachable", inFlight: 0 },
  ],
};

test("an overview fits 80 columns, and no escape of a name, an origin or a remark gets through", () => {
  const overview = readOverview(ANSWER)!;
  const text = overviewText(overview, "Fairgate") + roomText(overview.rooms[0]!, "");
  assert.match(text, /1,204 +200 of 200 +600, no limit +2 to 7 min\n/);
  assert.match(text, /a newcomer waits 2 to 7 min\n.*at most 200\n {2}let in +no limit; now 600 a minute\n/s);
  assert.match(text, /DOWN: nobody can connect/);
  assert.doesNotMatch(text, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  for (const line of overviewText(overview, "").split("\n")) assert.ok(columnsOf(line) <= 80, line);
});

test("the wait is told as the range that visitors are told, and where nobody can say, that", () => {
  const [room] = readOverview(ANSWER)!.rooms;
  const words = (newcomerWait: { low: number; high: number } | null, more = {}) =>
    waitWords({ ...room!, newcomerWait, ...more });
  assert.deepEqual(
    [
      [0, 20],
      [14, 36],
      [58, 61],
      [700, 3_000],
      [4_000, 9_000],
      [86_400, 400_000],
    ].map(([low, high]) => words({ low: low!, high: high! })),
    ["up to 20 s", "14 to 36 s", "58 to 61 s", "12 to 50 min", "1 to 3 h", "1 to 5 d"],
  );
  assert.equal(words(null), "unknown");
  assert.equal(words({ low: 5, high: 9 }, { waiting: 0 }), "not at all");
  assert.equal(words(null, { state: "paused" }), "while paused");
});

test("an answer of another form is noticed, whatever it is", () => {
  const room = ANSWER.rooms[0]!;
  const wrong = [null, [], 5, {}, { rooms: {} }, { rooms: [null] }, { rooms: [{ ...room, name: 5 }] }];
  wrong.push({ rooms: [{ ...room, newcomerWait: { low: "5" } }] });
  const remarks = [{ at: 1e300, text: "" }];
  const counts = [
    null,
    { ...COUNTS, remarks },
    { ...COUNTS, waiting: "5" },
    { ...COUNTS, waiting: null },
    { ...COUNTS, limits: 5 },
  ];
  for (const answer of [...wrong, ...counts.map((one) => ({ rooms: [{ ...room, counts: one }] }))])
    assert.equal(readOverview(answer), null);
  assert.equal(readOverview({ ...ANSWER, rooms: Array(10_001).fill(room) }), null);
});

test("columns are counted as a terminal shows them", () => {
  assert.deepEqual(["abc", "日本", "é", "e\u0301", "🎫"].map(columnsOf), [3, 4, 1, 1, 2]);
  assert.deepEqual(
    [clipped("日本語", 5), clipped("abc", 3), fitted("日", 4), fitted("7", 3, "right")],
    ["日本…", "abc", "日  ", "  7"],
  );
  assert.deepEqual([bar(1, 2, 4), bar(9, 2, 4), bar(1, 0, 2)], ["██░░", "████", "░░"]);
  assert.equal(sparkline([0, 1, 4, 8], 3), "▁▄█");
});

test("changes are read as they are typed, and told from what to what", () => {
  assert.deepEqual(
    changeFrom(["totalActiveUsers=400", "page.title=The Shop", "page.logo=null", 'message="5"']),
    {
      totalActiveUsers: 400,
      page: { title: "The Shop", logo: null },
      message: "5",
    },
  );
  assert.deepEqual(changeFrom(["sessionDuration=5m", "events=[]", "paused=true", "message="]), {
    ...{ sessionDuration: "5m", events: [], paused: true, message: "" },
  });
  for (const wrong of ["totalActiveUsers", "=5", "a..b=5", "events=[", "1=1"])
    assert.throws(() => changeFrom([wrong]));
  for (const twice of [
    ["totalActiveUsers=1", "totalActiveUsers=2"],
    ["page.title=x", "page=null"],
    ["page=null", "page.title=x"],
  ])
    assert.throws(() => changeFrom(twice), /twice|both set/);
  // JSON has no such number, and sends null, which would take the limit away.
  for (const huge of ["totalActiveUsers=1e400", "newUsersPerMinute=-1e999", 'page={"a":[1e400]}'])
    assert.throws(() => changeFrom([huge]), /is too large a number/);
  assert.deepEqual(Object.keys(changeFrom(["__proto__x=1", "a=1"].slice(1))), ["a"]);
  assert.deepEqual(changeLines(["a=2", "b.c=x"], { a: 1 }, { a: 2, b: { c: ESCAPES } }), [
    "a: 1 → 2",
    `b.c: unset → "\\u001b]0;owned\\u0007\\u001b[2J "`,
  ]);
});
