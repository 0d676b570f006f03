/**
 * One node of a cluster, as `fairgate run --cluster` has it but for HTTP and tokens: the cluster engine over the real
 * transport, with visitors who speak a line each over TCP.
 *
 *   visitor ─▶  j 17             joins                    node ─▶  w 17 TICKET    has a place
 *               e 17 TICKET      uses their turn                   t 17           it is their turn
 *               l 17 PASS        leaves                            p 17 PASS      is on the site
 *
 * As over HTTP, the ticket and the pass are the visitor's to keep and to show. A turn is told to whoever has joined here,
 * as an event stream tells it.
 */
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { settingsFrom } from "../../src/config/load.ts";
import { toRules } from "../../src/config/rules.ts";
import type { JoinAnswer, TicketAnswer } from "../../src/core/engine.ts";
import { ClusterEngine } from "../../src/engines/cluster/cluster-engine.ts";
import { DEFAULT_NODE_SETTINGS } from "../../src/engines/cluster/node.ts";
import { openTransport } from "../../src/engines/cluster/transport.ts";
import { nodeWorld } from "../../src/node.ts";

const [join = "", slots = "500"] = process.argv.slice(2);
const ROOM = "main";
const secret = "bench-secret-0123456789-abcdefghij";
const here = { host: "127.0.0.1", port: 0 };
const world = nodeWorld({ level: "error" });
const result = settingsFrom(
  { secret, rooms: { main: { totalActiveUsers: Number(slots) } } },
  { environment: {}, readFile: () => "", needsOrigin: false },
);
if (!result.ok) throw new Error(JSON.stringify(result.problems));

let engine: ClusterEngine | null = null;
const transport = await openTransport(
  { listen: here, address: "127.0.0.1:0", secret, tls: null },
  { onLetter: (from, letter) => engine?.deliver(from, letter), onRefused: (peer) => engine?.refused(peer) },
  world,
);
const { address } = transport;
const settings = {
  ...DEFAULT_NODE_SETTINGS,
  ...{ address, name: address, life: world.clock.now(), join: join === "" ? [] : [join] },
};
const kinds = new Map<string, number>(); engine = new ClusterEngine(world, settings, (to, letter) => { const l = letter as {bodies:{kind:string}[]}; kinds.set("LETTERS", (kinds.get("LETTERS") ?? 0) + 1); for (const b of l.bodies) kinds.set(b.kind, (kinds.get(b.kind) ?? 0) + 1); transport.send(to, letter);});
engine.configure(ROOM, toRules(ROOM, result.settings.rooms.main!, { budgets: {}, seedOf: () => "" }));
engine.subscribe({
  onTurns: (_room, sequences) => {
    for (const sequence of sequences) waiting.get(sequence)?.();
  },
});

/** How to call those who have joined here, by their sequence. */
const waiting = new Map<number, () => void>();
const server = createServer({ noDelay: true }, serve);
server.listen(0, "127.0.0.1", () =>
  process.send?.({ port: (server.address() as AddressInfo).port, address, pid: process.pid }),
);
import { Session } from "node:inspector";
import { writeFileSync } from "node:fs";
const session = new Session(); session.connect();
process.on("message", (q: unknown) => {
  if (q === "on") session.post("Profiler.enable", () => session.post("Profiler.setSamplingInterval", { interval: 200 }, () => session.post("Profiler.start", () => process.send?.(1))));
  if (q === "off") session.post("Profiler.stop", (_e, r) => { writeFileSync("/tmp/prof/" + process.pid + ".cpuprofile", JSON.stringify((r as {profile: unknown}).profile)); process.send?.(1); });
});
process.on("disconnect", () => process.exit());
process.on("message", (question: "status" | "counts" | "spent") => {
  if (question === "status") process.send?.(engine.status());
  else if (question === "counts") process.send?.(engine.counts(ROOM));
  else if ((question as string) === "kinds") process.send?.([...kinds]); else if ((question as string) === "spent") process.send?.(process.cpuUsage());
});

function serve(socket: Socket): void {
  let rest = "";
  let lines: string[] = [];
  const say = (line: string) => {
    if (lines.push(line) === 1) setImmediate(() => {
      socket.write(`${lines.join("\n")}\n`, "latin1");
      lines = [];
    });
  };
  socket.setEncoding("latin1");
  socket.on("error", () => {});
  socket.on("data", (text: string) => {
    const all = (rest + text).split("\n");
    rest = all.pop()!;
    for (const line of all) hear(line, say);
  });
}

function hear(line: string, say: (line: string) => void): void {
  const [what, user = "", token = ""] = line.split(" ");
  if (what === "l") return engine!.leave(JSON.parse(token));
  const asked: JoinAnswer | TicketAnswer | Promise<JoinAnswer | TicketAnswer> = what === "j" ? engine!.join(ROOM) : engine!.enter(JSON.parse(token));
  const tell = (answer: JoinAnswer | TicketAnswer) => {
    if (answer.kind === "entered") return say(`p ${user} ${JSON.stringify(answer.pass)}`);
    if (answer.kind !== "waiting" || what !== "j") return say(`x ${user} ${JSON.stringify(answer)}`);
    const { sequence } = answer.ticket;
    waiting.set(sequence, () => {
      waiting.delete(sequence);
      say(`t ${user}`);
    });
    say(`w ${user} ${JSON.stringify(answer.ticket)}`);
  };
  if (asked instanceof Promise) asked.then(tell);
  else tell(asked);
}
