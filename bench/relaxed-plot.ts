/** Charts of popped element indexes as SVG files: lines or bars over two axes, each plain or logarithmic. */

const WIDTH = 800;
const HEIGHT = 500;
const LEFT = 78;
const RIGHT = 764;
const TOP = 124;
const BOTTOM = 436;
const INK = "#1f2937";
const FAINT = "#d7dbe0";
const QUIET = "#4b5563";
const LEGEND_STEP = 22;
/** About how wide a character of the text is. */
const CHARACTER = 6.9;

export interface Axis {
  readonly label: string;
  readonly min: number;
  /** Whether the vertical axis rises with the values. */
  readonly max: number;
  readonly ticks: readonly number[];
  readonly isLog?: boolean;
  readonly format?: (value: number) => string;
}

export interface Series {
  /** Empty: not in the legend. */
  readonly name: string;
  readonly color: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly dash?: string;
  /** Thin, without marks and behind the others, to compare with. */
  readonly isFaint?: boolean;
}

export interface Chart {
  readonly title: string;
  /** What was simulated. */
  readonly about: string;
  /** What the paper says of it. */
  readonly paper: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  /** Bars instead of lines, for the first series. */
  readonly isBars?: boolean;
}

/** A whole SVG file. */
export function chart(parts: Chart): string {
  const { title, about, paper, x, series, isBars = false } = parts;
  const y = {
    ...parts.y,
    max: Math.max(parts.y.max, ...series.flatMap(({ points }) => points.map(([, at]) => at))),
  };
  const marks = isBars ? bars(series[0]!, x, y) : lines(series, x, y);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`,
    `  role="img" aria-labelledby="title about" font-family="system-ui, sans-serif" font-size="13" fill="${INK}">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="about">${escaped(`${about} The paper: ${paper}`)}</desc>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(LEFT, 30, title, 'font-size="17" font-weight="600"'),
    text(LEFT, 52, about),
    text(LEFT, 72, `The paper: ${paper}`, `fill="${QUIET}" font-style="italic"`),
    ...(isBars ? [] : legend(series)),
    ...axes(x, y),
    ...marks,
    "</svg>",
    "",
  ].join("\n");
}

function axes(x: Axis, y: Axis): string[] {
  const across = y.ticks.flatMap((tick) => {
    const at = yOf(y, tick);
    const label = text(LEFT - 10, at + 4, formatted(y, tick), 'text-anchor="end"');
    return [`<line x1="${LEFT}" y1="${at}" x2="${RIGHT}" y2="${at}" stroke="${FAINT}"/>`, label];
  });
  const along = x.ticks.map((tick) =>
    text(xOf(x, tick), BOTTOM + 21, formatted(x, tick), 'text-anchor="middle"'),
  );
  const middle = (TOP + BOTTOM) / 2;
  return [
    ...across,
    ...along,
    text((LEFT + RIGHT) / 2, BOTTOM + 46, x.label, 'text-anchor="middle"'),
    text(20, middle, y.label, `text-anchor="middle" transform="rotate(-90 20 ${middle})"`),
  ];
}

function lines(series: readonly Series[], x: Axis, y: Axis): string[] {
  const faintFirst = series.toSorted((a, b) => Number(b.isFaint ?? false) - Number(a.isFaint ?? false));
  return faintFirst.flatMap((one) => {
    const points = one.points.map(([px, py]) => [xOf(x, px), yOf(y, py)] as const);
    const path = points.map((point) => point.join(",")).join(" ");
    const line = `<polyline points="${path}" fill="none" stroke-linejoin="round" ${strokeOf(one)}/>`;
    const dots = one.isFaint
      ? []
      : points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${one.color}"/>`);
    return [line, ...dots];
  });
}

function bars({ points, color }: Series, x: Axis, y: Axis): string[] {
  const width = round((0.8 * (RIGHT - LEFT)) / (x.max - x.min));
  return points.map(([px, py]) => {
    const top = yOf(y, py);
    const left = round(xOf(x, px) - width / 2);
    return `<rect x="${left}" y="${top}" width="${width}" height="${round(BOTTOM - top)}" fill="${color}"/>`;
  });
}

function legend(series: readonly Series[]): string[] {
  let at = LEFT;
  const named = series.filter(({ name }) => name !== "");
  return named.map((one) => {
    const sample = `<line x1="${at}" y1="98" x2="${at + 24}" y2="98" ${strokeOf(one)}/>`;
    const name = text(at + 30, 102, one.name);
    at = round(at + 30 + one.name.length * CHARACTER + LEGEND_STEP);
    return sample + name;
  });
}

function strokeOf({ color, dash, isFaint = false }: Series): string {
  const look = isFaint ? 'stroke-width="1.3" stroke-opacity="0.5"' : 'stroke-width="2.2"';
  return `stroke="${color}" ${look}${dash ? ` stroke-dasharray="${dash}"` : ""}`;
}

function xOf(axis: Axis, value: number): number {
  return round(LEFT + (RIGHT - LEFT) * shareOf(axis, value));
}

function yOf(axis: Axis, value: number): number {
  return round(BOTTOM - (BOTTOM - TOP) * shareOf(axis, value));
}

/** Where on the axis, from 0 to 1. */
function shareOf({ min, max, isLog = false }: Axis, value: number): number {
  const scale = isLog ? Math.log : (number: number) => number;
  return (scale(value) - scale(min)) / (scale(max) - scale(min));
}

function formatted({ format = (value) => value.toLocaleString("en") }: Axis, value: number): string {
  return format(value);
}

function text(x: number, y: number, words: string, style = ""): string {
  return `<text x="${round(x)}" y="${round(y)}" ${style}>${escaped(words)}</text>`;
}

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
