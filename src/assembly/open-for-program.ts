/** A gateway inside a program: checks the settings object, and opens everything except a listener. */
import { readFileSync } from "node:fs";
import { explain } from "../config/explain.ts";
import { settingsFrom } from "../config/load.ts";
import type { Settings, SettingsInput } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { Log, World } from "../core/world.ts";
import { type Fairgate, openFairgate } from "./open-fairgate.ts";
import { OTHER_CHECKS } from "./other-checks.ts";

/** The settings file's keys as an object, and what only a program can give. */
export type GatewayOptions = SettingsInput & {
  /** Your own engine. When left out, the settings decide. */
  readonly engine?: Engine;
  /** A logger with debug, info, warn and error, such as pino. Lines of JSON on standard output when left out. */
  readonly log?: Log;
};

/** Throws one Error that names every problem of the settings. */
export async function openForProgram(
  options: GatewayOptions,
  newWorld: (options: { log: Log } | { level: Settings["log"]["level"] }) => World,
): Promise<Fairgate> {
  const { engine, log, ...input } = options;
  const result = settingsFrom(input, {
    environment: process.env,
    readFile: (name) => readFileSync(name, "utf8"),
    ...OTHER_CHECKS,
    needsOrigin: false,
  });
  if (!result.ok) throw new Error(`the gateway's settings are not right\n${explain(result.problems)}`);
  const machine = newWorld(log ? { log } : { level: result.settings.log.level });
  const fairgate = await openFairgate(result.settings, machine, engine ? { engine } : {});
  await fairgate.joined;
  return fairgate;
}
