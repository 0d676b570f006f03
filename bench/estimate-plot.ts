/**
 * Told waits beside what happened, as a picture: six scenes, in each one visitor far back in the line. The band is the range they
 * were told as time went by, the line its middle, the dashed line the truth, the dots what Cloudflare's way would have told.
 */
import { MINUTE_MS, type Played, type Telling } from "./estimate-scene.ts";

const SHOWN = [
  "fills at once",
  "visits until timeout",
  "short visits that leave",
  "half the line lapses",
  "capacity halved",
  "three lanes",
];
const WIDTH = 960;
const COLUMNS = 3;
const PANEL = { width: 280, height: 190, left: 46, top: 92, apartX: 310, apartY: 250 };
const HEIGHT = PANEL.top + 2 * PANEL.apartY;
/** The visitor shown has so much of the longest line told before them. */
const BACK_SHARE = 0.8;
const INK = "#1f2937";
const FAINT = "#d7dbe0";
const TOLD = "#1d4ed8";
const PLAIN = "#c2410c";
const TRUTH = "#15803d";

type Point = readonly [x: number, y: number];

/** A whole SVG file. */
export function plotWaits(played: ReadonlyMap<string, Played>): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`,
    `  role="img" aria-labelledby="title about" font-family="system-ui, sans-serif" font-size="12" fill="${INK}">`,
    `<title id="title">Told waits beside what happened</title>`,
    `<desc id="about">In each scene the range told soon closes around the true wait and stays there; the average of the last minutes swings.</desc>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(
      16,
      30,
      "The wait told to one visitor far back in the line, as time goes by",
      'font-size="18" font-weight="600"',
    ),
    legend(),
    ...SHOWN.map((name, index) => panel(name, index, visitorFarBack(played.get(name)?.tellings ?? []))),
    "</svg>",
    "",
  ].join("\n");
}

/** All that one visitor was told, in order of time. */
function visitorFarBack(tellings: readonly Telling[]): Telling[] {
  const firsts = new Map<number, Telling>();
  for (const telling of tellings) {
    const first = firsts.get(telling.visitor);
    if (!first || telling.atMs < first.atMs) firsts.set(telling.visitor, telling);
  }
  const byAhead = [...firsts.values()].sort((a, b) => a.ahead - b.ahead);
  const chosen = byAhead[Math.floor(byAhead.length * BACK_SHARE)]?.visitor;
  return tellings.filter(({ visitor }) => visitor === chosen).sort((a, b) => a.atMs - b.atMs);
}

function panel(name: string, index: number, told: readonly Telling[]): string {
  const left = PANEL.left + (index % COLUMNS) * PANEL.apartX;
  const top = PANEL.top + Math.floor(index / COLUMNS) * PANEL.apartY;
  const from = told[0]?.atMs ?? 0;
  const minutesMax = Math.max(1, ...told.map(({ atMs }) => (atMs - from) / MINUTE_MS));
  const waitMax = niceMax(
    Math.max(
      1,
      ...told.map(({ truth, high }) => Math.max(truth * 1.2, Math.min(high, truth * 1.8)) / MINUTE_MS),
    ),
  );
  const x = (telling: Telling) => left + (((telling.atMs - from) / MINUTE_MS) * PANEL.width) / minutesMax;
  const y = (ms: number) => top + PANEL.height - (Math.min(ms / MINUTE_MS, waitMax) * PANEL.height) / waitMax;
  const along = (of: (telling: Telling) => number | null) =>
    told.flatMap((telling): Point[] => {
      const ms = of(telling);
      return ms === null ? [] : [[x(telling), y(ms)]];
    });
  const band = [...along(({ high }) => high), ...along(({ low }) => low).reverse()];
  return [
    text(left, top - 12, name, 'font-weight="600"'),
    ...[0, 0.5, 1].flatMap((share) => {
      const at = top + PANEL.height * (1 - share);
      return [
        `<line x1="${left}" y1="${at}" x2="${left + PANEL.width}" y2="${at}" stroke="${FAINT}"/>`,
        text(left - 6, at + 4, String(Math.round(waitMax * share)), 'text-anchor="end"'),
      ];
    }),
    text(left, top + PANEL.height + 18, `${0} min`),
    text(
      left + PANEL.width,
      top + PANEL.height + 18,
      `${Math.round(minutesMax)} min after joining`,
      'text-anchor="end"',
    ),
    `<polygon points="${points(band)}" fill="${TOLD}" fill-opacity="0.18"/>`,
    `<polyline points="${points(along(({ middle }) => middle))}" fill="none" stroke="${TOLD}" stroke-width="1.8"/>`,
    ...along(({ plain }) => plain).map(
      ([cx, cy]) => `<circle cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}" r="1.6" fill="${PLAIN}"/>`,
    ),
    `<polyline points="${points(along(({ truth }) => truth))}" fill="none" stroke="${TRUTH}" stroke-width="1.6" stroke-dasharray="6 4"/>`,
  ].join("\n");
}

function legend(): string {
  const y = 54;
  return [
    `<rect x="16" y="${y - 9}" width="24" height="11" fill="${TOLD}" fill-opacity="0.18"/>`,
    `<line x1="16" y1="${y - 3}" x2="40" y2="${y - 3}" stroke="${TOLD}" stroke-width="1.8"/>`,
    text(46, y, "told: range and middle, in minutes"),
    `<line x1="270" y1="${y - 3}" x2="294" y2="${y - 3}" stroke="${TRUTH}" stroke-width="1.6" stroke-dasharray="6 4"/>`,
    text(300, y, "what happened"),
    `<circle cx="410" cy="${y - 4}" r="2" fill="${PLAIN}"/>`,
    text(418, y, "people ahead by the average of the last five minutes (Cloudflare's way)"),
  ].join("\n");
}

function niceMax(minutes: number): number {
  const step = minutes > 60 ? 20 : minutes > 20 ? 10 : 4;
  return Math.ceil(minutes / step) * step;
}

function points(all: readonly Point[]): string {
  return all.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
}

function text(x: number, y: number, words: string, style = ""): string {
  return `<text x="${x}" y="${y}" ${style}>${words}</text>`;
}
