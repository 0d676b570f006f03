/**
 * Charts as SVG text. Lines, areas, bars and points over two axes, each linear, logarithmic or time.
 *
 * A chart can be part of a page, where `CHART_STYLE` gives all charts their colours, or a file of its own. Both follow the
 * reader's light or dark mode. Series differ by more than colour: by dashes, by marker, and by a legend in drawing order. Every
 * text is escaped, and every chart has a title and a description for screen readers.
 */
import { type Axis, type Scale, scaleFor } from "./chart-axis.ts";
import { escapeMarkup } from "./markup.ts";

export type { Axis } from "./chart-axis.ts";

export type Marker = "circle" | "square" | "diamond" | "triangle" | "cross";

export interface Series {
  /** Empty: not in the legend. */
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** `area`: a filled line. `marked`: a line with a marker at each point. Default: a line. */
  readonly kind?: "line" | "area" | "bars" | "points" | "marked";
  /** Index of the colour; by default the next one. `GREY` is for baselines. */
  readonly tone?: number;
  readonly marker?: Marker;
  readonly isDashed?: boolean;
  /** Width of a bar on the x axis; it begins at its x. */
  readonly barWidth?: number;
}

/** A vertical line with a word at its top, such as a median or a start. */
export interface Upright {
  readonly x: number;
  readonly text: string;
}

