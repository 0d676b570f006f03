/**
 * The command line. Exit codes: 0 done, 1 it failed while running, 2 the command or the settings are not right.
 */
import { Command, Option } from "commander";
import { version } from "../assembly/version.ts";

const program = new Command("fairgate")
  .description("A virtual waiting room: a fair line in front of any web site.")
  .version(version)
  .showSuggestionAfterError()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

/** Commands that ask the control address. */
const OPERATE = [
  ...["status", "pause", "open", "drain", "close", "message", "set", "sessions"],
  ...["changes", "draw", "metrics", "api"],
];

/** Of the flags for settings, those that make a crowd wait. */
const LIMITS = new Set(["totalActiveUsers", "newUsersPerMinute", "sessionDuration", "queueingMethod"]);

const asked = process.argv[2] ?? "";

const COMMANDS: Readonly<Record<string, (command: Command) => Promise<unknown>>> = {
  run: async (command) => {
    if (asked === "run") (await import("./short-pauses.ts")).keepPausesShort();
    (await withSettings(command))
      .description("Stand in front of a site. Reads fairgate.yaml unless flags say it all.")
      .addOption(
        new Option("--log <form>", "write the log as json or text (default: text on a terminal)").choices([
          "json",
          "text",
        ]),
      )
      .action((await import("./run.ts")).run);
  },
  check: async (command) =>
    (await import("./check.ts")).checkCommand(await withSettings(command, "toldElsewhere")),
  doctor: async (command) =>
    (await import("./doctor.ts")).doctorCommand(await withSettings(command, "toldElsewhere")),
  demo: async (command) =>
    command
      .description("A small slow shop, a crowd, and the line between them, on this machine.")
      .option("--port <number>", "port for the shop's front door; the next free one when taken", "8080")
      .option("--crowd <number>", "how many simulated visitors to keep in the line", "60")
      .action((await import("./demo/demo.ts")).demo),
  keys: async (command) => {
    const { newSecret, newWebhookSecret, originKey } = await import("./keys.ts");
    command.description("Secrets for tickets and passes.");
    command.command("new").description("Print a new secret.").action(newSecret);
    command
      .command("webhook")
      .description("Print a new secret for webhooks (shops.<name>.payment, shops.<name>.orders).")
      .action(newWebhookSecret);
    command
      .command("origin")
      .description("Print the key with which an origin checks HS256 tokens (origin.token: hs256).")
      .option("--config <file>", "settings file to take the secret from")
      .action(originKey);
    const { keysCommands } = await import("./operate/commands.ts");
    keysCommands(command, (process.argv[3] ?? "-").startsWith("-"));
  },
  codes: async (command) => (await import("./codes.ts")).codesCommand(command),
  cluster: async (command) => (await import("./cluster.ts")).clusterCommand(command),
  health: async (command) => (await import("./operate/health.ts")).healthCommand(command),
  simulate: async (command) =>
    (await import("./simulate.ts")).simulateCommand(await withSettings(command, "limits")),
  size: async (command) => (await import("./size.ts")).sizeCommand(command),
  torture: async (command) => (await import("./torture.ts")).tortureCommand(command),
  audit: async (command) =>
    command
      .description("Check what was promised.")
      .command("draw")
      .description("Check the draw of an event by its record, a place in it by its receipt, or both.")
      .argument("[file]", "the record of the draw")
      .option("--receipt <file>", "a visitor's receipt")
      .option("--hash <digits>", "the hash of the seed, as noted before the event")
      .option("--json", "print the result as JSON")
      .action((await import("./audit.ts")).auditDraw),
  shop: async (command) => (await import("./operate/shop-commands.ts")).shopCommands(command),
  watch: async (command) => (await import("./operate/watch.ts")).watchCommand(command),
  ...Object.fromEntries(
    OPERATE.map((name) => [name, async (command: Command) => (await operateCommands())[name]!(command)]),
  ),
};

// All of them together take half a second to load, so only the requested command is loaded.
const needed = Object.hasOwn(COMMANDS, asked) ? [asked] : Object.keys(COMMANDS);
if (asked !== "--version")
  for (const name of needed) await COMMANDS[name]!(program.command(name).helpGroup(groupOf(name)));
await program.parseAsync();

/** Under which heading of the help a command stands. */
function groupOf(name: string): string {
  if (["watch", "cluster", "health", "shop", ...OPERATE].includes(name)) return "Operate a running Fairgate:";
  return ["simulate", "size", "torture", "audit", "check", "doctor"].includes(name)
    ? "Find out before:"
    : "Start:";
}

async function operateCommands() {
  return (await import("./operate/commands.ts")).OPERATE_COMMANDS;
}

/** The flags that stand for settings: all of them; all, told of in the help of `run` alone; or only a room's limits. */
async function withSettings(
  command: Command,
  which: "all" | "toldElsewhere" | "limits" = "all",
): Promise<Command> {
  const { FLAGS } = await import("../config/flags.ts");
  command.option("--config <file>", "settings file (default: fairgate.yaml)");
  for (const { flag, name, description, isRepeatable } of FLAGS) {
    if (which === "limits" && !LIMITS.has(name)) continue;
    const told = which === "limits" ? description.split(/, such|:/, 1)[0] : description;
    const option = new Option(flag, told).hideHelp(which === "toldElsewhere");
    if (isRepeatable)
      option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
    command.addOption(option);
  }
  if (which === "toldElsewhere")
    command.addHelpText("after", "\nThe flags for settings are those of `fairgate run`: fairgate run --help");
  return command;
}
