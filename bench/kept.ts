/**
 * What keeping the line on disk costs: board and check-in with a data directory beside the same without one, and how
 * long a restart takes with a million waiting.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, measurePair, median, type Row, row } from "./bench.ts";
import { startChild } from "./child.ts";
import { boardRequest, checkInRequests, type Ready } from "./gateway.ts";
import { load } from "./load.ts";

const CONNECTIONS = 64;
const SLICE_MS = 300;
const WAITING = 1_000_000;
const RESTARTS = 5;
const RESTART_SECONDS_MAX = 5;

export const keptBench: Bench = {
  name: "kept",
  about: "a gateway that keeps its line on disk, beside one that does not; and its restart",
  async run({ isQuick, progress }) {
    const rows: Row[] = [];
    for (const [name, requests] of [
      ["board", () => boardRequest],
      ["check-in, answered by the engine", checkInRequests],
    ] as const) {
      progress(name);
      rows.push(await measure(name, requests, isQuick));
    }
    progress("restart");
    return [...rows, ...(await restarts(isQuick ? WAITING / 10 : WAITING, isQuick ? 1 : RESTARTS))];
  },
};

async function measure(
  name: string,
  requests: (tokens: readonly string[]) => (connection: number) => Buffer,
  isQuick: boolean,
): Promise<Row> {
  const found = await measurePair(isQuick ? 1 : 4, isQuick ? 6 : 8, async () => {
    const directory = mkdtempSync(join(tmpdir(), "fairgate-bench-"));
    const kept = await startChild<Ready>("gateway-server", ["eager", "10000", directory]);
    const unkept = await startChild<Ready>("gateway-server", ["eager", "10000"]);
    const run =
      ({ port, tokens }: Ready) =>
      () =>
        load({ port, connections: CONNECTIONS, milliseconds: SLICE_MS, request: requests(tokens) });
    return {
      value: run(kept.ready),
      baseline: run(unkept.ready),
      stop: async () => {
        await Promise.all([kept.stop(), unkept.stop()]);
        rmSync(directory, { recursive: true });
      },
    };
  });
  return row({ name, unit: "requests/s", ...found, goal: { of: "ratio", atLeast: 0.9 } });
}

interface Restart {
  readonly seconds: number;
  readonly waiting: number;
}

/** Fills a room, ends the process with -9, and opens the room again in a new one. */
async function restarts(waiting: number, times: number): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), "fairgate-bench-"));
  try {
    const filled = await startChild<Restart>("restart-server", [directory, String(waiting)]);
    await filled.stop();
    const seconds: number[] = [];
    for (let i = 0; i < times; i++) {
      const again = await startChild<Restart>("restart-server", [directory, "0"]);
      await again.stop();
      if (again.ready.waiting !== waiting)
        throw new Error(`${again.ready.waiting} of ${waiting} were waiting after the restart`);
      seconds.push(again.ready.seconds);
    }
    return [
      row({
        name: `restart with ${waiting.toLocaleString("en")} waiting`,
        unit: "s",
        value: median(seconds),
        goal: { of: "value", atMost: RESTART_SECONDS_MAX },
      }),
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
}
