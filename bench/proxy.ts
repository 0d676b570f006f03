/**
 * What the waiting room costs those who are on the site: small pages through the whole gateway with a valid pass, beside the same
 * proxy code with no waiting room at all; and what an access log costs on top. The origin answers at once, so that only the proxy
 * is measured.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, measurePair, row } from "./bench.ts";
import { startChild } from "./child.ts";
import { load } from "./load.ts";

const CONNECTIONS = 64;
/** Many short slices, so that both sides get their share of the machine's fast moments. */
const SLICE_MS = 400;
const PAGE = Buffer.from(`<!doctype html><title>A page</title>${"<p>Some text.</p>".repeat(100)}`);

interface Ready {
  readonly port: number;
  readonly tokens: readonly string[];
}

type Measure = () => Promise<number>;

export const proxyBench: Bench = {
  name: "proxy",
  about:
    "small pages a second through one process with a valid pass, beside the same proxy without a waiting room",
  async run({ isQuick, progress }) {
    const origin = createServer((_request, response) => {
      response.writeHead(200, [
        "Content-Type",
        "text/html; charset=utf-8",
        "Content-Length",
        String(PAGE.length),
      ]);
      response.end(PAGE);
    });
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
    const request = (tokens: readonly string[]) => {
      const requests = tokens.map(pageRequest);
      return (connection: number) => requests[connection % requests.length]!;
    };
    const run =
      ({ port, tokens }: Ready) =>
      () =>
        load({ port, connections: CONNECTIONS, milliseconds: SLICE_MS, request: request(tokens) });
    const folder = mkdtempSync(join(tmpdir(), "fairgate-bench-"));
    const accessFile = join(folder, "access.log");
    let start = 0;
    /** Two servers beside each other. */
    const measure = (value: readonly string[], baseline: readonly string[]) =>
      measurePair(isQuick ? 1 : 5, isQuick ? 6 : 8, async () => {
        progress(`start ${++start}`);
        const servers = await Promise.all(
          [value, baseline].map(([kind = "", ...more]) =>
            startChild<Ready>("proxy-server", [kind, address, ...more]),
          ),
        );
        const [first, second] = servers.map(({ ready }) => run(ready)) as [Measure, Measure];
        return {
          value: first,
          baseline: second,
          stop: async () => {
            await Promise.all(servers.map((server) => server.stop()));
          },
        };
      });
    const room = await measure(["room"], ["bare"]);
    const logged = await measure(["room", accessFile], ["room"]);
    origin.closeAllConnections();
    origin.close();
    rmSync(folder, { recursive: true });
    return [
      row({
        name: "small page with a valid pass",
        unit: "requests/s",
        ...room,
        goal: { of: "ratio", atLeast: 0.85 },
      }),
      row({
        name: "the same with an access log to a file, beside none",
        unit: "requests/s",
        ...logged,
        goal: { of: "ratio", atLeast: 0.95 },
      }),
    ];
  },
};

/** Both servers get the same bytes; the bare proxy also strips our cookie, since that is part of its job. */
function pageRequest(token: string): Buffer {
  return Buffer.from(
    `GET /page?id=7 HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\r\nAccept: text/html,*/*;q=0.8\r\nAccept-Language: en\r\nAccept-Encoding: gzip, br\r\nCookie: theme=dark; fairgate_main=${token}\r\n\r\n`,
  );
}
