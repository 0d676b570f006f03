/**
 * What a waiting room must be able to do, by the requirements of Pluijmaekers 2020 (chapter 2): how customers enter (ce), how
 * they pay (cp), how near to the order of arrival (ma), and how many shops there are (mt). Each has the setting that meets it;
 * tests name the requirements they prove (`proves.ts`). `docs/settings.md` has both as a table, and a test checks that the
 * settings are valid and that each requirement has a test.
 *
 * Pluijmaekers speaks of a shop; here that is a room. Paying is a room of its own, for the path of the payment page.
 */
import type { CoveringTest } from "./covering-tests.ts";

export interface Requirement {
  readonly id: string;
  readonly says: string;
  /** Settings as they are written in the room, in an event of it, or at the top. */
  readonly settings: readonly string[];
  readonly note: string;
}

export const REQUIREMENTS = [
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
] as const satisfies readonly Requirement[];

export type RequirementId = (typeof REQUIREMENTS)[number]["id"];

const INTRODUCTION = `## Requirements

What a waiting room must be able to do, by [Pluijmaekers 2020](papers.md#pluijmaekers-2020): how customers enter (ce) and pay (cp), how
near to the order of arrival (ma), and for how many shops (mt). Here a shop is a room. Paying is a room of its own, whose
path is that of the payment page.

| id | requirement | settings | tests |
|---|---|---|---|
`;

/** The table for the documentation. */
export function requirementsTable(covering: readonly CoveringTest[]): string {
  const testsOf = (id: string) => covering.filter(({ ids }) => ids.includes(id));
  return INTRODUCTION + REQUIREMENTS.map((one) => row(one, testsOf(one.id))).join("\n");
}

function row({ id, says, settings, note }: Requirement, covering: readonly CoveringTest[]): string {
  const written = settings.map((setting) => `\`${setting}\``).join(", ");
  const tests = covering.map(({ file, name }) => `${name} (\`${file}\`)`).join("; ");
  return `| ${id} | ${says} | ${written}${note && `. ${note}`} | ${tests} |`;
}
