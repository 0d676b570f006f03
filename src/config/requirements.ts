/**
 * What a waiting room must be able to do, by the requirements of a thesis on waiting as a service: how customers enter
 * (ce), how they pay (cp), how near to the order of arrival (ma), and how many shops there are (mt). Beside each stands
 * the setting that does it and the test that shows it; `docs/settings.md` has them as a table, and a test sees to it
 * that the settings are good ones and that the tests are there.
 *
 * The thesis speaks of a shop; here that is a room. Paying is a room of its own, for the path of the payment page.
 */
export interface Requirement {
  readonly id: string;
  readonly says: string;
  /** Settings as they are written in the room, in an event of it, or at the top. */
  readonly settings: readonly string[];
  readonly note: string;
}

/** Where a test is, and what it is called. */
export interface CoveringTest {
  readonly file: string;
  readonly name: string;
}

export const REQUIREMENTS: readonly Requirement[] = [
  {
    id: "ce1",
    says: "Customers are admitted immediately.",
    settings: ["queueingMethod: passthrough", "drained: true"],
    note: "By default too, while there is room.",
  },
  {
    id: "ce2",
    says: "Customers are admitted never, or admission is held for a while.",
    settings: ["paused: true", "queueAll: true", "closed: true"],
    note: "",
  },
  {
    id: "ce3",
    says: "Customers are admitted if and only if they are privileged.",
    settings: ["privilegedOnly: true", "lanes: { vip: { privileged: true } }"],
    note: "",
  },
  {
    id: "ce4",
    says: "Customers are admitted in the order of arrival, or near to it.",
    settings: ["queueingMethod: fifo"],
    note: "The default.",
  },
  {
    id: "ce5",
    says: "Customers are admitted in random order.",
    settings: [
      "queueingMethod: random",
      "prequeueStartTime: 2026-12-01T09:30:00Z",
      "shuffleAtEventStart: true",
    ],
    note: "At each turn, or once for all who are there before an event starts.",
  },
  {
    id: "ce6",
    says: "Customers are admitted only while the capacity of the shop is not exceeded.",
    settings: ["totalActiveUsers: 200"],
    note: "",
  },
  {
    id: "ce7",
    says: "Customers are admitted with a constant flow.",
    settings: ["newUsersPerMinute: 100"],
    note: "",
  },
  {
    id: "ce8",
    says: "Customers who abandon a shopping run get neither better nor worse service for it.",
    settings: ["ticketTtl: 1d", "sessionDuration: 5m"],
    note: "A place and a visit are kept for as long.",
  },
  {
    id: "ce9",
    says: "Customers can know when they will be admitted, about.",
    settings: ["show: { wait: true, ahead: true }"],
    note: "The default.",
  },
  {
    id: "ce10",
    says: "Customers can know how many others wait.",
    settings: ["show: { behind: true }"],
    note: "The default.",
  },
  {
    id: "ce11",
    says: "Customers cannot know when they will be admitted.",
    settings: ["show: { wait: false, ahead: false }"],
    note: "",
  },
  {
    id: "ce12",
    says: "Customers cannot know how many others wait.",
    settings: ["show: { behind: false, ahead: false }"],
    note: "",
  },
  {
    id: "cp1",
    says: "Any customer can pay.",
    settings: ["queueingMethod: passthrough"],
    note: "In a room for the payment page, or with none.",
  },
  {
    id: "cp2",
    says: "No customer can pay.",
    settings: ["paused: true"],
    note: "In a room for the payment page.",
  },
  {
    id: "cp3",
    says: "Customers can pay in an order that is set, or yet to be set.",
    settings: [
      "queueingMethod: fifo",
      "queueingMethod: random",
      "lanes: { vip: { share: 50 } }",
      "laneOrder: strict",
    ],
    note: "In a room for the payment page.",
  },
  {
    id: "cp4",
    says: "Only privileged customers can pay.",
    settings: ["privilegedOnly: true", "lanes: { vip: { privileged: true } }"],
    note: "In a room for the payment page.",
  },
  {
    id: "ma1",
    says: "Who arrives more than a second after another is admitted after them.",
    settings: ["queueingMethod: fifo"],
    note: "In the same lane.",
  },
  {
    id: "ma2",
    says: "The same for 250 milliseconds.",
    settings: ["queueingMethod: fifo"],
    note: "In the same lane.",
  },
  {
    id: "ma3",
    says: "The same for 100 milliseconds.",
    settings: ["queueingMethod: fifo"],
    note: "In the same lane.",
  },
  {
    id: "mt1",
    says: "There can be a single shop.",
    settings: ["rooms: { main: { totalActiveUsers: 200 } }"],
    note: "",
  },
  {
    id: "mt2",
    says: "There can be several shops.",
    settings: ["rooms: { a: { path: /a, totalActiveUsers: 200 }, b: { path: /b, totalActiveUsers: 50 } }"],
    note: "",
  },
  {
    id: "mt3",
    says: "A flash crowd in one shop leaves the others unaffected.",
    settings: ["budgets: { shared: { totalActiveUsers: 500 } }", "budget: shared"],
    note: "Rooms have lines of their own; those that share an origin share what it can take, and none starves.",
  },
  {
    id: "mt4",
    says: "A shop can have a guaranteed number of customers.",
    settings: ["budgets: { shared: { totalActiveUsers: 500 } }", "budget: shared", "guaranteed: 50"],
    note: "",
  },
];

const DOOR = "src/core/door.test.ts";
const SUITE = "src/engines/conformance.ts";

