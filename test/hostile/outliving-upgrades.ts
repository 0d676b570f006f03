/**
 * WebSockets that outlive their visit: as many as one pass opens, silent ones until the visit has expired, and ones whose visitor
 * has left and keeps talking. A visitor who hears the site after that takes someone else's place.
 */
import net, { type Socket } from "node:net";
import { ask } from "../../src/visitor/ask.ts";
import type { Attack, Target } from "./attack.ts";
import { CONNECTIONS, CROWDED, crowdOut } from "./crowding.ts";

const UPGRADE = "Connection: Upgrade\r\nUpgrade: echo\r\n\r\n";
const SOCKETS = { small: 12, full: 100 } as const;
/** Far longer than a visit and its grace take, however busy the machine is. */
const PATIENCE_MS = 120_000;

export const outlivingUpgrades: Attack = {
  name: "outliving upgrades",
  about: "stay on the site by a WebSocket that outlives the visit",
  ...CROWDED,
  otherRooms: {
    side: { path: "/side", totalActiveUsers: 10, sessionDuration: "6s", connectionGrace: "1s" },
    stay: { path: "/stay", totalActiveUsers: 10, connectionGrace: "1s" },
  },
  async run(target, scale) {
    const silent = await openAll(target, "/side", SOCKETS[scale]);
    const left = await openAll(target, "/stay", SOCKETS[scale]);
    const talk = setInterval(() => left.sockets.forEach(say), 100);
    await ask(target, { method: "POST", path: "/.fairgate/stay/leave", headers: { cookie: left.cookie } });
    const living = await stillOpenOf([...silent.sockets, ...left.sockets]);
    clearInterval(talk);
    const front = { name: "upgrades", path: "", cookie: "", from: () => "127.0.0.1" };
    const send = () => `GET / HTTP/1.1\r\nHost: a\r\n${UPGRADE}`;
    const keptOut = await crowdOut(target, { scale, front, send, drip: "x" });
    const examples = [...living, ...keptOut];
    const attempts = 2 * SOCKETS[scale] + CONNECTIONS[scale];
    return { attempts, through: examples.length, examples: examples.slice(0, 3) };
  },
};

async function openAll(
  target: Target,
  path: string,
  count: number,
): Promise<{ cookie: string; sockets: Socket[] }> {
  const cookie = (await ask(target, { path, headers: { accept: "text/html" } })).cookie;
  if (cookie === null) throw new Error("the attacker got no pass");
  const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nCookie: ${cookie}\r\n${UPGRADE}`;
  const opened = Array.from({ length: count }, () => openOne(target, head));
  return { cookie, sockets: await Promise.all(opened) };
}

function openOne({ host, port }: Target, head: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, host);
    socket.once("data", (answer) => {
      if (String(answer).startsWith("HTTP/1.1 101 ")) resolve(socket);
      else reject(new Error(`no upgrade: ${answer}`));
    });
    socket.on("error", () => {});
    socket.write(head);
  });
}

function say(socket: Socket): void {
  if (socket.writable) socket.write("still here");
}

/** Waits until all of them are closed. */
async function stillOpenOf(sockets: readonly Socket[]): Promise<string[]> {
  const until = Date.now() + PATIENCE_MS;
  while (sockets.some(({ destroyed }) => !destroyed) && Date.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 50));
  return sockets.flatMap((socket, n) => (socket.destroyed ? [] : [`socket ${n} outlived its visit`]));
}
