/**
 * `fairgate health`: whether a running Fairgate is well, for the health checks of containers and supervisors. It needs no
 * token.
 *
 * Exit codes: 0 it is; 1 it is not, or cannot be reached; 2 the command or the settings are not right.
 */
import type { Command } from "commander";
import { askControl } from "./ask-control.ts";
import { type ControlFlags, findAddress } from "./find-control.ts";
import { NotDone } from "./not-done.ts";

export function healthCommand(command: Command): Command {
  return command
    .description("Ask a running Fairgate whether it is alive; for health checks.")
    .option("--ready", "also whether visitors can be sent to it now")
    .option("--control <address>", "its control address (default: that of the settings, or 127.0.0.1:8081)")
    .option("--config <file>", "settings file to take the address from (default: fairgate.yaml)")
    .option("--data <directory>", "data directory to take the address from")
    .action(health);
}

async function health({ ready, ...flags }: ControlFlags & { readonly ready?: boolean }): Promise<void> {
  try {
    const place = { at: await findAddress(flags), token: "", tokenFrom: "", caution: null };
    const path = ready ? "/readyz" : "/healthz";
    const { reasons = [] } = (await askControl(place, { method: "GET", path, alsoGood: 503 })) as Answer;
    if (reasons.length > 0) throw new NotDone(reasons.join(" "), 1);
    process.stdout.write(`Fairgate is ${ready ? "ready" : "alive"}.\n`);
  } catch (cause) {
    if (!(cause instanceof NotDone)) throw cause;
    process.stderr.write(`${cause.message}\n`);
    process.exitCode = cause.exitCode;
  }
}

interface Answer {
  readonly reasons?: readonly string[];
}