const PAUSED: CoveringTest = {
  file: DOOR,
  name: "a paused door admits nobody and lets no newcomer through",
};
const WIDE_OPEN: CoveringTest = {
  file: DOOR,
  name: "drained, passthrough and standing by let everyone in, in turns that stay short",
};
const IN_ORDER: CoveringTest = {
  file: SUITE,
  name: "turns come in order, and only as many as there are slots",
};
const PAGE_FOLLOWS: CoveringTest = {
  file: "src/gateway/page/suite/waiting-page.test.ts",
  name: "numbers, words, progress and the tab title follow the board",
};

const PEOPLE = "src/gateway/suite/door";
const AT_RANDOM: CoveringTest = {
  file: `${PEOPLE}/methods.test.ts`,
  name: "by random each turn is drawn among all who wait, and nobody is told how many are ahead (ce5, cp3)",
};
const HIDDEN: CoveringTest = {
  file: `${PEOPLE}/hidden-numbers.test.ts`,
  name: "with ahead, behind and wait hidden, a long line and a short one look the same in page, JSON, board and stream (ce11, ce12)",
};
const BY_ARRIVAL: CoveringTest = {
  file: `${PEOPLE}/arrival.test.ts`,
  name: "of five hundred, none who came more than 100 ms later is admitted before an earlier one of the same lane (ma1 to ma3)",
};

/** The tests that show each requirement to be met. */
export const COVERED_BY: Readonly<Record<string, readonly CoveringTest[]>> = {
  ce1: [
    WIDE_OPEN,
    {
      file: "src/gateway/suite/straight-through.test.ts",
      name: "while there is room a visitor goes straight through and gets a pass",
    },
  ],
  ce2: [
    PAUSED,
    { file: DOOR, name: "everyone queues while queueAll holds, whatever room there is" },
    { file: DOOR, name: "a closed door admits nobody and gives no places" },
    { file: SUITE, name: "pausing holds everyone and keeps every place" },
  ],
  ce3: [
    {
      file: `${PEOPLE}/lanes.test.ts`,
      name: "with privilegedOnly only privileged visitors join and are let in; others are told so, and those who wait keep their places (ce3)",
    },
  ],
  ce4: [
    IN_ORDER,
    {
      file: "src/gateway/suite/journey.test.ts",
      name: "three visitors are let in in the order they came, however they push",
    },
  ],
  ce5: [
    AT_RANDOM,
    {
      file: `${PEOPLE}/draw.test.ts`,
      name: "people are let in in the order that anyone can work out from the seed and their tickets (ce5)",
    },
    {
      file: "src/core/draw.test.ts",
      name: "the place of a hundred thousand does not depend on when they joined, nor on their ids",
    },
  ],
  ce6: [
    IN_ORDER,
    { file: DOOR, name: "turns not yet used fill slots like visitors on the site" },
    { file: SUITE, name: "lowering capacity admits nobody until the site has emptied to it" },
  ],
  ce7: [
    {
      file: DOOR,
      name: "a steady line flows evenly: each tick admits within one of its share, and the whole rate is used",
    },
    {
      file: "src/core/flow.test.ts",
      name: "every span of time holds its share, within one turn's worth and one",
    },
  ],
  ce8: [
    { file: SUITE, name: "a lapsed visitor is not waited for, and gets the place back" },
    { file: SUITE, name: "an unused turn goes to the next, and its holder keeps the place" },
    { file: "src/gateway/suite/journey.test.ts", name: "someone who was away comes back to the same place" },
  ],
  ce9: [PAGE_FOLLOWS, { file: SUITE, name: "the wait is a range, and check-ins are paced" }],
  ce10: [PAGE_FOLLOWS],
  ce11: [HIDDEN],
  ce12: [HIDDEN],
  cp1: [WIDE_OPEN],
  cp2: [PAUSED],
  cp3: [
    { file: `${PEOPLE}/methods.test.ts`, name: "by fifo people are let in in the order they came (cp3)" },
    AT_RANDOM,
    {
      file: `${PEOPLE}/lane-order.test.ts`,
      name: "in strict order a lane is served before those after it (cp3)",
    },
  ],
  cp4: [
    {
      file: `${PEOPLE}/lanes.test.ts`,
      name: "a payment page can be for privileged visitors alone, while the shop is for all (cp4)",
    },
  ],
  ma1: [BY_ARRIVAL],
  ma2: [BY_ARRIVAL],
  ma3: [BY_ARRIVAL],
  mt1: [IN_ORDER],
  mt2: [
    {
      file: "src/gateway/suite/rooms.test.ts",
      name: "each room has a line of its own, and a pass for one is no pass for another",
    },
  ],
  mt3: [
    { file: SUITE, name: "rooms side by side do not disturb each other" },
    {
      file: `${PEOPLE}/budget.test.ts`,
      name: "a crowd in one room does not shut the other: as slots come free, it gets its part (mt3)",
    },
  ],
  mt4: [
    {
      file: `${PEOPLE}/budget.test.ts`,
      name: "what a room is guaranteed is always there for it, whatever the crowd in the other (mt4)",
    },
  ],
};

const INTRODUCTION = `## Requirements

What a waiting room must be able to do, by the thesis *Waiting as a Service*: how customers enter (ce) and pay (cp), how
near to the order of arrival (ma), and for how many shops (mt). Here a shop is a room. Paying is a room of its own, whose
path is that of the payment page.

| id | requirement | settings | tests |
|---|---|---|---|
`;

/** The table for the documentation. */
export function requirementsTable(): string {
  return INTRODUCTION + REQUIREMENTS.map(row).join("\n");
}

function row({ id, says, settings, note }: Requirement): string {
  const written = settings.map((setting) => `\`${setting}\``).join(", ");
  const tests = (COVERED_BY[id] ?? []).map(({ file, name }) => (file ? `${name} (\`${file}\`)` : name));
  return `| ${id} | ${says} | ${written}${note && `. ${note}`} | ${tests.join("; ")} |`;
}