export interface Chart {
  /** Unique on its page: letters, digits and hyphens. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  readonly uprights?: readonly Upright[];
  readonly width?: number;
  readonly height?: number;
}

/** The tone of limits and baselines. */
export const GREY = 5;
const TONES = 5;
const MARKERS: readonly Marker[] = ["circle", "square", "diamond", "triangle", "cross"];
const WIDTH = 440;
const HEIGHT = 290;
const FONT = 13;
const CHARACTER = 7.1;
const ROW = 20;
const RIGHT_MARGIN = 18;
const LEGEND_SAMPLE = 22;
const LEGEND_GAP = 18;
const BAR_SHARE = 0.9;
const EDGE = 10;

/** The chart as an element of a page that has `CHART_STYLE`. */
export function drawChart(chart: Chart): string {
  return svg(chart, { isFile: false });
}

/** The chart as a complete SVG file, with its title above. */
export function chartFile(chart: Chart): string {
  return `${svg(chart, { isFile: true })}\n`;
}

const LIGHT =
  "--paper:#fff;--ink:#1c2430;--quiet:#566071;--grid:#e4e8ee;--tone-0:#1f5fbf;--tone-1:#c2410c;--tone-2:#0f7b5f;--tone-3:#7c3aed;--tone-4:#b4236a;--tone-5:#5f6875";
const DARK =
  "--paper:#151a21;--ink:#e6eaf0;--quiet:#a3adba;--grid:#2c343f;--tone-0:#7db0ff;--tone-1:#ff9d5c;--tone-2:#4fd1a5;--tone-3:#b79bff;--tone-4:#ff85b8;--tone-5:#a3adba";

/** The style of charts on a page. */
export const CHART_STYLE = `.chart{${LIGHT};font:${FONT}px system-ui,sans-serif;fill:var(--ink)}
@media(prefers-color-scheme:dark){.chart{${DARK}}}
.chart .paper{fill:var(--paper)}
.chart .quiet{fill:var(--quiet)}
.chart .title{font-size:16px;font-weight:600}
.chart .grid{stroke:var(--grid);stroke-width:1;fill:none}
.chart .axis{stroke:var(--quiet);stroke-width:1;fill:none}
.chart .upright{stroke:var(--ink);stroke-width:1;stroke-dasharray:2 3}
.chart .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.chart .dashed{stroke-dasharray:6 5;stroke-width:1.6}
.chart .area{stroke:none;opacity:.16}
.chart .halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
${[0, 1, 2, 3, 4, 5].map((tone) => `.chart .s${tone}{stroke:var(--tone-${tone})}.chart .f${tone}{fill:var(--tone-${tone})}`).join("\n")}`;

interface Plot {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: Scale;
  readonly y: Scale;
}

type Drawn = Series & { readonly tone: number; readonly marker: Marker };

function svg(chart: Chart, { isFile }: { isFile: boolean }): string {
  const { id, title, description, width = WIDTH, height = HEIGHT } = chart;
  const series = chart.series.map(settled);
  const legend = legendRows(series, width);
  const top = (isFile ? 34 : 4) + legend.length * ROW + 30;
  const plot = plotOf({ ...chart, series }, { top, right: width - RIGHT_MARGIN, bottom: height - 44 });
  const edge = isFile ? EDGE : 0;
  const box = `${-edge} ${-edge} ${width + 2 * edge} ${height + 2 * edge}`;
  const size = isFile ? ` width="${width + 2 * edge}" height="${height + 2 * edge}"` : "";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="${box}"${size} role="img" aria-labelledby="${id}-title ${id}-desc">`,
    `<title id="${id}-title">${escapeMarkup(title)}</title>`,
    `<desc id="${id}-desc">${escapeMarkup(description)}</desc>`,
    ...(isFile ? fileFrame(title, { width, height }) : []),
    ...legend.flatMap((row, index) => drawLegendRow(row, (isFile ? 34 : 4) + index * ROW + 12)),
    ...drawAxes(plot),
    ...series.flatMap((one) => drawSeries(one, plot)),
    ...(chart.uprights ?? []).flatMap((upright, index) => drawUpright(upright, index, plot)),
    "</svg>",
  ].join("\n");
}

function fileFrame(title: string, { width, height }: { width: number; height: number }): string[] {
  return [
    `<style>${CHART_STYLE}</style>`,
    `<rect class="paper" x="${-EDGE}" y="${-EDGE}" width="${width + 2 * EDGE}" height="${height + 2 * EDGE}"/>`,
    text({ x: 4, y: 18 }, title, 'class="title"'),
  ];
}

function settled(series: Series, index: number): Drawn {
  return {
    ...series,
    tone: Math.min(GREY, Math.max(0, series.tone ?? index % TONES)),
    marker: series.marker ?? MARKERS[index % MARKERS.length]!,
  };
}

function plotOf(
  { x, y, series }: { x: Axis; y: Axis; series: readonly Drawn[] },
  edges: { top: number; right: number; bottom: number },
): Plot {
  const upright = scaleFor(y, values(series, 1), true);
  const widest = Math.max(...upright.ticks.map((tick) => tick.text.length), 1);
  const left = Math.round(14 + widest * CHARACTER);
  return { ...edges, left, x: scaleFor(x, values(series, 0), false), y: upright };
}

function* values(series: readonly Drawn[], which: 0 | 1): Iterable<number> {
  for (const { points, kind, barWidth = 0 } of series)
    for (const point of points) {
      yield point[which];
      if (which === 0 && kind === "bars") yield point[0] + barWidth;
    }
}

function drawAxes({ left, right, top, bottom, x, y }: Plot): string[] {
  const across = y.ticks.flatMap(({ value, text: words }) => {
    const at = round(bottom - y.share(value) * (bottom - top));
    const label = text({ x: left - 7, y: at + 4 }, words, 'class="quiet" text-anchor="end"');
    return [`<path class="grid" d="M${left} ${at}H${right}"/>`, label];
  });
  const along = x.ticks.flatMap(({ value, text: words }) => {
    const at = round(left + x.share(value) * (right - left));
    const label = text({ x: at, y: bottom + 18 }, words, 'class="quiet" text-anchor="middle"');
    return [`<path class="axis" d="M${at} ${bottom}v4"/>`, label];
  });
  return [
    ...across,
    `<path class="axis" d="M${left} ${bottom}H${right}"/>`,
    ...along,
    text({ x: 4, y: top - 16 }, y.label, 'class="quiet"'),
    text({ x: right, y: bottom + 37 }, x.label, 'class="quiet" text-anchor="end"'),
  ];
}

function drawSeries(series: Drawn, plot: Plot): string[] {
  const { kind = "line", points, tone, isDashed = false } = series;
  if (points.length === 0) return [];
  if (kind === "bars") return drawBars(series, plot);
  const placed = points.map((point) => place(plot, point));
  const line = `M${placed.map(([px, py]) => `${px} ${py}`).join("L")}`;
  const drawn: string[] = [];
  if (kind === "area") {
    const end = `L${placed.at(-1)![0]} ${plot.bottom}L${placed[0]![0]} ${plot.bottom}Z`;
    drawn.push(`<path class="area f${tone}" d="${line}${end}"/>`);
  }
  if (kind !== "points") drawn.push(`<path class="line s${tone}${isDashed ? " dashed" : ""}" d="${line}"/>`);
  if (kind === "points" || kind === "marked") drawn.push(...placed.map((at) => drawMarker(series, at)));
  return drawn;
}

function drawBars({ points, tone, barWidth = 0 }: Drawn, plot: Plot): string[] {
  return points.map(([from, height]) => {
    const [left, top] = place(plot, [from, height]);
    const width = place(plot, [from + barWidth, height])[0] - left;
    const inner = Math.max(1, width * BAR_SHARE);
    const at = `x="${round(left + (width - inner) / 2)}" y="${top}"`;
    return `<rect class="f${tone}" ${at} width="${round(inner)}" height="${round(plot.bottom - top)}"/>`;
  });
}

const MARKER_PATHS: Readonly<Record<Marker, string>> = {
  circle: "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
  square: "m-3.5 -3.5h7v7h-7z",
  diamond: "m0 -5l5 5l-5 5l-5 -5z",
  triangle: "m0 -4.8l4.6 8h-9.2z",
  cross:
    "m-4 -2.4l1.6 -1.6l2.4 2.4l2.4 -2.4l1.6 1.6l-2.4 2.4l2.4 2.4l-1.6 1.6l-2.4 -2.4l-2.4 2.4l-1.6 -1.6l2.4 -2.4z",
};

function drawMarker({ marker, tone }: Drawn, [x, y]: readonly [number, number]): string {
  return `<path class="f${tone}" d="M${x} ${y}${MARKER_PATHS[marker]}"/>`;
}

function drawUpright({ x, text: words }: Upright, index: number, plot: Plot): string[] {
  const at = place(plot, [x, 0])[0];
  const isRight = at > plot.right - words.length * CHARACTER - 10;
  const anchor = isRight ? 'class="halo" text-anchor="end"' : 'class="halo"';
  return [
    `<path class="upright" d="M${at} ${plot.bottom}V${plot.top}"/>`,
    text({ x: at + (isRight ? -6 : 6), y: plot.top + 12 + index * 17 }, words, anchor),
  ];
}

interface LegendItem {
  readonly series: Drawn;
  readonly at: number;
}

function legendRows(series: readonly Drawn[], width: number): LegendItem[][] {
  const rows: LegendItem[][] = [];
  let at = Number.POSITIVE_INFINITY;
  for (const one of series.filter(({ name }) => name !== "")) {
    const wide = LEGEND_SAMPLE + 6 + one.name.length * CHARACTER;
    if (at + wide > width - RIGHT_MARGIN) {
      rows.push([]);
      at = 4;
    }
    rows.at(-1)!.push({ series: one, at });
    at = round(at + wide + LEGEND_GAP);
  }
  return rows;
}

function drawLegendRow(row: readonly LegendItem[], y: number): string[] {
  return row.flatMap(({ series, at }) => [
    ...drawSample(series, at, y - 4),
    text({ x: at + LEGEND_SAMPLE + 6, y }, series.name),
  ]);
}

function drawSample(series: Drawn, at: number, y: number): string[] {
  const { kind = "line", tone, isDashed = false } = series;
  if (kind === "bars") return [`<rect class="f${tone}" x="${at + 5}" y="${y - 6}" width="12" height="12"/>`];
  const line = `<path class="line s${tone}${isDashed ? " dashed" : ""}" d="M${at} ${y}h${LEGEND_SAMPLE}"/>`;
  const marker = drawMarker(series, [at + LEGEND_SAMPLE / 2, y]);
  if (kind === "points") return [marker];
  return kind === "marked" ? [line, marker] : [line];
}

function place(
  { left, right, top, bottom, x, y }: Plot,
  [px, py]: readonly [number, number],
): [number, number] {
  return [round(left + x.share(px) * (right - left)), round(bottom - y.share(py) * (bottom - top))];
}

function text({ x, y }: { x: number; y: number }, words: string, attributes = ""): string {
  return `<text x="${x}" y="${y}"${attributes && ` ${attributes}`}>${escapeMarkup(words)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
