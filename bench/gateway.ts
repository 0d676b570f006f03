/**
 * What waiting visitors cost: board and check-in, beside a bare `node:http` server that answers the same bytes without any work.
 * Goals are from the product's promise: a gateway is at most a tenth slower than nothing.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Bench, type Goal, measurePair, type Row, row } from "./bench.ts";
import { startChild } from "./child.ts";
import { load } from "./load.ts";

const CONNECTIONS = 64;
/** Many short slices, so that both sides get their share of the machine's fast moments. */
const SLICE_MS = 300;

/** What a gateway server reports when it is ready. */
export interface Ready {
  readonly port: number;
  readonly tokens: readonly string[];
}

interface Case {
  readonly name: string;
  readonly server: "eager" | "early" | "cold";
  readonly request: (tokens: readonly string[]) => (connection: number, n: number) => Buffer;
  readonly goal?: Goal;
}

const ratioAtLeast = (atLeast: number): Goal => ({ of: "ratio", atLeast });
const headers = (cookie: string) =>
  `Host: shop.example\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\r\nAccept: application/json\r\nAccept-Language: en\r\nAccept-Encoding: gzip, br\r\n${cookie}\r\n`;
const checkIn = (token: string) =>
  Buffer.from(
    `POST /.fairgate/main/check-in HTTP/1.1\r\nContent-Length: 0\r\n${headers(`Cookie: theme=dark; fairgate_main=${token}\r\n`)}`,
  );

const BOARD = Buffer.from(`GET /.fairgate/main/board HTTP/1.1\r\n${headers("")}`);

export const boardRequest = () => BOARD;

/** Each connection is one visitor, who comes back with the same cookie. */
export function checkInRequests(tokens: readonly string[]): (connection: number) => Buffer {
  const requests = tokens.map(checkIn);
  return (connection) => requests[connection % requests.length]!;
}

const CASES: readonly Case[] = [
  {
    name: "board",
    server: "early",
    request: () => boardRequest,
    goal: ratioAtLeast(0.95),
  },
  {
    name: "check-in, answered by the engine",
    server: "eager",
    request: checkInRequests,
    goal: ratioAtLeast(0.9),
  },
  {
    name: "check-in that comes early, answered from memory",
    server: "early",
    request: checkInRequests,
    goal: ratioAtLeast(0.9),
  },
  {
    name: "check-in with a token never seen before (no cache)",
    server: "cold",
    request: (tokens) => {
      let at = 0;
      return () => checkIn(tokens[at++ % tokens.length]!);
    },
  },
];

export const gatewayBench: Bench = {
  name: "gateway",
  about: "requests a second of one process, beside a bare node:http server answering the same bytes",
  async run({ isQuick, progress }) {
    const rows: Row[] = [];
    for (const subject of CASES) {
      progress(subject.name);
      rows.push(await measure(subject, isQuick));
    }
    return [...rows, ...ownParts(rows)];
  },
};

async function measure({ name, server, request, goal }: Case, isQuick: boolean): Promise<Row> {
  const starts = isQuick ? 1 : 5;
  const found = await measurePair(starts, isQuick ? 6 : 8, async () => {
    const gateway = await startChild<Ready>("gateway-server", [server]);
    const requests = request(gateway.ready.tokens);
    const bare = await startChild<Ready>("bare-server", [
      await sampleAnswer(gateway.ready.port, requests(0, 0)),
    ]);
    const run = (port: number) => () =>
      load({ port, connections: CONNECTIONS, milliseconds: SLICE_MS, request: requests });
    return {
      value: run(gateway.ready.port),
      baseline: run(bare.ready.port),
      stop: async () => {
        await Promise.all([gateway.stop(), bare.stop()]);
      },
    };
  });
  return row({ name, unit: "requests/s", ...found, ...(goal ? { goal } : {}) });
}

/**
 * Where the time goes: what a check-in costs inside our own handler, beside the whole of a request to the bare server,
 * as a share of both together. Without the noise of sockets, so it is the steadier of the two measurements.
 */
function ownParts(rows: readonly Row[]): Row[] {
  const script = fileURLToPath(new URL("./servers/handler-cost.ts", import.meta.url));
  const costs = JSON.parse(execFileSync(process.execPath, [script], { encoding: "utf8" })) as {
    eagerNs: number;
    earlyNs: number;
  };
  const bareNs = 1e9 / Math.max(...rows.map((found) => found.baseline ?? 0));
  const part = (name: string, ns: number) => [
    row({ name: `${name}: our handler alone`, unit: "ns", value: ns }),
    row({
      name: `${name}: bare request / (bare request + our handler)`,
      unit: "share",
      value: bareNs / (bareNs + ns),
    }),
  ];
  return [...part("check-in, engine", costs.eagerNs), ...part("check-in, early", costs.earlyNs)];
}

/** A real answer of the gateway, for the bare server to repeat. */
async function sampleAnswer(port: number, request: Buffer): Promise<string> {
  const [line = "", ...rest] = request.toString().split("\r\n");
  const [method = "", path = ""] = line.split(" ");
  const sent = Object.fromEntries(
    rest.filter((text) => text.includes(": ")).map((text) => text.split(": ", 2) as [string, string]),
  );
  delete sent["Content-Length"];
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers: sent });
  const own = ["content-type", "cache-control", "x-content-type-options", "content-length"];
  const headers = own.flatMap((name) => [name, answer.headers.get(name) ?? ""]);
  return JSON.stringify({ status: answer.status, headers, body: await answer.text() });
}
