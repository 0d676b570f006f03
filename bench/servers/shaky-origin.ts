/**
 * One address of an origin, which breaks on command: `{ mode }` changes how it answers, and every message is answered with the
 * number of its requests so far. With a backlog of 1 and the process stopped, the system accepts a connection or two for it and
 * ignores all others.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Mode = "well" | "slow" | "resetting" | "failing";

const [backlog = "511", serviceMs = "20"] = process.argv.slice(2);
const BODY = Buffer.from("a page of the site");
const SLOWER = 10;
let mode: Mode = "well";
let requests = 0;

const server = createServer((request, response) => {
  requests++;
  const answer = (status: number) => {
    response.writeHead(status, ["Content-Length", String(BODY.length)]);
    response.end(BODY);
  };
  if (mode === "resetting") request.socket.resetAndDestroy();
  else if (mode === "failing") answer(500);
  else setTimeout(answer, Number(serviceMs) * (mode === "slow" ? SLOWER : 1), 200);
});

process.on("message", (told: { mode?: Mode }) => {
  mode = told.mode ?? mode;
  process.send?.({ requests });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: Number(backlog) }, () => {
  process.send?.({ port: (server.address() as AddressInfo).port, pid: process.pid });
});
