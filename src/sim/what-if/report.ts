/**
 * The answer as one self-contained HTML file: no script, no font and no picture from elsewhere, so it can be mailed, printed and
 * kept. Light or dark as the reader prefers, one column on a phone, and everything in a chart is also in a table. All text is
 * escaped: a room's name is user input.
 */
import { CHART_STYLE, drawChart } from "../chart.ts";
import { escapeMarkup } from "../markup.ts";
import { factsOf, inputsOf, questionOf, type Section } from "./facts.ts";
import type { Findings } from "./findings.ts";
import { type ReportFigure, reportFigures } from "./report-charts.ts";
import { limitOf, verdictOf } from "./verdict.ts";
import { countText, spanWords } from "./words.ts";

/** Nothing may be loaded or run, whatever is in the page. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

export function whatIfReport(findings: Findings): string {
  const question = questionOf(findings);
  const limit = limitOf(findings);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="color-scheme" content="light dark">
<title>${escapeMarkup(question)}</title>
<style>
${STYLE}
${CHART_STYLE}
</style>
</head>
<body>
<main>
<header>
<p class="kicker">Fairgate what-if</p>
<h1>${escapeMarkup(question)}</h1>
<p class="verdict">${escapeMarkup(verdictOf(findings))}</p>
${limit === null ? "" : `<p class="limit">${escapeMarkup(limit)}</p>`}
</header>
${drawTiles(findings)}
<section aria-labelledby="charts">
<h2 id="charts">Over time</h2>
<div class="figures">
${reportFigures(findings).map(drawFigure).join("\n")}
</div>
</section>
<section aria-labelledby="numbers">
<h2 id="numbers">All numbers</h2>
<div class="tables">
${factsOf(findings).map(drawSection).join("\n")}
</div>
</section>
<section aria-labelledby="inputs">
<h2 id="inputs">What was played</h2>
<div class="tables">
${inputsOf(findings).map(drawSection).join("\n")}
</div>
${drawNotes(findings)}
</section>
</main>
</body>
</html>
`;
}

function drawTiles({ waits, line }: Findings): string {
  const span = (ms: number | null) => (ms === null ? "–" : spanWords(ms));
  const tiles: [string, string][] = [
    ["half wait at most", span(waits.p50Ms)],
    ["95% wait at most", span(waits.p95Ms)],
    ["longest line", countText(line.longest)],
    ["last one in after", span(line.lastEnteredMs)],
  ];
  const drawn = tiles.map(([label, value]) => `<div><dt>${label}</dt><dd>${escapeMarkup(value)}</dd></div>`);
  return `<dl class="tiles">\n${drawn.join("\n")}\n</dl>`;
}

function drawFigure({ chart, caption, columns, rows }: ReportFigure): string {
  return `<figure>
<h3>${escapeMarkup(chart.title)}</h3>
${drawChart(chart)}
<figcaption>${escapeMarkup(caption)}</figcaption>
<details><summary>As a table<span class="hidden">: ${escapeMarkup(chart.title)}</span></summary>
<table><thead><tr>${columns.map((name) => `<th scope="col">${escapeMarkup(name)}</th>`).join("")}</tr></thead>
<tbody>
${rows.map((row) => `<tr>${row.map(drawCell).join("")}</tr>`).join("\n")}
</tbody></table></details>
</figure>`;
}

function drawCell(value: string, index: number): string {
  const text = escapeMarkup(value);
  return index === 0 ? `<th scope="row">${text}</th>` : `<td>${text}</td>`;
}

function drawSection({ title, rows }: Section): string {
  const drawn = rows.map(
    ([label, value]) => `<tr><th scope="row">${escapeMarkup(label)}</th><td>${escapeMarkup(value)}</td></tr>`,
  );
  return `<table class="facts"><caption>${escapeMarkup(title)}</caption><tbody>\n${drawn.join("\n")}\n</tbody></table>`;
}

const PLAYED: readonly string[] = [
  "Visitors join, check in when they are told to, notice their turn within four seconds and enter. They use the site for a time of their own, many briefly and a few for long, and then let their pass run out, unless they leave explicitly.",
  "Visitors who give up close the page without leaving the line; the room notices by a missed check-in. They do not come back.",
  "The rules are those of the real room, run by Fairgate's own memory engine in virtual time. The load on the site is not simulated.",
];

function drawNotes({ notes }: Findings): string {
  const drawn = [...notes, ...PLAYED].map((note) => `<li>${escapeMarkup(note)}</li>`);
  return `<ul class="notes">\n${drawn.join("\n")}\n</ul>`;
}

const STYLE = `:root{--page:#f4f6f8;--card:#fff;--text:#1c2430;--soft:#566071;--edge:#dde2e9;--strong:#1f5fbf}
@media(prefers-color-scheme:dark){:root{--page:#0e1217;--card:#151a21;--text:#e6eaf0;--soft:#a3adba;--edge:#2c343f;--strong:#7db0ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:1120px;margin:0 auto;padding:24px 16px 48px}
.kicker{margin:0;color:var(--strong);font-weight:600;font-size:14px}
h1{margin:4px 0 16px;font-size:clamp(22px,4vw,30px);line-height:1.25;overflow-wrap:anywhere}
h2{margin:36px 0 12px;font-size:20px}
h3{margin:0 0 8px;font-size:16px}
.verdict{margin:0 0 10px;font-size:clamp(17px,2.4vw,20px);max-width:46em}
.limit{margin:0;color:var(--soft);max-width:52em}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:24px 0 0}
.tiles div,figure,.facts{background:var(--card);border:1px solid var(--edge);border-radius:10px}
.tiles div{padding:12px 16px;display:flex;flex-direction:column-reverse}
.tiles dt{color:var(--soft);font-size:14px}
.tiles dd{margin:0;font-size:24px;font-weight:650;font-variant-numeric:tabular-nums}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(440px,100%),1fr));gap:16px}
figure{margin:0;padding:16px;min-width:0}
.chart{display:block;width:100%;height:auto}
figcaption{margin-top:8px;color:var(--soft);font-size:14px}
details{margin-top:8px;font-size:14px}
summary{cursor:pointer;color:var(--strong);width:fit-content}
details table{width:100%;margin-top:8px}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:5px 8px;text-align:left;font-weight:400;vertical-align:top;border-top:1px solid var(--edge)}
thead th{font-weight:600;border-top:0}
details td,details thead th+th{text-align:right}
.tables{columns:2 420px;column-gap:16px}
.facts{display:block;break-inside:avoid;margin-bottom:16px;padding:12px 16px;font-size:15px}
.facts tbody{display:table;width:100%}
.facts tr:first-child>*{border-top:0}
.facts th{color:var(--soft);padding-left:0}
.facts td{text-align:right;padding-right:0;overflow-wrap:anywhere}
caption{font-weight:600;text-align:left;display:block}
.notes{color:var(--soft);font-size:14px;max-width:60em;padding-left:20px}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
@media(max-width:480px){main{padding:16px 10px 32px}figure{padding:12px 10px}}
@media print{body{background:#fff}figure{break-inside:avoid}}`;
