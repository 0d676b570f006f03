/** The hour of `adaptive-scene.ts` as a picture: latency above, visitors and capacity below, both runs in each. */
import {
  CROWD_AT_MS,
  FAILS_AT_MS,
  type Moment,
  REPAIRED_AT_MS,
  SCENE_MS,
  SET,
  TARGET_MS,
} from "./adaptive-scene.ts";

const WIDTH = 960;
const HEIGHT = 660;
const LEFT = 76;
const RIGHT = 936;
const ABOVE = { top: 96, bottom: 336 };
const BELOW = { top: 396, bottom: 596 };
const MINUTE_MS = 60_000;
const LATENCY_MIN_MS = 200;
const LATENCY_MAX_MS = 20_000;
const VISITORS_MAX = 2_200;
const FIXED = "#c2410c";
const ADAPTIVE = "#1d4ed8";
const TARGET_STYLE = 'stroke="#15803d" stroke-width="1.6" stroke-dasharray="7 4"';
const INK = "#1f2937";
const FAINT = "#d7dbe0";

const ABOUT =
  "With a fixed setting that is too high the site soon takes fourteen seconds to answer, and goes on so. " +
  "With adaptive capacity it mostly stays below its target of one second, with about half the visitors on the site, " +
  "and fewer while machines are missing.";

type Panel = typeof ABOVE;
type Point = readonly [x: number, y: number];

/** A whole SVG file. */
export function plot(fixed: readonly Moment[], adaptive: readonly Moment[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`,
    `  role="img" aria-labelledby="title about" font-family="system-ui, sans-serif" font-size="13" fill="${INK}">`,
    `<title id="title">Adaptive capacity beside a fixed setting</title>`,
    `<desc id="about">${ABOUT}</desc>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(
      LEFT,
      30,
      "Adaptive capacity beside a fixed setting that is too high",
      'font-size="18" font-weight="600"',
    ),
    text(
      LEFT,
      52,
      "A model site and its visitors in virtual time; door, flow, meter and loop are the real ones.",
    ),
    legend(),
    ...phases(),
    ...latencyAxis(),
    ...visitorsAxis(),
    ...minutesAxis(),
    line(fixed.flatMap(latencyPoint), `stroke="${FIXED}" stroke-width="1.6"`),
    line(adaptive.flatMap(latencyPoint), `stroke="${ADAPTIVE}" stroke-width="1.6"`),
    line(fixed.map(onSitePoint), `stroke="${FIXED}" stroke-width="1.2" stroke-opacity="0.55"`),
    line(adaptive.map(onSitePoint), `stroke="${ADAPTIVE}" stroke-width="1.2" stroke-opacity="0.55"`),
    line(steps(fixed.map(capacityPoint)), `stroke="${FIXED}" stroke-width="2"`),
    line(steps(adaptive.map(capacityPoint)), `stroke="${ADAPTIVE}" stroke-width="2"`),
    "</svg>",
    "",
  ].join("\n");
}

function legend(): string {
  const sample = (x: number, style: string, name: string) =>
    `<line x1="${x}" y1="74" x2="${x + 26}" y2="74" ${style}/>${text(x + 34, 78, name)}`;
  return [
    sample(LEFT, `stroke="${FIXED}" stroke-width="3"`, "fixed setting"),
    sample(LEFT + 150, `stroke="${ADAPTIVE}" stroke-width="3"`, "adaptive"),
    sample(LEFT + 270, TARGET_STYLE, "latency target"),
  ].join("\n");
}

/** What happens when, as bands behind both panels. */
function phases(): string[] {
  const [from, until] = [xOf(FAILS_AT_MS), xOf(REPAIRED_AT_MS)];
  const band = ({ top, bottom }: Panel) =>
    `<rect x="${from}" y="${top}" width="${until - from}" height="${bottom - top}" fill="#f3f4f6"/>`;
  const crowd = xOf(CROWD_AT_MS);
  const mark = ({ top, bottom }: Panel) =>
    `<line x1="${crowd}" y1="${top}" x2="${crowd}" y2="${bottom}" stroke="${INK}" stroke-dasharray="2 3"/>`;
  return [
    band(ABOVE),
    band(BELOW),
    mark(ABOVE),
    mark(BELOW),
    text(crowd + 6, BELOW.top - 8, "the crowd comes", 'font-size="12"'),
    text(
      (from + until) / 2,
      BELOW.top - 8,
      "a quarter of the machines is gone",
      'font-size="12" text-anchor="middle"',
    ),
  ];
}

