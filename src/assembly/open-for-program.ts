/** A gateway inside somebody's program: the settings as an object, checked, and everything opened but a listener. */
import { readFileSync } from "node:fs";
import { explain } from "../config/explain.ts";
import { settingsFrom } from "../config/load.ts";
import type { Settings, SettingsInput } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { Log, World } from "../core/world.ts";
import type { AccessLog } from "../gateway/access-log/access-log.ts";
import { checkTemplate } from "../gateway/page/render.ts";
import { ProxiedGateway } from "../gateway/proxied-gateway.ts";
import type { Trust } from "../gateway/proxy/trust.ts";
import { fileLimit } from "../sockets/file-limit.ts";
import { withKeptSecret } from "./data.ts";
import { openAccessLog } from "./open-access-log.ts";
import { openEngine } from "./open-engine.ts";

/** The settings file's keys as an object, and what only a program can give. */
export type GatewayOptions = SettingsInput & {
  /** Where the line lives; one of your own, or what the settings say when left out. */
  readonly engine?: Engine;
  /** A logger with debug, info, warn and error, such as pino. Lines of JSON on standard output when left out. */
  readonly log?: Log;
};

export interface OpenForProgram {
  readonly proxied: ProxiedGateway;
  readonly engine: Engine;
  readonly world: World;
  readonly accesses: AccessLog;
  /** Finishes what is under way and lets go of everything. */
  close(): Promise<void>;
}

/** Settings that are not right throw one Error that names every problem. */
export async function openForProgram(
  options: GatewayOptions,
  newWorld: (options: { log: Log } | { level: Settings["log"]["level"] }) => World,
): Promise<OpenForProgram> {
  const { engine: ownEngine, log, ...input } = options;
  const result = settingsFrom(input, {
    environment: process.env,
    readFile: (name) => readFileSync(name, "utf8"),
    checkPage: checkTemplate,
    needsOrigin: false,
  });
  if (!result.ok) throw new Error(`the gateway's settings are not right\n${explain(result.problems)}`);
  const settings = withKeptSecret(result.settings);
  const machine = newWorld(log ? { log } : { level: settings.log.level });
  const trust = (): Trust => proxied.gateway.trust;
  const accessLog = await openAccessLog(settings.accessLog, { world: machine, trust });
  const { log: accesses } = accessLog;
  const opened = ownEngine ? null : await openEngine(settings, machine);
  const world = opened?.world ?? machine;
  const engine = ownEngine ?? opened!.engine;
  const parts = { settings, engine, world, fileLimit: fileLimit(), accessLog: accesses };
  const proxied: ProxiedGateway = await ProxiedGateway.open(parts);
  await opened?.cluster?.joined;
  return {
    ...{ proxied, engine, world, accesses },
    close: async () => {
      await proxied.close();
      await opened?.close();
      await accessLog.close();
    },
  };
}
