/**
 * How many messages it takes to admit k visitors at once, with eight nodes on a virtual clock: a room is closed for the
 * time being, k and a thousand more wait in it, and it opens for k. All messages count that have to do with admitting
 * (of counting rounds, and of handing the root on) from there until the last of the k has their turn; and, in a second
 * number, all that nodes say to each other until everyone knows of all turns.
 *
 * The baseline is how the paper does it (Koopmans 2024, 4.3): `deleteMin` one by one, and the root is handed on to
 * whoever has the next smallest key. It is run with our QPID on the same tree for the same line. Its answers are not
 * counted: the paper's network loses nothing, so that nobody has to say that something came.
 */
import { ANYBODY } from "../src/core/engine.ts";
import { DEFAULT_RULES, type RoomRules } from "../src/core/rules.ts";
import type { Letter } from "../src/engines/cluster/letter.ts";
import { ClusterNode, DEFAULT_NODE_SETTINGS } from "../src/engines/cluster/node.ts";
import { type EdgeState, Qpid } from "../src/engines/cluster/qpid.ts";
import { treeOf } from "../src/engines/cluster/tree.ts";
import { type Row, row } from "./bench.ts";

const NODES = 8;
const OPENINGS = [1, 100, 10_000] as const;
const WAIT_ON = 1_000;
/** Of all messages of an opening for the most, beside one for a hundred. */
const GROWTH_MAX = 1.5;
const ROOM = "main";
const STEP_MS = 1;
const SETTLE_MS = 3_000;
const OPEN_MAX_MS = 10_000;
const ADMITTING = new Set(["count", "report", "announce", "edge"]);
const PAUSED: RoomRules = { ...DEFAULT_RULES, paused: true };

interface Taken {
  readonly admitting: number;
  readonly all: number;
}

export function messageRows(progress: (text: string) => void): Row[] {
  const found = OPENINGS.map((admitted) => {
    progress(`messages for ${admitted.toLocaleString("en")} visitors`);
    return { admitted, ours: open(admitted), oneByOne: deleteMins(admitted) };
  });
  const [, some, most] = found;
  return [
    ...found.map(({ admitted, ours, oneByOne }) =>
      row({
        name: `messages for each of ${admitted.toLocaleString("en")} admitted at once, beside deleteMin one by one`,
        unit: "messages",
        value: ours.admitting / admitted,
        baseline: oneByOne / admitted,
      }),
    ),
    row({
      name: "messages of an opening for 10,000, beside one for 100",
      unit: "messages",
      value: most!.ours.admitting,
      baseline: some!.ours.admitting,
      goal: { of: "ratio", atMost: GROWTH_MAX },
    }),
    row({
      name: "the same with everything else that nodes say to each other",
      unit: "messages",
      value: most!.ours.all,
      baseline: some!.ours.all,
      goal: { of: "ratio", atMost: GROWTH_MAX },
    }),
  ];
}

function open(admitted: number): Taken {
  const cluster = new Cluster(PAUSED);
  for (let n = 0; n < admitted + WAIT_ON; n++) cluster.join();
  cluster.run(SETTLE_MS);
  cluster.countFromNow();
  cluster.configure({ ...DEFAULT_RULES, totalActiveUsers: admitted });
  cluster.runUntil(() => cluster.turns >= admitted);
  const { admitting } = cluster;
  cluster.runUntil(() => cluster.knowTurns(admitted));
  return { admitting, all: cluster.all };
}

/** Eight nodes; a letter takes one step. */
class Cluster {
  readonly #nodes = new Map<string, ClusterNode>();
  #now = Date.UTC(2026, 0, 1);
  #joined = 0;
  admitting = 0;
  all = 0;
  /** Given by their owners. */
  turns = 0;

  constructor(rules: RoomRules) {
    for (let n = 0; n < NODES; n++) {
      const name = `n${n}`;
      const own = { name, address: name, life: 1, join: n === 0 ? [] : ["n0"] };
      this.#nodes.set(name, new ClusterNode({ ...DEFAULT_NODE_SETTINGS, ...own }, diceFrom(n + 1), this.#now));
    }
    this.run(SETTLE_MS);
    this.configure(rules);
    this.run(SETTLE_MS);
  }

  configure(rules: RoomRules): void {
    for (const node of this.#nodes.values()) node.configure(ROOM, rules, this.#now);
  }

  /** One more, at one node after the other. */
  join(): void {
    const id = (++this.#joined).toString(16).padStart(32, "0");
    const node = this.#nodes.get(`n${this.#joined % NODES}`)!;
    node.join(ROOM, { id, newcomer: ANYBODY, dice: 0.5 }, this.#now, () => {});
    this.run(STEP_MS);
  }

  countFromNow(): void {
    this.admitting = 0;
    this.all = 0;
  }

  run(forMs: number): void {
    for (const endAt = this.#now + forMs; this.#now < endAt; ) this.#step();
  }

  runUntil(isThere: () => boolean): void {
    for (const endAt = this.#now + OPEN_MAX_MS; !isThere(); ) {
      this.#step();
      if (this.#now > endAt) throw new Error(`after ${OPEN_MAX_MS} ms ${this.turns} have their turn`);
    }
  }
}
