/**
 * `fairgate check`: everything `run` would check, every problem at once, nothing started. With `--url` it
 * also tells what would become of one request.
 */
import type { Command } from "commander";
import { describeCluster } from "../config/cluster-settings.ts";
import { explain, toJson } from "../config/explain.ts";
import type { Problem } from "../config/problem.ts";
import { describeRedis } from "../config/redis-settings.ts";
import type { Settings } from "../config/schema.ts";
import { fileLimit } from "../sockets/file-limit.ts";
import { socketCautions, socketLimits } from "../sockets/socket-limits.ts";
import { answerJson, answerQuestion, answerText } from "./check-url.ts";
import { checkData } from "./doctor/data-checks.ts";
import { nightVerdicts } from "./doctor/night-checks.ts";
import { summary as doctorSummary, hasProblem, table, verdictsForPrograms } from "./doctor/report.ts";
import type { DoctorVerdict } from "./doctor/verdict.ts";
import { jsonText } from "./json-text.ts";
import { whileTelling } from "./progress.ts";
import { type QuestionFlags, readQuestion } from "./question.ts";
import { readSettings, type SettingsFlags, TWO_FILES } from "./read-settings.ts";

/** The width where the output is no terminal. */
const COLUMNS = 110;

export type CheckFlags = SettingsFlags &
  QuestionFlags & {
    readonly json?: boolean;
    /** Asks no origin and looks up no name. */
    readonly offline?: boolean;
  };

/** Makes a command, which has the flags for settings already, into `check`. */
export function checkCommand(command: Command): Command {
  return command
    .description(
      "Check everything that would stop `run`, and what goes wrong on the night. With --url, tell how a request is handled.",
    )
    .argument("[file]", "settings file, as with --config")
    .option("--url <address>", "tell how a request for this address is handled, and why")
    .option("--method <name>", "the request's method (default: GET)")
    .option("--header <line>", 'a header of the request, "Name: value"; may be repeated', gather)
    .option("--address <ip>", "where the request comes from")
    .option("--offline", "ask no origin and look up no name")
    .option("--json", "print the result as JSON")
    .action((file: string | undefined, flags: CheckFlags) => {
      if (file === undefined) return check(flags);
      return flags.config === undefined ? check({ ...flags, config: file }) : refuse(flags, [TWO_FILES]);
    });
}

/**
 * Checks the settings and prints the result. Exit code 2 when the settings or the question are wrong, 1 when `run` would not
 * start on this machine.
 */
export async function check(flags: CheckFlags): Promise<void> {
  const asked = readQuestion(flags);
  const result = readSettings(flags);
  if (!result.ok || !asked.ok)
    return refuse(flags, [...(result.ok ? [] : result.problems), ...(asked.ok ? [] : asked.problems)]);
  const { settings, warnings: notes } = result;
  if (asked.question === null) {
    const verdicts = [
      ...(settings.data === null ? [] : checkData(settings.data)),
      ...(await whileTelling("waiting for the origin", () =>
        nightVerdicts(settings, { isOffline: flags.offline === true }),
      )),
    ];
    const ok = !hasProblem(verdicts);
    if (!ok) process.exitCode = 1;
    const text = summary(settings, ok) + cautions(settings) + findings(verdicts);
    const facts = { ...place(settings), ...verdictsForPrograms(verdicts) };
    return tell(flags, { ok, noun: "warning", notes, text, facts });
  }
  const answer = await answerQuestion(asked.question, settings, Date.now());
  tell(flags, { ok: true, noun: "warning", notes, text: answerText(answer), facts: answerJson(answer) });
}

function refuse(flags: CheckFlags, problems: readonly Problem[]): void {
  process.exitCode = 2;
  tell(flags, { ok: false, noun: "problem", notes: problems });
}

interface Outcome {
  readonly ok: boolean;
  readonly noun: "warning" | "problem";
  /** Problems; warnings when all is well. */
  readonly notes: readonly Problem[];
  readonly text?: string;
  readonly facts?: object;
}

function tell({ json }: CheckFlags, { ok, noun, notes, text = "", facts = {} }: Outcome): void {
  if (json) {
    process.stdout.write(jsonText({ ...facts, ok, problems: toJson(notes) }));
    return;
  }
  const isColour = process.stderr.isTTY === true && process.env.NO_COLOR === undefined;
  if (notes.length > 0) process.stderr.write(`${explain(notes, { colour: isColour, noun })}\n`);
  process.stdout.write(text);
}

/** What would stop `run`, or go wrong on the night. */
function findings(verdicts: readonly DoctorVerdict[]): string {
  const wrong = verdicts.filter(({ level }) => level !== "ok");
  const isColour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  const shown = table(wrong, { columns: process.stdout.columns ?? COLUMNS, isColour });
  return wrong.length === 0 ? "" : `\n${shown}\n${doctorSummary(verdicts)}`;
}

function summary({ rooms, redis, cluster }: Settings, isReady: boolean): string {
  const names = Object.keys(rooms);
  const many = names.length === 1 ? "one room" : `${names.length} rooms`;
  const where = redis
    ? `The line is in Redis: ${describeRedis(redis)}. Nobody was asked there; \`fairgate doctor\` does that.\n`
    : cluster && `The line is in a cluster: ${describeCluster(cluster)}. No other node was asked.\n`;
  return `The settings are good: ${many} (${names.join(", ")}), ${isReady ? "ready to run" : "but `run` would not start here"}.\n${where ?? ""}`;
}

/** What would be logged at the start of a process with this shell's limit on open files. */
function cautions(settings: Settings): string {
  const told = socketCautions(socketLimits(settings, fileLimit()));
  return told.map((caution) => `${caution}\n`).join("");
}

/** Where the line lives, without any password, when that is not here. */
function place({ redis, cluster }: Settings): object {
  if (redis) return { redis: describeRedis(redis) };
  return cluster ? { cluster: describeCluster(cluster) } : {};
}

function gather(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}
