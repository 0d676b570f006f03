#!/usr/bin/env node
/**
 * The command line. Exit codes: 0 done, 1 it failed while running, 2 the command or the settings are not right.
 */
import { Command, Option } from "commander";
import { FLAGS } from "../config/flags.ts";
import { auditDraw } from "./audit.ts";
import { checkCommand } from "./check.ts";
import { codesCommand } from "./codes.ts";
import { demo } from "./demo/demo.ts";
import { doctorCommand } from "./doctor.ts";
import { newSecret, originKey } from "./keys.ts";
import { run } from "./run.ts";
import { version } from "./version.ts";

const program = new Command("fairgate")
  .description("A virtual waiting room: a fair line in front of any web site.")
  .version(version)
  .showSuggestionAfterError()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

withSettings(program.command("run"))
  .description("Stand in front of a site. Reads fairgate.yaml unless flags say it all.")
  .action(run);

checkCommand(withSettings(program.command("check")));

doctorCommand(withSettings(program.command("doctor")));

program
  .command("demo")
  .description("A small slow shop, a crowd, and the line between them, on this machine.")
  .option("--port <number>", "port for the shop's front door; the next free one when taken", "8080")
  .option("--crowd <number>", "how many simulated visitors to keep in the line", "60")
  .action(demo);

program
  .command("keys")
  .description("Secrets for tickets and passes.")
  .addCommand(new Command("new").description("Print a new secret.").action(newSecret))
  .addCommand(
    new Command("origin")
      .description("Print the key with which an origin checks HS256 tokens (origin.token: hs256).")
      .option("--config <file>", "settings file to take the secret from")
      .action(originKey),
  );

codesCommand(program.command("codes"));

program
  .command("audit")
  .description("Check what was promised.")
  .command("draw")
  .description("Check the draw of an event by its record, a place in it by its receipt, or both.")
  .argument("[file]", "the record of the draw")
  .option("--receipt <file>", "a visitor's receipt")
  .option("--hash <digits>", "the hash of the seed, as noted before the event")
  .option("--json", "print the result as JSON")
  .action(auditDraw);

await program.parseAsync();

/** The flags that stand for settings. */
function withSettings(command: Command): Command {
  command.option("--config <file>", "settings file (default: fairgate.yaml, if it is there)");
  for (const { flag, description, isRepeatable } of FLAGS) {
    const option = new Option(flag, description);
    if (isRepeatable)
      option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
    command.addOption(option);
  }
  return command;
}
