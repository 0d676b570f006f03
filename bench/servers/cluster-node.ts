/**
 * One node of a cluster as `fairgate run --cluster` has it, without HTTP and tokens: the engine over its real transport. Users
 * speak lines with it over TCP. As over HTTP they keep and send their ticket and pass, and the node where they joined pushes the
 * turn, as an event stream does.
 *
 *   join 17             ─▶   wait 17 TICKET, or pass 17 PASS
 *                       ◀─   turn 17
 *   enter 17 TICKET     ─▶   pass 17 PASS
 *   leave 17 PASS       ─▶   no answer
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { settingsFrom } from "../../src/config/load.ts";
import { toRules } from "../../src/config/rules.ts";
import type { JoinAnswer, TicketAnswer } from "../../src/core/engine.ts";
import { ClusterEngine } from "../../src/engines/cluster/cluster-engine.ts";
import { DEFAULT_NODE_SETTINGS } from "../../src/engines/cluster/node.ts";
import { openTransport } from "../../src/engines/cluster/wire/transport.ts";
import { nodeWorld } from "../../src/node.ts";
import { LineLink } from "../line-link.ts";
import { answerParent } from "./answer-parent.ts";

const [founder = "", slots = ""] = process.argv.slice(2);
const ROOM = "main";
const SECRET = "bench-secret-0123456789-abcdefghij";
const world = nodeWorld({ level: "error" });
/** Callbacks that push the turn to visitors who joined here, by their sequence. */
const waiting = new Map<number, () => void>();

const engine = await openNode();
setSlots(Number(slots));
engine.subscribe({
  onTurns: (_room, sequences) => {
    for (const sequence of sequences) waiting.get(sequence)?.();
  },
});
answerParent({ engine, room: ROOM, setSlots });
const server = createServer({ noDelay: true }, serve);
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ port, address: engine.status(false).name });
});

async function openNode(): Promise<ClusterEngine> {
  let node: ClusterEngine | null = null;
  const transport = await openTransport(
    { listen: { host: "127.0.0.1", port: 0 }, address: "127.0.0.1:0", secret: SECRET, tls: null },
    { onMessage: (from, message) => node?.deliver(from, message), onRefused: (peer) => node?.refused(peer) },
    world,
  );
  const { address } = transport;
  const join = founder === "" ? [] : [founder];
  const settings = { ...DEFAULT_NODE_SETTINGS, address, name: address, life: world.clock.now(), join };
  node = new ClusterEngine(world, settings, (to, message) => transport.send(to, message));
  return node;
}

function setSlots(totalActiveUsers: number): void {
  const result = settingsFrom(
    { secret: SECRET, rooms: { [ROOM]: { totalActiveUsers } } },
    { environment: {}, readFile: () => "", needsOrigin: false },
  );
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  engine.configure(ROOM, toRules(ROOM, result.settings.rooms[ROOM]!, { budgets: {}, seedOf: () => "" }));
}

function serve(socket: Socket): void {
  const link = new LineLink(socket, ([what = "", user = "", shown = ""]) => {
    if (what === "join") return when(engine.join(ROOM), (answer) => tellJoined(link, user, answer));
    if (what === "enter") return when(engine.enter(JSON.parse(shown)), (answer) => tell(link, user, answer));
    engine.leave(JSON.parse(shown));
  });
}

function tellJoined(link: LineLink, user: string, answer: JoinAnswer): void {
  if (answer.kind !== "waiting") return tell(link, user, answer);
  const { ticket } = answer;
  waiting.set(ticket.sequence, () => {
    waiting.delete(ticket.sequence);
    link.say(`turn ${user}`);
  });
  link.say(`wait ${user} ${JSON.stringify(ticket)}`);
}

function tell(link: LineLink, user: string, answer: JoinAnswer | TicketAnswer): void {
  if (answer.kind === "entered") link.say(`pass ${user} ${JSON.stringify(answer.pass)}`);
  else link.say(`no ${user} ${JSON.stringify(answer)}`);
}

function when<T>(answer: T | Promise<T>, then: (answer: T) => void): void {
  if (answer instanceof Promise) void answer.then(then);
  else then(answer);
}
