/**
 * Every attack of `test/hostile` in full, one line each: what it tried and got, how long honest visitors waited for a page before
 * and during it, what it cost them, and the gateway's memory. The same gateway, site and visitors serve for before and during, so
 * the ratio of the two is due to the attack.
 *
 * "Beside" is the same while another gateway on this machine suffers the same attack: how much of the ratio is due to attacker,
 * site and gateway sharing the machine's cores. It is for information and measured only for single attacks (`--only`), since it
 * doubles the time; the goal is for the ratio to before.
 */
import { ensurePrograms } from "../scripts/debian.ts";
import { ORIGINS } from "../scripts/origins.ts";
import type { Scale } from "../test/hostile/attack.ts";
import { ATTACKS } from "../test/hostile/attacks.ts";
import { besiege, type Siege } from "../test/hostile/siege.ts";
import { aligned, type Bench, type Row, row } from "./bench.ts";

const NONE = { of: "value", atMost: 0 } as const;
/** Honest visitors' slowest pages under attack, beside those of the same run without it. */
const P99_RATIO = { of: "ratio", atMost: 5 } as const;
const MEGABYTE = 2 ** 20;

const THROUGH = "got through";
const LOST = "pages and places lost";
const P50 = "honest p50";
const P99 = "honest p99";
const SLOWEST = "honest slowest";
const P99_BESIDE = "honest p99, attack beside";
const MEMORY = "memory at most";
const ATTEMPTS = "attempts";

export const hostileBench: Bench = {
  name: "hostile",
  about: "attacks over real sockets, with honest visitors on the site and in the line; every process its own",
  parts: ATTACKS.map(({ name }) => name),
  async run({ isQuick, progress, isChosen }) {
    ensurePrograms(ORIGINS);
    const scale: Scale = isQuick ? "small" : "full";
    const rows: Row[] = [];
    const attacks = ATTACKS.filter(({ name }) => isChosen(name));
    const besideToo = !isQuick && attacks.length < ATTACKS.length;
    for (const attack of attacks) {
      progress(attack.name);
      const siege = await besiege(attack, scale, { besideToo });
      for (const line of [...(siege.examples ?? []), ...siege.complaints].slice(0, 5))
        console.error(`  ${attack.name}: ${line}`);
      const measured = rowsOf(attack.name, siege);
      // A full run takes long: each line is shown as soon as it is known.
      if (!isQuick) console.log(attackTable(measured));
      rows.push(...measured);
    }
    return rows;
  },
  table: attackTable,
};

function rowsOf(attack: string, siege: Siege): Row[] {
  const { before, beside, during, memoryBefore, memoryPeak } = siege;
  const pages = (name: string, value: number, baseline: number, goal?: typeof P99_RATIO) =>
    row({ name: `${attack}: ${name}`, unit: "ms", value, baseline, ...(goal ? { goal } : {}) });
  return [
    row({ name: `${attack}: ${ATTEMPTS}`, unit: "", value: siege.attempts }),
    row({ name: `${attack}: ${THROUGH}`, unit: "", value: siege.through, goal: NONE }),
    row({ name: `${attack}: ${LOST}`, unit: "", value: siege.complaints.length, goal: NONE }),
    pages(P50, during.p50, before.p50),
    pages(P99, during.p99, before.p99, P99_RATIO),
    pages(SLOWEST, during.slowest, before.slowest),
    ...(beside ? [pages(P99_BESIDE, beside.p99, before.p99)] : []),
    row({
      name: `${attack}: ${MEMORY}`,
      unit: "MB",
      value: memoryPeak / MEGABYTE,
      baseline: memoryBefore / MEGABYTE,
    }),
  ];
}

/** One line an attack. */
function attackTable(rows: readonly Row[]): string {
  const attacks = Map.groupBy(rows, ({ name }) => name.slice(0, name.lastIndexOf(":")));
  const header = [
    "",
    ATTEMPTS,
    THROUGH,
    "lost",
    "p50 ms",
    "during",
    "p99 ms",
    "beside",
    "during",
    "ratio",
    "slowest",
    "MB",
    "peak",
    "",
  ];
  const body = [...attacks].map(([attack, measured]) => {
    const find = (what: string) => measured.find(({ name }) => name.endsWith(`: ${what}`));
    const of = (what: string) => find(what)!;
    const [p50, p99, memory] = [of(P50), of(P99), of(MEMORY)];
    const isHeld = measured.every(({ ok }) => ok !== false);
    return [
      attack,
      of(ATTEMPTS).value.toLocaleString("en"),
      String(of(THROUGH).value),
      String(of(LOST).value),
      ...[p50.baseline!, p50.value, p99.baseline!].map((ms) => ms.toFixed(1)),
      find(P99_BESIDE)?.value.toFixed(1) ?? "",
      p99.value.toFixed(1),
      p99.ratio!.toFixed(2),
      of(SLOWEST).value.toFixed(0),
      ...[memory.baseline!, memory.value].map((bytes) => bytes.toFixed(0)),
      isHeld ? "held" : "MISSED",
    ];
  });
  return aligned([header, ...body], (column) => column > 0 && column < header.length - 1);
}
