/** The report's four charts, each with a sentence about what it shows and its numbers as a table. */
import { type Chart, GREY, type Series, type Upright } from "../chart.ts";
import type { Findings } from "./findings.ts";
import { countText, spanWords } from "./words.ts";

const ROWS_MAX = 25;

export interface ReportFigure {
  readonly chart: Chart;
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function reportFigures(findings: Findings): ReportFigure[] {
  return [lineFigure(findings), flowFigure(findings), capacityFigure(findings), waitsFigure(findings)];
}

const TIME = { label: "{unit} since the first came", scale: "time" } as const;
/** The vertical axis goes this far beyond the limit, so that the limit is visible. */
const HEADROOM = 1.1;

function lineFigure(findings: Findings): ReportFigure {
  const { line } = findings;
  const { atMs, waiting } = findings.series;
  const caption =
    line.longest === 0
      ? "There is no line."
      : `The line is longest after ${spanWords(line.longestAtMs)}, with ${countText(line.longest)} people in it.`;
  const drawn: Series = { name: "", kind: "area", points: pairs(atMs, waiting), tone: 0 };
  return {
    chart: {
      id: "line",
      title: "The line",
      description: `${caption} Line chart of the people waiting over time.`,
      x: TIME,
      y: { label: "people waiting" },
      series: [drawn],
    },
    caption,
    ...overTime(findings, [["waiting", waiting]]),
  };
}

function flowFigure(findings: Findings): ReportFigure {
  const { atMs, arrived, admitted } = findings.series;
  const caption =
    "Everyone who has come, and everyone who has been let in. The gap from one up to the other is the line and those who gave up; the gap from left to right is the wait.";
  return {
    chart: {
      id: "flow",
      title: "Come and let in",
      description: `${caption} Line chart with two lines over time.`,
      x: TIME,
      y: { label: "people so far" },
      series: [
        { name: "have come", points: pairs(atMs, arrived), tone: 1 },
        { name: "have been let in", points: pairs(atMs, admitted), tone: 2 },
      ],
    },
    caption,
    ...overTime(findings, [
      ["have come", arrived],
      ["have been let in", admitted],
    ]),
  };
}

function capacityFigure(findings: Findings): ReportFigure {
  const { atMs, used, slots } = findings.series;
  const { capacity } = findings;
  const limited = atMs.flatMap((at, i) => (slots[i] == null ? [] : [[at, slots[i]] as const]));
  const limit: Series = { name: "limit", points: limited, tone: GREY, isDashed: true };
  const caption =
    capacity.slots === null
      ? `There is no totalActiveUsers; at most ${countText(capacity.peak)} slots are taken at once.`
      : `At most ${countText(capacity.peak)} of ${countText(capacity.slots)} slots are taken, ${countText(capacity.mean)} on average.`;
  return {
    chart: {
      id: "capacity",
      title: "Used capacity",
      description: `${caption} Line chart of the slots taken over time, turns not yet used included.`,
      x: TIME,
      y: {
        label: "slots",
        ...(capacity.slots === null ? {} : { max: HEADROOM * Math.max(capacity.slots, capacity.peak) }),
      },
      series: [
        { name: "taken", kind: "area", points: pairs(atMs, used), tone: 2 },
        ...(limited.length > 0 ? [limit] : []),
      ],
    },
    caption,
    ...overTime(findings, [["taken", used], ...(limited.length > 0 ? [["limit", slots] as const] : [])]),
  };
}

function waitsFigure({ waits, waitBins }: Findings): ReportFigure {
  const { widthMs, bins } = waitBins;
  const caption =
    waits.p50Ms === null
      ? "Nobody got in."
      : `How many of those who got in waited how long: half ${spanWords(waits.p50Ms)} at most, 95% ${spanWords(waits.p95Ms!)} at most.`;
  return {
    chart: {
      id: "waits",
      title: "Waits",
      description: `${caption} Bar chart of people by how long they waited.`,
      x: { label: "{unit} waited", scale: "time" },
      y: { label: "people" },
      series: [
        {
          name: "",
          kind: "bars",
          barWidth: widthMs,
          points: bins.map(({ fromMs, count: n }) => [fromMs, n]),
          tone: 3,
        },
      ],
      uprights: uprightsOf(waits),
    },
    caption,
    columns: ["waited", "people"],
    rows: thinned(bins).map(({ fromMs, count: n }) => [
      `${spanWords(fromMs)} to ${spanWords(fromMs + widthMs)}`,
      countText(n),
    ]),
  };
}

function uprightsOf({ p50Ms, p95Ms }: Findings["waits"]): Upright[] {
  if (p50Ms === null || p95Ms === null || p95Ms === 0) return [];
  return [
    { x: p50Ms, text: `half: ${spanWords(p50Ms)}` },
    { x: p95Ms, text: `95%: ${spanWords(p95Ms)}` },
  ];
}

function overTime(
  { series }: Findings,
  columns: readonly (readonly [name: string, values: readonly (number | null)[]])[],
): Pick<ReportFigure, "columns" | "rows"> {
  const rows = series.atMs.map((at, i) => [
    spanWords(at),
    ...columns.map(([, values]) => (values[i] == null ? "none" : countText(values[i]))),
  ]);
  return { columns: ["after", ...columns.map(([name]) => name)], rows: thinned(rows) };
}

/** Evenly spread over all rows, including the first and the last. */
function thinned<T>(rows: readonly T[]): T[] {
  if (rows.length <= ROWS_MAX) return [...rows];
  return Array.from(
    { length: ROWS_MAX },
    (_, i) => rows[Math.round((i * (rows.length - 1)) / (ROWS_MAX - 1))]!,
  );
}

function pairs(xs: readonly number[], ys: readonly number[]): [number, number][] {
  return xs.map((x, i) => [x, ys[i]!]);
}
