/**
 * The baseline: a bare `node:http` server that answers every request with the same bytes. The
 * answer (status, flat header list, body) comes as JSON in the first argument.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const { status, headers, body } = JSON.parse(process.argv[2]!) as {
  status: number;
  headers: string[];
  body: string;
};

const server = createServer((_request, response) => {
  response.writeHead(status, headers);
  // A Latin-1 string is the fastest form: Node puts head and body into one write.
  response.end(body, "latin1");
});
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
