/**
 * The network between the nodes of a cluster, which a test can cut as a firewall does that drops packets. Each node is known to
 * the others by an address of this network, so everything sent to it comes through here. All connections come from the same
 * machine, but the first bytes of each say in the clear which node opened it, so what a node sends to others can be cut as well.
 *
 *   node ──connects to another's address──▶ here ──is neither cut off?──▶ the port where the other listens
 *
 * A cut is silent: connections stay open, new ones are accepted, and nobody is told. Data that was on its way is delivered once
 * the network is mended, as a real one may do, long after the other side has given it up.
 */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "../../src/testing/free-port.ts";

const HOST = "127.0.0.1";
/** The first bytes have both addresses; anything longer is something else. */
const FIRST_WORDS_BYTES_MAX = 2_048;

/** One connection: which node opened it, if known, and to which. */
interface Link {
  readonly near: Socket;
  readonly far: Socket;
  readonly to: string;
  from: string | null;
  firstWords: Buffer;
}

export class Network {
  readonly #servers = new Map<string, Server>();
  readonly #links = new Set<Link>();
  readonly #cutOff = new Set<string>();

  /** An address of this network that leads to a port on this machine. */
  async address(port: number): Promise<string> {
    const own = await freePort();
    const address = `${HOST}:${own}`;
    const server = createServer((near) => this.#open(near, port, address));
    server.listen(own, HOST);
    await once(server, "listening");
    this.#servers.set(address, server);
    return address;
  }

  /** Drops everything from and to that node. */
  cutOff(address: string): void {
    this.#cutOff.add(address);
    for (const link of this.#links) if (this.#isCut(link)) silence(link);
  }

  /** Delivers everything again, starting with what was held back. */
  mend(): void {
    this.#cutOff.clear();
    for (const link of this.#links) this.#speak(link);
  }

  /** The process there has ended: connections are refused, as its machine would do. */
  async unplug(address: string): Promise<void> {
    const server = this.#servers.get(address);
    this.#servers.delete(address);
    for (const { near, far, to } of this.#links) {
      if (to !== address) continue;
      near.destroy();
      far.destroy();
    }
    if (server) await closed(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { near, far } of this.#links) {
      near.destroy();
      far.destroy();
    }
    await Promise.all([...this.#servers.values()].map(closed));
  }

  #open(near: Socket, port: number, to: string): void {
    const far = connect(port, HOST);
    const link: Link = { near, far, to, from: null, firstWords: Buffer.alloc(0) };
    this.#links.add(link);
    near.on("data", (piece) => this.#hear(link, piece as Buffer));
    far.on("data", (piece) => near.write(piece));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("end", () => other.end());
      // Each end follows the other; the nodes themselves see why.
      one.on("error", () => {});
      one.on("close", () => {
        other.destroySoon();
        this.#links.delete(link);
      });
    }
  }

  #hear(link: Link, piece: Buffer): void {
    if (link.from !== null) return void link.far.write(piece);
    link.firstWords = Buffer.concat([link.firstWords, piece]);
    link.from = dialler(link.firstWords);
    if (link.from === null) return;
    if (this.#isCut(link)) silence(link);
    else this.#speak(link);
  }

  #speak(link: Link): void {
    if (link.from === null) return;
    link.far.write(link.firstWords);
    link.firstWords = Buffer.alloc(0);
    link.near.resume();
    link.far.resume();
  }

  #isCut({ from, to }: Link): boolean {
    return this.#cutOff.has(to) || (from !== null && this.#cutOff.has(from));
  }
}

/** The node that opened a connection: the first of the two addresses in its first bytes; null while unknown. */
function dialler(firstWords: Buffer): string | null {
  const [from, to] = firstWords.toString("latin1").match(/127\.0\.0\.1:\d{5}/g) ?? [];
  if (from && to) return from;
  if (firstWords.length > FIRST_WORDS_BYTES_MAX)
    throw new Error("somebody dials without saying who they are");
  return null;
}

function silence({ near, far }: Link): void {
  near.pause();
  far.pause();
}

async function closed(server: Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  await once(server, "close");
}
