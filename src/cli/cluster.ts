/**
 * `fairgate cluster status`: the cluster as a running node sees it. `fairgate cluster forget NAME`: an operator's word that a
 * lost node is dead. Both ask the control address of any node.
 *
 * Exit codes: 0 done, and with `status` all is well; 1 something is wrong with the cluster, or it could not be asked; 2
 * the command or the settings are not right.
 */
import type { Command } from "commander";
import { safeText } from "../config/problem.ts";
import { COLUMNS_MAX, clusterText } from "./cluster-text.ts";
import { askControl, askRecord, somethingElse } from "./operate/ask-control.ts";
import { beSure, operate, type Printed, withControl } from "./operate/commands.ts";
import type { ControlFlags, ControlPlace } from "./operate/find-control.ts";

const SHOWN_CHARACTERS_MAX = 100;

type ForgetFlags = ControlFlags & { readonly yes?: boolean };

/** The commands, under one that the program has made for them. */
export function clusterCommand(cluster: Command): Command {
  cluster.description("Ask a running node about its cluster.");
  withControl(cluster.command("status"))
    .description("Print the tree, the root, what each node has, and what is wrong.")
    .action((flags: ControlFlags) => operate(flags, status));
  withControl(cluster.command("forget"))
    .description("Tell the others that a lost node is dead, so that its slots are theirs again.")
    .argument("<name>", "what the node is called")
    .option("--yes", "do not ask whether that is meant")
    .action((name: string, flags: ForgetFlags) => operate(flags, (place) => forget(place, name, flags)));
  return cluster;
}

async function status(place: ControlPlace): Promise<Printed> {
  const value = await askRecord(place, { method: "GET", path: "/cluster" });
  // Loaded only here: it takes longer than most commands take to run.
  const { clusterShape } = await import("../office/cluster-shape.ts");
  const { data: report } = clusterShape.safeParse(value);
  if (!report) throw somethingElse(place);
  return {
    text: clusterText(report, process.stdout.columns ?? COLUMNS_MAX),
    value,
    ...(report.problems.length > 0 ? { exitCode: 1 } : {}),
  };
}

async function forget(place: ControlPlace, name: string, { yes }: ForgetFlags): Promise<Printed> {
  const shown = safeText(name, SHOWN_CHARACTERS_MAX);
  if (!yes)
    await beSure(
      `Is ${shown} dead for sure? If it is only cut off, it goes on letting people in, on top of the limits.`,
      `Say --yes if ${shown} is dead for sure: nobody is here to ask.`,
    );
  await askControl(place, { method: "POST", path: "/cluster/forget", body: { name } });
  return { text: `${shown} is forgotten.\n`, value: { ok: true, name } };
}
