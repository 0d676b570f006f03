/**
 * How true the told waits are, over fourteen scenes. For every visitor: what was told at joining and about each minute after,
 * beside what happened. Where the operator changes something nobody could know, what was told before it about a time after
 * it does not count, nor what was told within three minutes of it.
 *
 * The constants of the forecast were chosen on the crowds of `SEEDS`. `--seeds` plays others, that nobody has tuned against.
 *
 * Whether a range holds the truth is judged of ranges that reach beyond a minute: below that the page says "less than a minute".
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { type Bench, type Row, row } from "./bench.ts";
import { plotWaits } from "./estimate-plot.ts";
import { MINUTE_MS, type Played, playScene, type Scene, type Telling } from "./estimate-scene.ts";
import { SCENES } from "./estimate-scenes.ts";

/** All waits of a crowd are off to the same side, so one crowd says little: single ones are up to 35 points apart. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const INSIDE = { least: 0.75, most: 0.9 };
const CLOSE_LEAST = 0.8;
const CLOSE_WITHIN = 0.3;
const CLOSE_FROM_MS = 2 * MINUTE_MS;
const RANGE_MAX = 4;
const RANGE_AFTER_MS = 2 * MINUTE_MS;
const ROWS_A_SCENE = 5;
const CHANGE_KNOWN_MS = 3 * MINUTE_MS;
/** Ranges are told to the millisecond. */
const ROUNDING = 1.001;

interface Judged {
  readonly told: number;
  readonly inside: number;
  readonly close: number;
  readonly plainClose: number;
  readonly tooWide: number;
}

export const estimateBench: Bench = {
  name: "estimate",
  about: `told waits beside what happened, in ${SCENES.length} scenes, and what Cloudflare's way would have told`,
  hasCrowds: true,
  async run({ isQuick, progress, seeds }) {
    const crowds = seeds ?? (isQuick ? SEEDS.slice(0, 1) : SEEDS);
    const rows: Row[] = [];
    const first = new Map<string, Played>();
    for (const scene of SCENES) {
      const played = crowds.map((seed) => {
        progress(`${scene.name}, crowd ${seed}`);
        return playScene(scene, seed);
      });
      first.set(scene.name, played[0]!);
      const single = played.map((one) => judge(scene, [one]).inside);
      rows.push(...rowsOf(scene, judge(scene, played), single));
    }
    if (seeds === null) draw(plotWaits(first), isQuick);
    return rows;
  },
  table,
};

export function judge(scene: Scene, played: readonly Played[]): Judged {
  const counts = { told: 0, inside: 0, long: 0, close: 0, plainClose: 0, tooWide: 0 };
  let ranges = 0;
  for (const { tellings, lineFromMs } of played)
    for (const telling of tellings) {
      if (!isKnowable(scene, telling)) continue;
      const { low, middle, high, plain, truth, atMs } = telling;
      counts.told++;
      if (high >= MINUTE_MS) {
        ranges++;
        if (low <= truth && truth <= high) counts.inside++;
      }
      if (truth > CLOSE_FROM_MS) {
        counts.long++;
        if (isClose(middle, truth)) counts.close++;
        if (plain !== null && isClose(plain, truth)) counts.plainClose++;
      }
      if (atMs > lineFromMs + RANGE_AFTER_MS && high > low * RANGE_MAX * ROUNDING) counts.tooWide++;
    }
  return {
    told: counts.told,
    inside: counts.inside / ranges,
    close: counts.close / counts.long,
    plainClose: counts.plainClose / counts.long,
    tooWide: counts.tooWide,
  };
}

/** By what was told and not by what happened: else, of waits told before a change, only those that ended soon would count. */
function isKnowable({ changes = [] }: Scene, { atMs, high }: Telling): boolean {
  return !changes.some((change) => atMs < change.atMs + CHANGE_KNOWN_MS && atMs + high > change.atMs);
}

function isClose(told: number, truth: number): boolean {
  return Math.abs(told - truth) <= CLOSE_WITHIN * truth;
}

/** `single`: within the range told, of each crowd. */
function rowsOf({ name, about }: Scene, judged: Judged, single: readonly number[]): Row[] {
  return [
    row({
      name: `${name} (${about}): within the range told`,
      unit: "share",
      value: judged.inside,
      goal: { of: "value", atLeast: INSIDE.least, atMost: INSIDE.most },
    }),
    row({
      name: `${name}: middle within 30 % of the truth, beside Cloudflare's way`,
      unit: "share",
      value: judged.close,
      baseline: judged.plainClose,
      goal: { of: "value", atLeast: CLOSE_LEAST },
    }),
    row({
      name: `${name}: ranges wider than four times, of ${judged.told} told`,
      unit: "ranges",
      value: judged.tooWide,
      goal: { of: "value", atMost: 0 },
    }),
    row({
      name: `${name}: within the range told, of the crowd with the fewest`,
      unit: "share",
      value: Math.min(...single),
    }),
    row({
      name: `${name}: within the range told, of the crowd with the most`,
      unit: "share",
      value: Math.max(...single),
    }),
  ];
}

/** One line a scene. */
function table(rows: readonly Row[]): string {
  const lines = [
    ["scene", "within range", "single crowds", "middle close", "Cloudflare's way", "too wide", ""],
  ];
  for (let i = 0; i < rows.length; i += ROWS_A_SCENE) {
    const [inside, close, wide, fewest, most] = rows.slice(i, i + ROWS_A_SCENE) as [Row, Row, Row, Row, Row];
    const isMet = inside.ok && close.ok && wide.ok;
    const name = close.name.split(":")[0]!;
    lines.push([
      name,
      share(inside.value),
      `${Math.round(fewest.value * 100)} to ${share(most.value)}`,
      share(close.value),
      share(close.baseline!),
      String(wide.value),
      isMet ? "met" : "MISSED",
    ]);
  }
  lines.push([
    "wanted",
    `${share(INSIDE.least)} to ${share(INSIDE.most)}`,
    "",
    `>= ${share(CLOSE_LEAST)}`,
    "",
    "0",
    "",
  ]);
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function share(value: number): string {
  return `${Math.round(value * 100)} %`;
}

function draw(svg: string, isQuick: boolean): void {
  const results = new URL("./results/", import.meta.url);
  mkdirSync(results, { recursive: true });
  writeFileSync(new URL("estimate.svg", results), svg);
  if (!isQuick) writeFileSync(new URL("../docs/estimate.svg", import.meta.url), svg);
}
