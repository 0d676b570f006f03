/**
 * What Fairgate must be able to do, by the requirements of Pluijmaekers 2020: those of waiting rooms and of the whole here, those
 * of shops in `shop-requirements.ts`. Each has what meets it: settings, a shop's catalogue, or files. Tests name the requirements
 * they prove (`proves.ts`). `docs/settings.md` has all of it as a table, and a test checks that what is written there is valid and
 * that each requirement has a test.
 *
 * The paper numbers ce6 to ce13 twice: its appendix E puts one in after ce5, so that chapter 2's ce6 is ce7 there. Ids here are
 * those of chapter 2.
 *
 * For waiting, the paper's shop is a room. Paying is a room of its own, for the path of the payment page.
 */
import type { CoveringTest } from "./covering-tests.ts";
import type { Requirement } from "./requirement.ts";
import { SHOP_REQUIREMENTS } from "./shop-requirements.ts";

const WAITING_REQUIREMENTS = [
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
    id: "E.ce6",
    says: "Customers are admitted in an order that is set, or yet to be set.",
    settings: ["laneOrder: strict", "lanes: { vip: { share: 50 } }", "shuffleAtEventStart: true"],
    note: "By lanes, or by a draw that is held when the event starts.",
  },
  {
    id: "ce6",
    inAppendix: "ce7",
    says: "Customers are admitted only while the capacity of the shop is not exceeded.",
    settings: ["totalActiveUsers: 200"],
    note: "",
  },
  {
    id: "ce7",
    inAppendix: "ce8",
    says: "Customers are admitted with a constant flow.",
    settings: ["newUsersPerMinute: 100"],
    note: "",
  },
  {
    id: "ce8",
    inAppendix: "ce9",
    says: "Customers who abandon a shopping run get neither better nor worse service for it.",
    settings: ["ticketTtl: 1d", "sessionDuration: 5m"],
    note: "A place and a visit are kept for as long.",
  },
  {
    id: "ce9",
    inAppendix: "ce10",
    says: "Customers can know when they will be admitted, about.",
    settings: ["show: { wait: true, ahead: true }"],
    note: "The default.",
  },
  {
    id: "ce10",
    inAppendix: "ce11",
    says: "Customers can know how many others wait.",
    settings: ["show: { behind: true }"],
    note: "The default.",
  },
  {
    id: "ce11",
    inAppendix: "ce12",
    says: "Customers cannot know when they will be admitted.",
    settings: ["show: { wait: false, ahead: false }"],
    note: "",
  },
  {
    id: "ce12",
    inAppendix: "ce13",
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
  {
    id: "mt5",
    says: "A shop can have a guaranteed limit on waiting times.",
    settings: [],
    isUnwanted: true,
    note: "Nobody can promise this for a crowd of unknown size; waits are told as ranges.",
  },
] as const satisfies readonly Requirement[];

const DEPLOYMENT_REQUIREMENTS = [
  {
    id: "dp1",
    says: "The application runs on Linux.",
    settings: [],
    files: ["deploy/systemd/fairgate.service"],
    note: "",
  },
  {
    id: "dp2",
    says: "The application runs on Windows.",
    settings: [],
    isUnwanted: true,
    note: "It does where Node does; it is not tested there.",
  },
  {
    id: "dp3",
    says: "The application is containerized.",
    settings: [],
    files: ["deploy/docker/Dockerfile", "deploy/docker/compose.yaml"],
    note: "",
  },
  {
    id: "dp4",
    says: "The application runs in a Kubernetes cluster.",
    settings: ["control: { listen: ':8081', token: a-token-of-at-least-thirty-two-characters }"],
    files: ["deploy/docker/Dockerfile"],
    note: "A read-only container without rights, with a health check that probes can ask.",
  },
  {
    id: "dp5",
    says: "The application scales with load.",
    settings: ["redis: { url: 'redis://127.0.0.1:6379' }"],
    note: "Several gateways share a Redis, or are nodes of a cluster (`cluster`).",
  },
  {
    id: "dp6",
    says: "The application is failure resilient.",
    settings: ["data: /var/lib/fairgate"],
    note: "",
  },
] as const satisfies readonly Requirement[];

