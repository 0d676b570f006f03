/**
 * `fairgate run`: serves in front of a site until it is stopped. SIGHUP reads the settings again and swaps them
 * in only if they are good. SIGUSR2 opens the access log again. SIGTERM and Ctrl-C finish what is under way; a later one
 * does not wait.
 */
import { version } from "../assembly/version.ts";
import { explain } from "../config/explain.ts";
import { formatHostPort } from "../config/kinds.ts";
import type { Settings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { nodeWorld } from "../node.ts";
import { bannerText } from "./operate/banner.ts";
import type { ControlToken } from "./operate/control-files.ts";
import { ReadableLog } from "./operate/readable-log.ts";
import { tellStory } from "./operate/story.ts";
import { readSettings, type SettingsFlags } from "./read-settings.ts";
import { type Running, serve } from "./serve.ts";
import { StandardOutput } from "./standard-output.ts";
import { startFailures } from "./start-failure.ts";
import { onStopSignals } from "./stop-signals.ts";

export type RunFlags = SettingsFlags & {
  /** How the log is written; text on a terminal and JSON elsewhere when left out. */
  readonly log?: "json" | "text";
};

export async function run(flags: RunFlags): Promise<void> {
  const result = readSettings(flags);
  const isColour = process.stderr.isTTY === true && process.env.NO_COLOR === undefined;
  if (!result.ok) {
    process.stderr.write(`${explain(result.problems, { colour: isColour })}\nNothing was started.\n`);
    process.exitCode = 2;
    return;
  }
  const { settings, warnings } = result;
  if (warnings.length > 0)
    process.stderr.write(`${explain(warnings, { colour: isColour, noun: "warning" })}\n`);
  const output = new StandardOutput();
  const isText = flags.log === undefined ? process.stdout.isTTY === true : flags.log === "text";
  const readable = isText ? new ReadableLog(output, process.stdout.isTTY === true && isColour) : null;
  const world = nodeWorld({ level: settings.log.level, output: readable ?? output });
  let running: Running;
  try {
    running = await serve(settings, world);
  } catch (cause) {
    readable?.release();
    process.stderr.write(`${(await startFailures(cause, settings)).join("\n")}\n`);
    process.exitCode = 1;
    return;
  }
  // Before the line is printed: a program that reads it may send a signal at once.
  onSignals(running, flags, { world, output });
  void running.broken.then((problem) => {
    world.log.error({ err: problem }, "this process cannot go on; stopping, to be started anew");
    process.exit(1);
  });
  world.log.info(
    {
      listen: formatHostPort(running.address),
      control: formatHostPort(running.controlAddress),
      rooms: Object.keys(settings.rooms),
    },
    "fairgate is running",
  );
  const { caution } = running.controlToken;
  if (caution !== null) world.log.warn({ code: "TOKEN_EXPOSED" }, caution);
  tellStory(running.desk, world);
  if (readable) return readable.release(banner(running, settings));
  tellOfMemory(settings, world);
  tellOfToken(running.controlToken);
}

function banner(running: Running, settings: Settings): string {
  return bannerText({
    ...running,
    version,
    settings,
    columns: process.stdout.columns ?? 80,
    folder: process.cwd(),
  });
}

/** A token that is kept nowhere is printed, once, and beside the log. */
function tellOfToken({ token, from }: ControlToken): void {
  if (from === "process") process.stderr.write(`The control token, good until this process ends: ${token}\n`);
}

/** Without a place to keep it, everything is gone with the process, and an operator should know what that means. */
function tellOfMemory({ data, redis, cluster }: Settings, world: World): void {
  if (data !== null || redis !== null || cluster !== null) return;
  const message =
    "nothing is kept on disk: after a crash, passes that were revoked or left before it are good again until they expire; name a data directory (--data DIR) to keep everything";
  world.log.warn({ code: "NOTHING_KEPT" }, message);
}

interface Process {
  readonly world: World;
  readonly output: StandardOutput;
}

function onSignals(running: Running, flags: SettingsFlags, { world, output }: Process): void {
  onStopSignals(world.clock, {
    stop: async (signal) => {
      world.log.info({ signal }, "stopping: finishing what is under way");
      await running.close();
      world.log.info({}, "stopped");
      await output.drained();
      process.exit(0);
    },
    hurry: (signal) => {
      world.log.warn({ signal }, "told to stop again: ending at once, and cutting off what is under way");
      process.exit(1);
    },
  });
  process.on("SIGHUP", () => void reload(running, flags, world));
  // Not SIGUSR1, by which Node opens its inspector, and not SIGHUP, which also forgets changes made at run time.
  process.on("SIGUSR2", () => running.reopenAccessLog());
}

async function reload(running: Running, flags: SettingsFlags, world: World): Promise<void> {
  const result = readSettings(flags);
  if (!result.ok) {
    world.log.error(
      { problems: explain(result.problems) },
      "the new settings are not good; the old ones stay in force",
    );
    return;
  }
  try {
    await running.reload(result.settings);
    world.log.info({ rooms: Object.keys(result.settings.rooms) }, "new settings are in force");
  } catch (cause) {
    world.log.error({ err: cause }, "the new settings could not be put in force; the old ones stay");
  }
}
