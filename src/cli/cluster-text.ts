/**
 * What `fairgate cluster status` shows: the tree with what each node has, the root, the rooms, and what is wrong. On 80
 * to 100 columns; names that are too long for that are cut, the numbers never.
 *
 * Pure. What is shown came over a network, so it is made fit for a terminal first.
 */
import { safeText } from "../config/problem.ts";
import type { ClusterNodeReport, ClusterReport } from "../office/desk.ts";
import { wrapped } from "../sim/what-if/words.ts";
import { fitted } from "./operate/columns.ts";

export const COLUMNS_MAX = 100;
const COLUMNS_MIN = 80;
const NUMBER_COLUMNS = 12;
/** Their heads are longer, since one is of the whole room and the rest of the node that was asked. */
const ROOM_NUMBER_COLUMNS = 14;
const ADDRESS_COLUMNS = 22;
const STATE_COLUMNS = 8;
const ROOMS_SHOWN_MAX = 50;
const PROBLEM_CHARACTERS_MAX = 400;

/** The whole text, with a line break at its end. */
export function clusterText(report: ClusterReport, columns = COLUMNS_MAX): string {
  const width = Math.min(COLUMNS_MAX, Math.max(COLUMNS_MIN, columns));
  const parts = [
    headline(report),
    report.view ? tree(report, width) : "",
    report.view ? facts(report) : "",
    report.view ? rooms(report, width) : "",
    problems(report, width),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function headline({ name, view, nodes, lost, problems }: ClusterReport): string {
  const asked = `asked at ${plain(name)}`;
  if (!view) return `No cluster yet, ${asked}.`;
  const many = nodes.length === 1 ? "1 node" : `${nodes.length} nodes`;
  const without = lost.length === 0 ? "" : `, ${lost.length} lost`;
  return `A cluster of ${many}${without}, ${asked}: ${problems.length === 0 ? "all is well" : "not well"}.`;
}

/** One line of the table. */
interface Row {
  readonly name: string;
  readonly address: string;
  readonly state: string;
  readonly numbers: readonly string[];
}

function tree(report: ClusterReport, width: number): string {
  const { nodes, lost } = report;
  const rows = nodes.map((node) => nodeRow(node, report));
  const all: Row = { name: "all", address: "", state: "", numbers: sums(nodes) };
  const gone = lost.map(
    ({ name, address }): Row => ({
      name: plain(name),
      address: plain(address),
      state: "LOST",
      numbers: ["", "", ""],
    }),
  );
  const head: Row = {
    name: "node",
    address: "address",
    state: "state",
    numbers: ["waiting", "turns", "on site"],
  };
  return [head, ...rows, ...gone, all].map((row) => line(row, width)).join("\n");
}

function nodeRow(node: ClusterNodeReport, report: ClusterReport): Row {
  const marks = [...(node.name === report.root ? ["root"] : []), ...(node.isHere ? ["here"] : [])];
  const marked = marks.length === 0 ? "" : ` (${marks.join(", ")})`;
  return {
    name: `${branch(node, report.nodes)}${plain(node.name)}${marked}`,
    address: plain(node.address),
    state: node.state === "alive" ? "alive" : node.state.toUpperCase(),
    numbers: [node.own.waiting, node.own.turns, node.own.onSite].map(number),
  };
}

/** The lines that lead from a node's parents to it. */
function branch(node: ClusterNodeReport, nodes: readonly ClusterNodeReport[]): string {
  if (node.parent === null) return "";
  const isLast = (one: ClusterNodeReport) => nodes.findLast(({ parent }) => parent === one.parent) === one;
  let lines = isLast(node) ? "└─ " : "├─ ";
  let above = nodes.find(({ name }) => name === node.parent);
  // No tree is deeper than it has nodes, whatever was sent.
  for (let depth = 0; above && above.parent !== null && depth < nodes.length; depth++) {
    const { parent } = above;
    lines = `${isLast(above) ? "   " : "│  "}${lines}`;
    above = nodes.find(({ name }) => name === parent);
  }
  return lines;
}

function sums(nodes: readonly ClusterNodeReport[]): string[] {
  const sum = (of: keyof ClusterNodeReport["own"]) =>
    number(nodes.reduce((total, { own }) => total + own[of], 0));
  return [sum("waiting"), sum("turns"), sum("onSite")];
}

function line({ name, address, state, numbers }: Row, width: number): string {
  const nameColumns = width - ADDRESS_COLUMNS - STATE_COLUMNS - 3 * NUMBER_COLUMNS - 2;
  return [
    `${fitted(name, nameColumns)} ${fitted(address, ADDRESS_COLUMNS)} ${fitted(state, STATE_COLUMNS)}`,
    ...numbers.map((text) => text.padStart(NUMBER_COLUMNS)),
  ]
    .join("")
    .trimEnd();
}

function facts({ view, root, towardsRoot, rounds }: ClusterReport): string {
  const { version, isMajority, isSettled } = view!;
  const where = root ?? (towardsRoot === null ? "on its way" : `beyond ${towardsRoot}`);
  return [
    `root      ${plain(where)}; ${number(rounds)} counting rounds led by this node`,
    `view      ${version}, ${isMajority ? "with" : "WITHOUT"} the majority`,
    `settled   ${isSettled ? "yes: this node knows all that the others know" : "not yet: nodes are still telling each other what they have"}`,
  ].join("\n");
}

function rooms({ rooms }: ClusterReport, width: number): string {
  const names = Object.keys(rooms);
  if (names.length === 0) return "";
  const nameColumns = width - 5 * ROOM_NUMBER_COLUMNS;
  const row = (name: string, cells: readonly string[]) =>
    `${fitted(name, nameColumns)}${cells.map((text) => text.padStart(ROOM_NUMBER_COLUMNS)).join("")}`;
  const rows = names.slice(0, ROOMS_SHOWN_MAX).map((name) => {
    const { waiting, ownWaiting, turns, onSite, spare } = rooms[name]!;
    const cells = [waiting, ownWaiting, turns, onSite, spare].map((value) =>
      value === null ? "no limit" : number(value),
    );
    return row(plain(name), cells);
  });
  const more = names.length - rows.length;
  return [
    row("room", ["all waiting", "waiting here", "turns here", "on site here", "spare here"]),
    ...rows,
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join("\n");
}

function problems({ problems }: ClusterReport, width: number): string {
  return problems.flatMap((text) => wrapped(safeText(text, PROBLEM_CHARACTERS_MAX), width, "! ")).join("\n");
}

function plain(text: string): string {
  return safeText(text, COLUMNS_MAX);
}

function number(value: number): string {
  return value.toLocaleString("en");
}
