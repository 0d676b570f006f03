import { seededFraction } from "../../src/sim/hand-world.ts";
import { eventually } from "../cli/eventually.ts";
import { pause } from "../crash/ask.ts";
import { Crowd } from "../crash/crowd.ts";
import { GuestBook } from "../crash/guest-book.ts";
import { ClusterBooks } from "./cluster-books.ts";
import { Network } from "./network.ts";
import { NodeProcess } from "./node-process.ts";

const TERMS = { capacity: 30, sessionMs: 12_000, lapseAfterMs: 10_000 };
const room = { totalActiveUsers: TERMS.capacity, sessionDuration: "12s", disableSessionRenewal: true, lapseAfter: "10s", claimWindow: "9s", ticketTtl: "16s" };
const t0 = Date.now();
const say = (...a: unknown[]) => console.log(((Date.now() - t0) / 1000).toFixed(1), ...a);
await using parts = new AsyncDisposableStack();
const site = parts.use(await GuestBook.open());
const network = parts.use(new Network());
const nodes: NodeProcess[] = [];
for (let i = 1; i <= 6; i++) nodes.push(parts.use(await NodeProcess.make({ name: `gate-${i}`, origin: site.address, room, network })));
const [a, b, c, d, e, f] = nodes as [NodeProcess, NodeProcess, NodeProcess, NodeProcess, NodeProcess, NodeProcess];
await a.start();
say("first");
await Promise.all([b, c, d, e].map((n) => n.start([a])));
say("all started");
const whole = async (of: NodeProcess[]) => eventually("whole", async () => {
  for (const n of of) { const r = await n.report(); if (r.nodes.length !== of.length || r.lost.length || !r.view?.isSettled) return false; }
  return true;
});
await whole([a, b, c, d, e]);
say("whole");
const books = new ClusterBooks(TERMS);
const seed = Number(process.argv[2] ?? 1);
const crowd = new Crowd({ addresses: nodes.map((n) => n.address), books, fraction: seededFraction(seed), patienceMs: 5_000, sessionMs: TERMS.sessionMs, arrivalsPerSecond: 25, atOnceMax: 65 });
parts.defer(() => crowd.close());
const seen = () => site.stays.size;
await eventually("line", () => crowd.about >= 50 && seen() >= TERMS.capacity);
say("line", crowd.about, seen());
const timer = setInterval(() => say("  about", crowd.about, "seen", seen()), 1000);
parts.defer(() => clearInterval(timer));
const marks: Record<string, number> = {};
marks.kill1 = Date.now();
await b.end("SIGKILL");
books.note({ kind: "killed", at: Date.now() });
await pause(1000);
marks.kill2 = Date.now();
await d.end("SIGKILL");
books.note({ kind: "killed", at: Date.now() });
say("killed 2");
const adding = f.start([a]).then(() => say("sixth started"));
await adding;
await whole([a, c, e, f]);
say("whole with sixth");
marks.cut = Date.now();
network.cutOff(c.peerAddress);
books.note({ kind: "killed", at: Date.now() });
await eventually("cut known", async () => {
  const [mine, theirs] = [await c.report(), await a.report()];
  return mine.view?.isMajority === false && mine.lost.length === 3 && theirs.lost.length === 1;
});
say("cut known", seen());
await pause(2000);
say("mend", seen());
marks.mend = Date.now();
network.mend();
await whole([a, c, e, f]);
marks.whole = Date.now();
say("whole again");
await pause(1500);
await crowd.showAgain();
say("shown again");
await crowd.drain(60_000).catch((x) => say(String(x)));
say("drained");
const sum = books.close(Date.now());
const { violations, ...numbers } = sum;
console.log(numbers, "atOrigin", site.highestAtOnce(), "failures", crowd.failures.map(String));
const by: Record<string, number> = {};
for (const v of violations) by[v.wrong] = (by[v.wrong] ?? 0) + 1;
console.log(by, Object.fromEntries(Object.entries(marks).map(([k, v]) => [k, (v - t0) / 1000])));
const shown = new Set<number>();
for (const v of violations.filter((v) => v.wrong !== "overtaken")) {
  console.log(((v.at - t0) / 1000).toFixed(1), v.wrong, v.words);
  const g = Number(/guest (\d+)/.exec(v.words)?.[1]);
  if (v.wrong === "wrong order" || shown.has(g)) continue;
  shown.add(g);
  for (const n of books.log as any[]) if (n.guest === g) console.log("   ", n.kind, n.what ?? "", n.isTaken ?? "", n.askedAt ? ((n.askedAt - t0) / 1000).toFixed(2) : "", n.at ? ((n.at - t0) / 1000).toFixed(2) : "");
}
const list = [...books.served.values()].sort((x, y) => x.joinedAt - y.joinedAt);
let worst: { gap: number; x: any; y: any }[] = [];
for (let i = 0; i < list.length; i++) for (let j = i + 1; j < list.length; j++) {
  const x = list[i]!, y = list[j]!;
  if (Math.ceil(y.admittedAt / 100) < Math.ceil(x.admittedAt / 100)) worst.push({ gap: y.joinedAt - x.joinedAt, x, y });
}
worst.sort((p, q) => q.gap - p.gap);
const rel = (s: any) => `${s.guest}: joined ${((s.joinedAt - t0) / 1000).toFixed(2)} admitted ${((s.admittedAt - t0) / 1000).toFixed(2)}`;
console.log("served", list.length, "inversions", worst.length);
for (const w of worst.slice(0, 25)) console.log(w.gap, rel(w.x), "|", rel(w.y));
for (const n of nodes) { console.log("---", n.name); for (const l of n.log()) if (l.level >= 30) console.log(((Number(l.time) - t0) / 1000).toFixed(1), l.level, l.msg.slice(0, 150)); }
