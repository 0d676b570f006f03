/**
 * Ports for processes that come back to where they were. They are below the range from which the kernel gives ports to
 * outgoing connections: whoever dials a node that is dead could be given its port, and talk to themselves.
 */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

const PORT_FIRST = 10_000;
const PORT_COUNT = 2_000;

let nextPort = randomInt(PORT_COUNT);

/** A port of 127.0.0.1 that nobody listens on, and that was not given out here before. */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = PORT_FIRST + (nextPort++ % PORT_COUNT);
    if (await isFree(port)) return port;
    if (tries === PORT_COUNT) throw new Error(`no port is free from ${PORT_FIRST} on`);
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
