/**
 * One attack on one gateway: a site, a `fairgate run` with a settings file, honest visitors who fill the room, some who wait, and
 * the attacker. Each is a process of its own except the honest visitors, who are measured here.
 *
 * Where attacker, sites and gateways share a few cores, an attack slows everything down, whatever its target. So `besideToo`
 * measures the same visitors once more while the same attack runs against another gateway on this machine. The difference is what
 * the attack does to the gateway itself.
 */
import { readFileSync } from "node:fs";
import type { RoomInput, SettingsInput } from "../../src/config/schema.ts";
import { Child } from "../../src/testing/cli/child.ts";
import { MAIN, ownFolder, type Run, running, SECRET, TOKEN } from "../../src/testing/cli/fairgate.ts";
import type { Attack, Gain, Scale, Target } from "./attack.ts";
import { HonestVisitors, type Latency } from "./honest.ts";

const ON_SITE = 8;
const WAITING = 4;
/** Pages measured before the attack. */
const PAGES_BEFORE: Readonly<Record<Scale, number>> = { small: 50, full: 2_000 };
/** The least number of pages measured during it: a short attack is over before there are enough. */
const PAGES_DURING_MIN: Readonly<Record<Scale, number>> = { small: 50, full: 500 };
const LOOK_EVERY_MS = 100;
/** The pause between two pages of one honest visitor. */
const THINK_MS = 20;

export interface Siege extends Gain {
  readonly before: Latency;
  /** While another gateway on this machine is attacked; null where that was not measured. */
  readonly beside: Latency | null;
  readonly during: Latency;
  /** What went wrong for honest visitors: lost pages, places or connections. */
  readonly complaints: readonly string[];
  /** The gateway's memory in bytes. */
  readonly memoryBefore: number;
  readonly memoryPeak: number;
}

export async function besiege(attack: Attack, scale: Scale, { besideToo = false } = {}): Promise<Siege> {
  await using fort = await openFort(attack, scale);
  const { run, target, honest } = fort;
  await honest.measure(PAGES_BEFORE[scale]);
  const before = honest.latency();
  const beside = besideToo ? await measureBeside(attack, scale, honest) : null;
  const memory = watchMemory(run.child.pid);
  const { gain, during } = await measureUnder(attack, scale, { target, honest });
  return { ...gain, before, beside, during, complaints: [...honest.complaints], ...memory() };
}

/** What is attacked: a gateway before its site, with honest visitors on the site and in the line. */
interface Fort extends AsyncDisposable {
  readonly run: Run;
  readonly target: Target;
  readonly honest: HonestVisitors;
}

async function openFort(attack: Attack, scale: Scale): Promise<Fort> {
  await using opened = new AsyncDisposableStack();
  const site = opened.use(await (attack.openSite ?? openOwnSite)());
  const folder = opened.use(ownFolder());
  folder.write("fairgate.yaml", JSON.stringify(settingsFor(attack, scale, site.port)));
  const run = opened.use(await startGateway(attack, scale, folder.path));
  const target = targetOf(run, attack.settings?.tls != null);
  const path = attack.room?.path ?? "/";
  const honest = new HonestVisitors({ ...target, room: "main", path, thinkMs: attack.thinkMs ?? THINK_MS });
  opened.defer(() => honest.leave());
  await honest.arrive({ onSite: ON_SITE, waiting: WAITING });
  const all = opened.move();
  return { run, target, honest, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** How long honest visitors wait for their pages while the target is attacked. */
async function measureUnder(
  attack: Attack,
  scale: Scale,
  { target, honest }: Pick<Fort, "target" | "honest">,
): Promise<{ gain: Gain; during: Latency }> {
  const pages = honest.measure(PAGES_DURING_MIN[scale]);
  const gain = await runAttack(attack, scale, target);
  await pages;
  return { gain, during: honest.latency() };
}

/** The same while another gateway is attacked. */
async function measureBeside(attack: Attack, scale: Scale, honest: HonestVisitors): Promise<Latency> {
  await using other = await openFort(attack, scale);
  return (await measureUnder(attack, scale, { target: other.target, honest })).during;
}

async function openOwnSite(): Promise<{ readonly port: number } & AsyncDisposable> {
  const child = new Child(process.execPath, [`${import.meta.dirname}/site.ts`]);
  const { port } = JSON.parse((await child.prints(/^\{.*\}$/m))[0]) as { port: number };
  return { port, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}

function settingsFor(attack: Attack, scale: Scale, sitePort: number): SettingsInput {
  const { room, otherRooms, settings } = attack;
  const { origin = {}, limits = {}, rooms = {} } = attack.scaled?.[scale] ?? {};
  const main: RoomInput = { totalActiveUsers: ON_SITE, sessionDuration: "30m", ...room };
  return {
    origin: { addresses: [`http://127.0.0.1:${sitePort}`], ...origin },
    limits,
    rooms: { main, ...otherRooms, ...rooms },
    ...settings,
  };
}

/** Starts `fairgate run` in the folder, with the file limit of the attack. */
async function startGateway(attack: Attack, scale: Scale, cwd: string): Promise<Run> {
  const limit = attack.filesMax ? `ulimit -n ${attack.filesMax[scale]}; ` : "";
  const args = [MAIN, "run", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"];
  const environment = { FAIRGATE_SECRET: SECRET, FAIRGATE_CONTROL_TOKEN: TOKEN };
  const command = `${limit}exec "$0" "$@"`;
  return running(new Child("sh", ["-c", command, process.execPath, ...args], { cwd, environment }));
}

function targetOf(run: Run, isTls: boolean): Target {
  const [visitors, control] = [new URL(run.address), new URL(run.control.address)];
  return {
    host: visitors.hostname,
    port: Number(visitors.port),
    tls: isTls ? { rejectUnauthorized: false } : null,
    control: { host: control.hostname, port: Number(control.port) },
  };
}

async function runAttack({ name }: Attack, scale: Scale, target: Target): Promise<Gain> {
  const script = `${import.meta.dirname}/attacker.ts`;
  await using attacker = new Child(process.execPath, [script, name, scale, JSON.stringify(target)]);
  const { code } = await attacker.ended;
  if (code !== 0) throw new Error(`the attack "${name}" itself failed:\n${attacker.err}`);
  return JSON.parse(attacker.out) as Gain;
}

/** Samples a process's memory until the result is asked for. */
function watchMemory(pid: number): () => Pick<Siege, "memoryBefore" | "memoryPeak"> {
  const memoryBefore = memoryOf(pid);
  let memoryPeak = memoryBefore;
  const timer = setInterval(() => {
    memoryPeak = Math.max(memoryPeak, memoryOf(pid));
  }, LOOK_EVERY_MS);
  return () => {
    clearInterval(timer);
    return { memoryBefore, memoryPeak: Math.max(memoryPeak, memoryOf(pid)) };
  };
}

/** Resident memory in bytes; 0 where the system does not report it. */
function memoryOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}
