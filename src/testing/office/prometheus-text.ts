/**
 * A strict reader of Prometheus' text format, for tests: it throws on whatever a scraper would stumble over. Every
 * sample must belong to a family with help and type; no series may come twice; histograms must add up.
 */
import assert from "node:assert/strict";

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** By series as printed: `name{room="main"}`. */
  readonly samples: Map<string, number>;
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const SAMPLE = new RegExp(`^(${NAME})(\\{${LABEL}(?:,${LABEL})*\\})? (\\S+)$`);

/** The families by name. */
export function readMetrics(text: string): Map<string, Family> {
  assert.ok(text.endsWith("\n"), "the text ends with a line feed");
  const families = new Map<string, Family>();
  let help: RegExpExecArray | null = null;
  let family: Family | null = null;
  for (const line of text.split("\n").filter((candidate) => candidate !== "")) {
    if (line.startsWith("# HELP ")) help = new RegExp(`^# HELP (${NAME}) (.+)$`).exec(line);
    else if (line.startsWith("# TYPE ")) family = newFamily(line, help, families);
    else addSample(line, family);
  }
  for (const one of families.values()) if (one.type === "histogram") checkHistogram(one);
  return families;
}

function newFamily(line: string, help: RegExpExecArray | null, families: Map<string, Family>): Family {
  const match = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary)$`).exec(line);
  assert.ok(match, `not a type: ${line}`);
  assert.equal(help?.[1], match[1], `help comes before ${line}`);
  assert.ok(!families.has(match[1]!), `${match[1]} comes twice`);
  const family = { name: match[1]!, help: help![2]!, type: match[2]!, samples: new Map() };
  families.set(family.name, family);
  return family;
}

function addSample(line: string, family: Family | null): void {
  const match = SAMPLE.exec(line);
  assert.ok(match && family, `not a sample: ${line}`);
  const [, name, labels = "", written] = match;
  const suffixes = family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
  assert.ok(
    suffixes.some((suffix) => family.name + suffix === name),
    `${name} is not of ${family.name}`,
  );
  const value = Number(written!.replace("Inf", "Infinity").replace("Nan", "NaN"));
  assert.ok(!Number.isNaN(value) || written === "NaN" || written === "Nan", `not a number: ${line}`);
  assert.ok(!family.samples.has(name + labels), `${name}${labels} comes twice`);
  family.samples.set(name + labels, value);
}

function checkHistogram({ name, samples }: Family): void {
  const series = [...samples].filter(([key]) => key.startsWith(`${name}_bucket`));
  const groups = Map.groupBy(series, ([key]) => key.replace(/,?le="[^"]*",?/, ""));
  for (const buckets of groups.values()) {
    const counts = buckets.map(([, value]) => value);
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
      `${name} adds up`,
    );
    assert.match(buckets.at(-1)![0], /le="\+Inf"/);
  }
}
