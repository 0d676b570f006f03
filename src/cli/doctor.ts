/**
 * `fairgate doctor`: looks at what the line lives in, the ports, the origin and what is in front, and says what is, what may
 * go wrong and what to change. Nothing is left behind. Passwords are not shown.
 *
 * Exit codes: 0 all is well, or there are only cautions; 1 there is a problem; 2 the command or the settings are not right.
 */

import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { explain, toJson } from "../config/explain.ts";
import { type LoadResult, settingsFrom } from "../config/load.ts";
import { controlToSpace, type Problem } from "../config/problem.ts";
import { describeRedis } from "../config/redis-settings.ts";
import type { Settings } from "../config/schema.ts";
import { checkData } from "./doctor/data-checks.ts";
import { examine } from "./doctor/examine.ts";
import { nightVerdicts } from "./doctor/night-checks.ts";
import { hasProblem, summary, table, verdictsForPrograms } from "./doctor/report.ts";
import type { DoctorVerdict } from "./doctor/verdict.ts";
import { jsonText } from "./json-text.ts";
import { whileTelling } from "./progress.ts";
import { DEFAULT_FILE, readSettings, type SettingsFlags, TWO_FILES } from "./read-settings.ts";

/** The width where the output is no terminal. */
const COLUMNS = 110;

export type DoctorFlags = SettingsFlags & { readonly json?: boolean };

/** Makes a command, which has the flags for settings already, into `doctor`. */
export function doctorCommand(command: Command): Command {
  return command
    .description("Look at what the line lives in, the ports and the origin, and say what to change.")
    .argument("[file]", "settings file, as with --config")
    .option("--json", "print the result as JSON")
    .action((file: string | undefined, flags: DoctorFlags) => {
      if (file === undefined) return doctor(flags);
      return flags.config === undefined ? doctor({ ...flags, config: file }) : refuse(flags, [TWO_FILES]);
    });
}

/** Looks at what the line lives in, and at this machine, and prints the findings. */
export async function doctor(flags: DoctorFlags): Promise<void> {
  const result = isRedisAlone(flags) ? redisAlone(flags) : readSettings(flags);
  if (!result.ok) return refuse(flags, result.problems);
  const { settings, warnings } = result;
  if (warnings.length > 0 && !flags.json) tell(warnings, "warning");
  const found = await whileTelling("waiting for answers", () =>
    Promise.all([look(settings), isRedisAlone(flags) ? [] : nightVerdicts(settings)]),
  );
  const verdicts = found.flat();
  if (hasProblem(verdicts)) process.exitCode = 1;
  if (flags.json)
    return void process.stdout.write(jsonText({ ...place(settings), ...verdictsForPrograms(verdicts) }));
  process.stdout.write(inWords(settings, verdicts));
}

/** True when a Redis address is the only flag and there is no settings file: the address alone is examined. */
function isRedisAlone({ config, json: _, ...flags }: DoctorFlags): boolean {
  const named = Object.keys(flags);
  return config === undefined && !existsSync(DEFAULT_FILE) && named.length === 1 && named[0] === "redis";
}

function redisAlone({ redis }: DoctorFlags): LoadResult {
  const input = { redis: { url: redis }, rooms: { main: { totalActiveUsers: 1 } } };
  const readFile = (name: string) => readFileSync(name, "utf8");
  return settingsFrom(input, { environment: process.env, readFile, needsSecret: false, needsOrigin: false });
}

async function look({ redis, data, rooms }: Settings): Promise<DoctorVerdict[]> {
  if (redis !== null) return examine({ redis, rooms: Object.keys(rooms).length });
  return data === null ? [] : checkData(data);
}

function inWords({ redis, data, cluster }: Settings, verdicts: readonly DoctorVerdict[]): string {
  const what = cluster
    ? "The line lives in the nodes of a cluster: `fairgate cluster status` asks a running one."
    : redis
      ? `Redis: ${describeRedis(redis)}`
      : data === null
        ? "The line lives in the memory of the process that runs, and is not kept."
        : `Data directory: ${controlToSpace(data)}`;
  const isColour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  const shown = table(verdicts, { columns: process.stdout.columns ?? COLUMNS, isColour });
  return `${what}\n\n${shown}\n${summary(verdicts)}`;
}

function place({ redis, data }: Settings): object {
  return { redis: redis && describeRedis(redis), data };
}

function refuse({ json }: DoctorFlags, problems: readonly Problem[]): void {
  process.exitCode = 2;
  if (json) return void process.stdout.write(jsonText({ ok: false, problems: toJson(problems) }));
  tell(problems, "problem");
}

function tell(notes: readonly Problem[], noun: "problem" | "warning"): void {
  const isColour = process.stderr.isTTY === true && process.env.NO_COLOR === undefined;
  process.stderr.write(`${explain(notes, { colour: isColour, noun })}\n`);
}
