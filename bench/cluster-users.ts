/**
 * Users as in section 6.2 of the paper that the cluster is from (Koopmans 2024): each joins at a random node, stays with it,
 * waits for their turn and gets a pass. They then leave, which the paper's users did not have to, to free their slot. A fixed
 * number is under way at once: as one leaves, the next joins.
 *
 * Over lines (`servers/cluster-node.ts`) or over HTTP. Over lines, turns are pushed. Over HTTP they are either pushed, on an
 * event stream for each waiting user, or polled for as the paper's users do, who ask again after the number of seconds they are
 * told.
 */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, Client } from "./client.ts";
import { LineLink } from "./line-link.ts";

const ALL_THROUGH_MAX_MS = 100_000;

/** One user, from joining to leaving. True when they had to wait. */
export type Journey = () => Promise<boolean>;

export interface Users {
  journey: Journey;
  close(): void;
}

export interface Passage {
  readonly perSecond: number;
  /** Share of users who waited in line. */
  readonly waited: number;
}

/** Lets `count` users through. */
export async function letThrough(
  { journey }: Users,
  { users, atOnce }: { readonly users: number; readonly atOnce: number },
): Promise<Passage> {
  let started = 0;
  let waited = 0;
  const startAt = performance.now();
  const oneAfterTheOther = async () => {
    while (started++ < users) if (await journey()) waited++;
  };
  const tooLate = new AbortController();
  await Promise.race([
    Promise.all(Array.from({ length: atOnce }, oneAfterTheOther)),
    sleep(ALL_THROUGH_MAX_MS, null, { signal: tooLate.signal }).then(() => {
      throw new Error(`after ${ALL_THROUGH_MAX_MS / 1_000} s not all ${users} users are through`);
    }),
  ]).finally(() => tooLate.abort());
  const seconds = (performance.now() - startAt) / 1_000;
  return { perSecond: users / seconds, waited: waited / users };
}

/** Users who speak lines. */
export async function usersByLine(ports: readonly number[]): Promise<Users> {
  const boxes = new Map<string, Letterbox>();
  const links = (await Promise.all(ports.map(open))).map(
    (socket) =>
      new LineLink(socket, ([what = "", user = "", shown = ""]) => boxes.get(user)?.put([what, shown])),
  );
  let users = 0;
  return {
    journey: async () => {
      const user = String(users++);
      const node = oneOf(links);
      const box = new Letterbox();
      boxes.set(user, box);
      node.say(`join ${user}`);
      let [what, shown] = await box.take();
      const hasWaited = what === "wait";
      if (hasWaited) {
        await box.take();
        node.say(`enter ${user} ${shown}`);
        [what, shown] = await box.take();
      }
      if (what !== "pass") throw new Error(`a user was told ${what} ${shown}`);
      boxes.delete(user);
      node.say(`leave ${user} ${shown}`);
      return hasWaited;
    },
    close: () => {
      for (const link of links) link.close();
    },
  };
}

/** A node's message to one user: its kind, and a ticket, a pass or the reason. */
type Word = readonly [what: string, shown: string];

/** Keeps messages that came before they are asked for. */
class Letterbox {
  readonly #words: Word[] = [];
  #take: ((word: Word) => void) | null = null;

  put(word: Word): void {
    const take = this.#take;
    this.#take = null;
    if (take) take(word);
    else this.#words.push(word);
  }

  take(): Promise<Word> {
    const word = this.#words.shift();
    if (word) return Promise.resolve(word);
    return new Promise((resolve) => {
      this.#take = resolve;
    });
  }
}

interface HttpNode {
  readonly port: number;
  readonly client: Client;
}

/** A place in the line: its cookie, and what a node last said of it. */
interface Standing {
  readonly cookie: string;
  readonly told: Told;
}

interface Told {
  readonly status: "waiting" | "admitted" | "entered" | "expired";
  readonly nextCheckInMs: number;
}

/** Waits until a place has its turn. */
type WaitForTurn = (node: HttpNode, standing: Standing) => Promise<void>;

/** Users who speak HTTP over this number of connections to each node, and hear of their turn on an event stream of their own. */
export function usersByHttp(ports: readonly number[], connections: number): Promise<Users> {
  return httpUsers(ports, connections, ({ port }, { cookie }) => turnOf(port, cookie));
}

/** The same, but they check in when they are told to, until it is their turn. */
export function usersByPolling(ports: readonly number[], connections: number): Promise<Users> {
  return httpUsers(ports, connections, async ({ client }, { cookie, told: first }) => {
    for (let told = first; told.status !== "admitted"; ) {
      if (told.status !== "waiting") throw new Error(`a user was told ${told.status}`);
      await sleep(told.nextCheckInMs);
      told = toldIn(await client.ask("POST", "/.fairgate/main/check-in", cookie));
    }
  });
}

async function httpUsers(
  ports: readonly number[],
  connections: number,
  waitForTurn: WaitForTurn,
): Promise<Users> {
  const nodes = await Promise.all(
    ports.map(async (port) => ({ port, client: await Client.open(port, connections) })),
  );
  return {
    journey: async () => {
      const node = oneOf(nodes);
      const { client } = node;
      let answer = await client.ask("POST", "/.fairgate/main/join", null);
      let told = toldIn(answer);
      let cookie = answer.cookie!;
      const hasWaited = told.status !== "entered";
      // On an overloaded machine a turn may have gone to another user by the time it is used.
      while (told.status !== "entered") {
        await waitForTurn(node, { cookie, told });
        answer = await client.ask("POST", "/.fairgate/main/enter", cookie);
        told = toldIn(answer);
        if (told.status === "expired") throw new Error("a user was told that their place has expired");
        cookie = answer.cookie ?? cookie;
      }
      await client.ask("POST", "/.fairgate/main/leave", cookie);
      return hasWaited;
    },
    close: () => {
      for (const { client } of nodes) client.close();
    },
  };
}

function toldIn({ body }: Answer): Told {
  return JSON.parse(body);
}

/** Waits for the turn on an event stream. */
async function turnOf(port: number, cookie: string): Promise<void> {
  const socket = await open(port);
  const head = `GET /.fairgate/main/events HTTP/1.1\r\nHost: shop.example\r\nCookie: ${cookie}\r\n\r\n`;
  let text = "";
  await new Promise<void>((resolve, reject) => {
    socket.setEncoding("latin1");
    socket.on("data", (more: string) => {
      text += more;
      if (text.includes("event: turn")) resolve();
    });
    socket.once("close", () => reject(new Error(`an event stream ended after ${text.slice(0, 200)}`)));
    socket.write(head);
  });
  socket.destroy();
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

function oneOf<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)]!;
}
