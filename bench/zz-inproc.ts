import { settingsFrom } from "../src/config/load.ts";
import { toRules } from "../src/config/rules.ts";
import { ClusterEngine } from "../src/engines/cluster/cluster-engine.ts";
import { DEFAULT_NODE_SETTINGS } from "../src/engines/cluster/node.ts";
import { nodeWorld } from "../src/node.ts";
import * as lettersMod from "../src/engines/cluster/wire/letters.ts";
const { packLetters } = lettersMod as any;
const unpack = (lettersMod as any).unpackLetters ?? (lettersMod as any).readLetters;
const n = Number(process.argv[2] ?? 16), runs = Number(process.argv[3] ?? 6);
const world = nodeWorld({ level: "error" });
const result = settingsFrom({ secret: "bench-secret-0123456789-abcdefghij", rooms: { main: { totalActiveUsers: 500 } } }, { environment: {}, readFile: () => "", needsOrigin: false });
if (!result.ok) throw 1;
const rules = toRules("main", result.settings.rooms.main!, { budgets: {}, seedOf: () => "" });
const engines: ClusterEngine[] = [];
let letters = 0, bytes = 0, packNs = 0n, unpackNs = 0n;
let queue: [number, string, any][] = [];
for (let i = 0; i < n; i++) {
  const address = `127.0.0.1:${1000 + i}`;
  const e = new ClusterEngine(world, { ...DEFAULT_NODE_SETTINGS, address, name: address, life: 1, join: i === 0 ? [] : ["127.0.0.1:1000"] }, (to, letter) => {
    let t = process.hrtime.bigint();
    const body = packLetters([letter]);
    packNs += process.hrtime.bigint() - t;
    letters++; bytes += body.length;
    if (queue.push([Number(to.slice(10)) - 1000, address, body]) === 1) setImmediate(pump);
  });
  engines.push(e);
  e.configure("main", rules);
}
function pump() { const q = queue; queue = []; for (const [to, from, body] of q) { const t = process.hrtime.bigint(); const ls = unpack(body); unpackNs += process.hrtime.bigint() - t; for (const l of ls) engines[to]!.deliver(from, l); } }
await new Promise((r) => setTimeout(r, 4000));
setInterval(() => {}, 1000);
for (let run = 0; run < runs; run++) {
  const c0 = process.cpuUsage(), from = performance.now(); letters = bytes = 0; packNs = unpackNs = 0n;
  await new Promise<void>((resolve) => {
    let began = 0, done = 0; const calls = new Map<string, () => void>();
    const stops = engines.map((e, i) => e.subscribe({ onTurns: (_r, s) => { for (const q of s) calls.get(`${i} ${q}`)?.(); } }));
    const begin = async () => {
      if (began++ >= 5000) return;
      const i = Math.floor(Math.random() * n), e = engines[i]!;
      let a: any = await e.join("main");
      if (a.kind === "waiting") { const k = `${i} ${a.ticket.sequence}`; await new Promise<void>((r) => calls.set(k, r)); calls.delete(k); a = await e.enter(a.ticket); }
      if (a.kind !== "entered") console.log(a);
      e.leave(a.pass);
      if (++done === 5000) { for (const s of stops) s(); resolve(); }
      else void begin();
    };
    for (let i = 0; i < 500; i++) void begin();
  });
  const c = process.cpuUsage(c0);
  console.log(`${run}: ${(performance.now() - from).toFixed(0)} ms wall, cpu ${((c.user + c.system) / 1e3).toFixed(0)} ms, letters ${letters} bytes ${bytes} pack ${Number(packNs) / 1e6 | 0} ms unpack ${Number(unpackNs) / 1e6 | 0} ms`);
}
process.exit();
