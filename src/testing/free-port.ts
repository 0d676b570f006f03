/**
 * Ports for processes that come back to where they were. They are below the range from which the kernel gives ports to
 * outgoing connections: whoever dials a node that is dead could be given its port, and talk to themselves. So are those
 * 10,000 above, where the nodes of a Redis Cluster talk. None is among those that browsers refuse to ask (10080 is).
 *
 * Several tests run at the same time, and a port that was given out is not listened on at once. So each test has a block
 * of ports for itself, for as long as it listens on the first of them.
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

/** A port of 127.0.0.1 that nobody listens on and that is given out only here, and again only after all others of its block. */
export async function freePort(): Promise<number> {
  own ??= findBlock();
  const block = await own;
  for (let tries = 1; tries < BLOCK_PORTS; tries++) {
    block.given = (block.given % (BLOCK_PORTS - 1)) + 1;
    // Somebody else in this process may ask while this one is tried.
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

/** null: somebody else has it. */
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
