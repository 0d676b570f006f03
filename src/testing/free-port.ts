/**
 * Ports for processes that restart at the same port. They are below the kernel's range for outgoing connections: a client that
 * dials a dead node could be given its port, and connect to itself. So are the ports 10,000 above, for the bus of a Redis
 * Cluster. Browsers block none of them (they block 10080).
 *
 * Several tests run at the same time, and a port that was given out is not listened on at once. So each test reserves a block of
 * ports by listening on the first of them.
 */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

const PORT_FIRST = 10_100;
const BLOCKS = 38;
const BLOCK_PORTS = 150;

interface Block {
  readonly first: number;
  /** Listens on the first. */
  readonly guard: Server;
  given: number;
}

let own: Promise<Block> | null = null;

/** A free port of 127.0.0.1, given out only here, and again only after all others of its block. */
export async function freePort(): Promise<number> {
  own ??= findBlock();
  const block = await own;
  for (let tries = 1; tries < BLOCK_PORTS; tries++) {
    block.given = (block.given % (BLOCK_PORTS - 1)) + 1;
    // Another call in this process may run while this port is tried.
    const port = block.first + block.given;
    const server = await listening(port);
    if (!server) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error(`all ${BLOCK_PORTS} ports from ${block.first} on are in use`);
}

async function findBlock(): Promise<Block> {
  const start = randomInt(BLOCKS);
  for (let i = 0; i < BLOCKS; i++) {
    const first = PORT_FIRST + ((start + i) % BLOCKS) * BLOCK_PORTS;
    const guard = await listening(first);
    if (guard) return { first, guard: guard.unref(), given: 0 };
  }
  throw new Error(`no block of ports is free from ${PORT_FIRST} on`);
}

/** null: another process has it. */
async function listening(port: number): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return server;
  } catch {
    return null;
  }
}
