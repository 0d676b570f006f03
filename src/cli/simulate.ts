/**
 * `fairgate simulate --crowd 50000`: what would happen if that many people came, with your own settings.
 *
 * Exit codes: 0 done; 1 the report cannot be written; 2 the command or the settings are not right.
 */
import type { Command } from "commander";
import { jsonText } from "./json-text.ts";
import type { WhatIfOptions } from "./simulate-what-if.ts";

/** Makes a command, which has the flags for a room's settings already, into `simulate`. */
export function simulateCommand(command: Command): Command {
  return command
    .description("What if that many people came? Played with your own settings.")
    .option("--crowd <number>", "how many come")
    .option("--room <name>", "the room, where there are several")
    .option("--arrivals <shape>", "constant, spike or sigmoid (the default)")
    .option("--over <time>", "how long they take to come (10m, a spike 5s)")
    .option("--stay <time>", "how long they stay (the session's length)")
    .option("--impatient <percent>", "share who give up waiting (0)")
    .option("--no-show <percent>", "share who do not use their turn (0)")
    .option("--leave <percent>", "share who end their visit when they go (0)")
    .option("--at <time>", "when the first come: a time, or an event")
    .option("--seed <number>", "another crowd of the same kind (1)")
    .option("--out <file>", "write a report, as a page with pictures")
    .option("--json", "print the result as JSON")
    .action(async (flags: WhatIfOptions) => {
      process.exitCode = await simulate(flags);
    });
}

async function simulate(flags: WhatIfOptions): Promise<number> {
  if (flags.crowd !== undefined) return (await import("./simulate-what-if.ts")).runWhatIf(flags);
  const wrong =
    "Say how many come, such as --crowd 50000. A cluster with every fault, from a seed, is `fairgate torture`.";
  if (flags.json) process.stdout.write(jsonText({ ok: false, error: wrong }));
  else process.stderr.write(`${wrong}\n`);
  return 2;
}
