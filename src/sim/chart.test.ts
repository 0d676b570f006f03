import assert from "node:assert/strict";
import { test } from "node:test";
import { type Chart, chartFile, drawChart, type Series } from "./chart.ts";

const CHART: Chart = {
  id: "sample",
  title: "Sample",
  description: "A line that rises.",
  x: { label: "nodes" },
  y: { label: "messages" },
  series: [
    {
      name: "ours",
      points: [
        [0, 0],
        [10, 100],
      ],
    },
  ],
};

const drawn = (...series: Series[]) => drawChart({ ...CHART, series });

/** The points of the first line that is drawn. */
function lineIn(svg: string): number[][] {
  const [, path] = /class="line s0" d="M([^"]+)"/.exec(svg.slice(svg.lastIndexOf('class="axis"')))!;
  return path!.split("L").map((point) => point.split(" ").map(Number));
}

test("a line goes from corner to corner where its values do", () => {
  const [[left, bottom], [right, top]] = lineIn(drawChart(CHART)) as [[number, number], [number, number]];
  assert.ok(left < right && bottom > top);
  const [[, zero], [, half]] = lineIn(
    drawn({
      name: "",
      points: [
        [0, 0],
        [10, 50],
        [10, 100],
      ],
    }),
  ) as [[number, number], [number, number]];
  assert.ok(Math.abs(zero - half - (bottom - top) / 2) < 15);
});

test("any text is shown as it is", () => {
  const evil = `</text><script>"&'`;
  const svg = chartFile({
    ...CHART,
    title: evil,
    description: evil,
    x: { label: evil },
    y: { label: evil, format: () => evil },
    series: [{ name: evil, points: [[1, 1]] }],
    uprights: [{ x: 1, text: evil }],
  });
  assert.doesNotMatch(svg, /<script/);
  assert.ok(svg.includes("&lt;/text&gt;&lt;script&gt;&quot;&amp;&#39;"));
});

test("the title and the description are named as the picture's words", () => {
  const svg = drawChart(CHART);
  assert.match(svg, /role="img" aria-labelledby="sample-title sample-desc"/);
  assert.match(svg, /<title id="sample-title">Sample<\/title>/);
  assert.match(svg, /<desc id="sample-desc">A line that rises\.<\/desc>/);
});

test("series differ by marker as well as by colour, and each is in the legend once", () => {
  const points = [
    [1, 1],
    [2, 2],
  ] as const;
  const svg = drawn(...["a-1", "b-2", "c-3"].map((name) => ({ name, kind: "marked" as const, points })));
  for (const name of ["a-1", "b-2", "c-3"]) assert.equal(svg.split(`>${name}<`).length - 1, 1);
  const markers = new Set([...svg.matchAll(/class="f\d" d="M\S+ [\d.]+(m[^"]+)"/g)].map(([, path]) => path));
  assert.equal(markers.size, 3);
});

test("bars begin at their x and stand on the axis", () => {
  const svg = drawn({
    name: "",
    kind: "bars",
    barWidth: 5,
    points: [
      [0, 10],
      [5, 20],
    ],
  });
  const bars = [
    ...svg.matchAll(/<rect class="f0" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g),
  ];
  const [[x1, y1, , h1], [x2, y2, , h2]] = bars.map(([, ...n]) => n.map(Number)) as [number[], number[]];
  assert.ok(x2! > x1! && Math.abs(h2! / h1! - 2) < 0.01);
  assert.ok(Math.abs(y1! + h1! - (y2! + h2!)) < 0.2);
});

test("a chart without data is an empty chart", () => {
  for (const series of [[], [{ name: "none", points: [] }]]) {
    const svg = drawChart({ ...CHART, series });
    assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
  }
});

test("a file brings its own look and keeps to the reader's mode", () => {
  const svg = chartFile(CHART);
  assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  assert.match(svg, /<style>[\s\S]*prefers-color-scheme:dark/);
  assert.doesNotMatch(drawChart(CHART), /<style>/);
});