const METRICS = "control: { listen: '127.0.0.1:8081' }";

const METRIC_REQUIREMENTS = [
  {
    id: "me1",
    says: "The application works without supervision, by policies set before.",
    settings: [
      "events: [{ name: sale, eventStartTime: 2026-12-01T10:00:00Z, eventEndTime: 2026-12-01T12:00:00Z }]",
      "adaptive: {}",
      "standby: { requestsPerSecond: 400 }",
    ],
    note: "Events start and end by themselves, limits follow what the origin can take, and the line forms when it is needed.",
  },
  {
    id: "me2",
    says: "The application keeps track of metrics.",
    settings: [METRICS],
    note: "At `/metrics`.",
  },
  {
    id: "me3",
    says: "The application keeps track of the total number of waiting customers.",
    settings: [METRICS],
    note: "",
  },
  {
    id: "me4",
    says: "The application keeps track of the total customer influx.",
    settings: [METRICS],
    note: "",
  },
  {
    id: "me5",
    says: "The application keeps track of the total customer outflux.",
    settings: [METRICS],
    note: "",
  },
  {
    id: "me6",
    says: "The application keeps track of the number of waiting customers for each shop.",
    settings: [METRICS],
    note: "",
  },
  {
    id: "me7",
    says: "The application keeps track of the customer influx for each shop.",
    settings: [METRICS],
    note: "",
  },
  {
    id: "me8",
    says: "The application keeps track of the customer outflux for each shop.",
    settings: [METRICS],
    note: "",
  },
] as const satisfies readonly Requirement[];

export const REQUIREMENTS = [
  ...WAITING_REQUIREMENTS,
  ...SHOP_REQUIREMENTS,
  ...DEPLOYMENT_REQUIREMENTS,
  ...METRIC_REQUIREMENTS,
] as const;

export type RequirementId = (typeof REQUIREMENTS)[number]["id"];

const INTRODUCTION = `## Requirements

What Fairgate must be able to do, by [Pluijmaekers 2020](papers.md#pluijmaekers-2020): how customers enter (ce) and pay (cp), how
near to the order of arrival (ma), for how many shops (mt), how they go on shopping (cs), what they can obtain (op), products made
of others (sp), who gets the last ones (tb), where and how often (mc), where it runs (dp) and what is measured (me). For waiting, a
shop is a room. Paying is a room of its own, whose path is that of the payment page. Parts of a shop's catalogue stand in
parentheses. The paper's appendix E numbers some requirements otherwise than its chapter 2; both are named.

| id | requirement | settings | tests |
|---|---|---|---|
`;

/** The table for the documentation. */
export function requirementsTable(covering: readonly CoveringTest[]): string {
  const testsOf = (id: string) => covering.filter(({ ids }) => ids.includes(id));
  return INTRODUCTION + REQUIREMENTS.map((one) => row(one, testsOf(one.id))).join("\n");
}

function row(one: Requirement, covering: readonly CoveringTest[]): string {
  const tests = covering.map(({ file, name }) => `${name} (\`${file}\`)`).join("; ");
  return `| ${idsOf(one)} | ${one.says} | ${meansOf(one)} | ${tests} |`;
}

function idsOf({ id, inAppendix }: Requirement): string {
  if (id.startsWith("E.")) return `${id.slice(2)} of appendix E`;
  return inAppendix === undefined ? id : `${id} (appendix E: ${inAppendix})`;
}

/** What meets it, and the note. */
function meansOf({ settings, catalogue = [], files = [], isUnwanted, note }: Requirement): string {
  const means = [
    ...settings.map((setting) => `\`${setting}\``),
    ...catalogue.map((part) => `(\`${part}\`)`),
    ...files.map((file) => `[${file}](../${file})`),
  ];
  const met = isUnwanted ? "Not wanted (WON'T)" : means.join(", ");
  return note === "" ? met : `${met}. ${note}`;
}
