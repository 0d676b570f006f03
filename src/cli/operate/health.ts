/**
 * `fairgate health`: whether a running Fairgate is well, for the health checks of containers and supervisors. It needs no
 * token.
 *
 * Exit codes: 0 it is; 1 it is not, or cannot be reached; 2 the command or the settings are not right.
 */
import type { Command } from "commander";
import { askRecord, somethingElse } from "./ask-control.ts";
import { askReadiness, type Printed, printing } from "./commands.ts";
import { type ControlFlags, findAddress } from "./find-control.ts";
import { NotDone } from "./not-done.ts";

type HealthFlags = ControlFlags & { readonly ready?: boolean };

export function healthCommand(command: Command): Command {
  return command
    .description("Ask a running Fairgate whether it is alive; for health checks.")
    .option("--ready", "also whether visitors can be sent to it now")
    .option("--control <address>", "its control address (default: that of the settings, or 127.0.0.1:8081)")
    .option("--config <file>", "settings file to take the address from (default: fairgate.yaml)")
    .option("--data <directory>", "data directory to take the address from")
    .option("--json", "print the result as JSON")
    .action((flags: HealthFlags) => printing(flags, () => health(flags)));
}

async function health({ ready, ...flags }: HealthFlags): Promise<Printed> {
  const place = { at: await findAddress(flags), token: "", tokenFrom: "", caution: null };
  if (!ready) {
    const value = await askRecord(place, { method: "GET", path: "/healthz" });
    if (value.isAlive !== true) throw somethingElse(place);
    return { text: "Fairgate is alive.\n", value };
  }
  const { isReady, reasons } = await askReadiness(place);
  if (!isReady) throw new NotDone(reasons.join(" "), 1);
  return { text: "Fairgate is ready.\n", value: { isReady, reasons } };
}