function latencyAxis(): string[] {
  const ticks = [0.2, 0.5, 1, 2, 5, 10, 20].flatMap((seconds) => {
    const y = latencyY(seconds * 1_000);
    return [grid(y), text(LEFT - 10, y + 4, `${seconds} s`, 'text-anchor="end"')];
  });
  const target = latencyY(TARGET_MS);
  return [
    ...ticks,
    `<line x1="${LEFT}" y1="${target}" x2="${RIGHT}" y2="${target}" ${TARGET_STYLE}/>`,
    sideways(ABOVE, "95th percentile, log scale"),
  ];
}

function visitorsAxis(): string[] {
  const ticks = [0, 500, 1_000, 1_500, 2_000].flatMap((visitors) => {
    const y = visitorsY(visitors);
    return [grid(y), text(LEFT - 10, y + 4, visitors.toLocaleString("en"), 'text-anchor="end"')];
  });
  const set = visitorsY(SET.totalActiveUsers);
  return [
    ...ticks,
    text(
      RIGHT - 6,
      set - 7,
      "thick: capacity in force; thin: visitors on the site",
      'text-anchor="end" font-size="12"',
    ),
    sideways(BELOW, "visitors"),
  ];
}

function minutesAxis(): string[] {
  const ticks = [0, 10, 20, 30, 40, 50, 60].map((minutes) =>
    text(xOf(minutes * MINUTE_MS), BELOW.bottom + 22, String(minutes), 'text-anchor="middle"'),
  );
  return [...ticks, text((LEFT + RIGHT) / 2, BELOW.bottom + 46, "minutes", 'text-anchor="middle"')];
}

function latencyPoint({ atMs, latencyMs }: Moment): Point[] {
  return latencyMs === null ? [] : [[xOf(atMs), latencyY(latencyMs)]];
}

function onSitePoint({ atMs, onSite }: Moment): Point {
  return [xOf(atMs), visitorsY(onSite)];
}

function capacityPoint({ atMs, capacity }: Moment): Point {
  return [xOf(atMs), visitorsY(capacity)];
}

/** A value holds until the next one does. */
function steps(points: readonly Point[]): Point[] {
  return points.flatMap(([x, y], i) => [[x, points[i - 1]?.[1] ?? y] as const, [x, y] as const]);
}

function xOf(ms: number): number {
  return LEFT + ((RIGHT - LEFT) * ms) / SCENE_MS;
}

function latencyY(ms: number): number {
  const bounded = Math.min(LATENCY_MAX_MS, Math.max(LATENCY_MIN_MS, ms));
  const share = Math.log(bounded / LATENCY_MIN_MS) / Math.log(LATENCY_MAX_MS / LATENCY_MIN_MS);
  return round(ABOVE.bottom - (ABOVE.bottom - ABOVE.top) * share);
}

function visitorsY(visitors: number): number {
  return round(BELOW.bottom - ((BELOW.bottom - BELOW.top) * visitors) / VISITORS_MAX);
}

function line(points: readonly Point[], style: string): string {
  const path = points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");
  return `<polyline points="${path}" fill="none" stroke-linejoin="round" ${style}/>`;
}

function grid(y: number): string {
  return `<line x1="${LEFT}" y1="${y}" x2="${RIGHT}" y2="${y}" stroke="${FAINT}"/>`;
}

function text(x: number, y: number, words: string, style = ""): string {
  return `<text x="${round(x)}" y="${round(y)}" ${style}>${words}</text>`;
}

function sideways({ top, bottom }: Panel, words: string): string {
  const y = (top + bottom) / 2;
  return text(20, y, words, `text-anchor="middle" transform="rotate(-90 20 ${y})"`);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
