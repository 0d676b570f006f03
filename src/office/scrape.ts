/**
 * Metrics that are filled at every scrape. Engine and gateway keep the numbers; prom-client only prints them. All metrics of
 * a scrape are filled synchronously from one snapshot, so its numbers are consistent, and two scrapes never mix.
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ResponseTimes } from "./desk.ts";
import type { Snapshot } from "./snapshot.ts";

export interface Scrape {
  readonly registry: Registry;
  /** The snapshot of the scrape under way. */
  snapshot(): Snapshot;
}

export interface Sample {
  readonly labels: Record<string, string>;
  readonly value: number;
}

export interface Filled {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly samples: (snapshot: Snapshot) => readonly Sample[];
}

/** A number that goes up and down. */
export function addGauge({ registry, snapshot }: Scrape, { samples, ...metric }: Filled): void {
  new Gauge({
    ...metric,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, value } of samples(snapshot())) this.set(labels, value);
    },
  });
}

/** A number that only goes up, until its owner restarts. */
export function addCounter({ registry, snapshot }: Scrape, { samples, ...metric }: Filled): void {
  new Counter({
    ...metric,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, value } of samples(snapshot())) this.inc(labels, value);
    },
  });
}

/** A histogram kept elsewhere. */
export function addHistogram(
  { registry, snapshot }: Scrape,
  metric: { name: string; help: string; times: (snapshot: Snapshot) => ResponseTimes },
): void {
  const { times, ...about } = metric;
  new KeptHistogram({ ...about, registers: [registry] }, () => times(snapshot()));
}

type Printed = Awaited<ReturnType<Histogram["get"]>>;

/** prom-client's histogram can only observe; this one prints what was observed elsewhere. */
class KeptHistogram extends Histogram {
  readonly #about: { readonly name: string; readonly help: string };
  readonly #times: () => ResponseTimes;

  constructor(about: { name: string; help: string; registers: Registry[] }, times: () => ResponseTimes) {
    super(about);
    this.#about = about;
    this.#times = times;
  }

  override async get(): Promise<Printed> {
    const { name, help } = this.#about;
    // The declared enum does not exist at run time; the registry prints the word.
    const type = "histogram" as unknown as Printed["type"];
    return { name, help, type, aggregator: "sum", collect() {}, values: values(name, this.#times()) };
  }

  /** The registry prefers this to `get`. */
  getForPromString(): Promise<Printed> {
    return this.get();
  }
}

function values(name: string, { counts, boundsSeconds, sum, total }: ResponseTimes) {
  let upTo = 0;
  const buckets = boundsSeconds.map((bound, index) => {
    upTo += counts[index] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le: String(bound) }, value: upTo };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { le: "+Inf" }, value: total },
    { metricName: `${name}_sum`, labels: {}, value: sum },
    { metricName: `${name}_count`, labels: {}, value: total },
  ];
}
