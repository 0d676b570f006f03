/**
 * Figures 6.1 to 6.3 of Koopmans 2024 with our results in them: tau by the number of nodes added and removed, one figure for each
 * number of users, a marker for each target. Ours as shipped are solid lines, one by one dashed; Koopmans' points are grey. As in
 * the thesis, the vertical axes differ.
 */
import { type Chart, GREY, type Marker, type Series } from "../chart.ts";
import type { Comparison } from "./comparison.ts";
import { KOOPMANS_TABLE, TARGETS, USERS } from "./koopmans-table.ts";
import { targetText } from "./table.ts";

const WIDTH = 640;
const HEIGHT = 400;
const MARKERS: readonly Marker[] = ["square", "triangle", "circle"];

export interface Figure {
  /** The file name without its ending. */
  readonly name: string;
  readonly chart: Chart;
}

/** One figure for each of Koopmans' numbers of users. */
export function tableFigures(comparisons: readonly Comparison[]): Figure[] {
  return USERS.flatMap((users, index) => {
    const ours = comparisons.filter((one) => one.users === users);
    return ours.length === 0 ? [] : [figureOf(ours, { users, number: index + 1 })];
  });
}

function figureOf(ours: readonly Comparison[], { users, number }: { users: number; number: number }): Figure {
  const name = `figure-6-${number}`;
  const seeds = ours[0]!.seeds;
  const shipped = ours.map(({ target, changed, shipped: { tau } }) => ({ target, changed, tau }));
  const oneByOne = ours.flatMap(({ target, changed, oneByOne }) =>
    oneByOne ? [{ target, changed, tau: oneByOne.tau }] : [],
  );
  const koopmans = KOOPMANS_TABLE.filter((row) => row.users === users);
  return {
    name,
    chart: {
      id: name,
      title: `Tau by nodes added and removed, ${users.toLocaleString("en")} users`,
      description: `Kendall tau distance between the orders of joining and of admission, by nodes added and removed: averages of ${seeds} of our runs with the settings as shipped and of as many with people admitted one by one, beside Koopmans' of 1,000, for targets of 20, 100 and any number of users.`,
      x: { label: "nodes added and removed" },
      y: { label: "average Kendall tau distance, in millionths", format: millionths },
      series: [
        ...seriesOf("as shipped", shipped, { isDashed: false }),
        ...seriesOf("one by one", oneByOne, { isDashed: true }),
        ...seriesOf("Koopmans'", koopmans, { isDashed: true, tone: GREY }),
      ],
      width: WIDTH,
      height: HEIGHT,
    },
  };
}

function millionths(tau: number): string {
  return (tau * 1e6).toLocaleString("en", { maximumFractionDigits: 1 });
}

type Row = { readonly target: number | null; readonly changed: number; readonly tau: number };

/** A series for each target. `tone`: one for all of them. */
function seriesOf(name: string, rows: readonly Row[], look: { isDashed: boolean; tone?: number }): Series[] {
  return TARGETS.map((target, index) => ({
    name: `${name}, target ${targetText(target)}`,
    kind: "marked",
    tone: index,
    marker: MARKERS[index]!,
    points: pointsOf(rows.filter((row) => row.target === target)),
    ...look,
  }));
}

function pointsOf(rows: readonly { readonly changed: number; readonly tau: number }[]): [number, number][] {
  return rows.map(({ changed, tau }): [number, number] => [changed, tau]).sort(([a], [b]) => a - b);
}
