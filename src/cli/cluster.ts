/**
 * `fairgate cluster status`: the cluster as a running node sees it. `fairgate cluster forget NAME`: an operator's word that a
 * lost node is dead. Both ask the control address of any node.
 *
 * Exit codes: 0 done, and with `status` all is well; 1 something is wrong with the cluster, or it could not be asked; 2
 * the command or the settings are not right.
 */
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { safeText } from "../config/problem.ts";
import type { ClusterReport } from "../office/desk.ts";
import { askControl, type ControlFlags, findControl, NotDone } from "./ask-control.ts";
import { COLUMNS_MAX, clusterText } from "./cluster-text.ts";

const SHOWN_CHARACTERS_MAX = 100;

type Flags = ControlFlags & { readonly json?: boolean };

/** The commands, under one that the program has made for them. */
export function clusterCommand(cluster: Command): Command {
  cluster.description("Ask a running node about its cluster.");
  withControl(cluster.command("status"))
    .description("Print the tree, the root, what each node has, and what is wrong.")
    .action((flags: Flags) => run(flags, () => status(flags)));
  withControl(cluster.command("forget"))
    .description("Tell the others that a lost node is dead, so that its slots are theirs again.")
    .argument("<name>", "what the node is called")
    .option("--yes", "do not ask whether that is meant")
    .action((name: string, flags: Flags & { yes?: boolean }) => run(flags, () => forget(name, flags)));
  return cluster;
}

function withControl(command: Command): Command {
  return command
    .option(
      "--control <address>",
      "control address of a node (default: that of the settings, or 127.0.0.1:8081)",
    )
    .option("--config <file>", "settings file to take address and token from (default: fairgate.yaml)")
    .option("--json", "print the result as JSON");
}

async function status(flags: Flags): Promise<void> {
  const report = (await askControl(findControl(flags), { method: "GET", path: "/cluster" })) as ClusterReport;
  if (!Array.isArray(report.nodes) || !Array.isArray(report.problems))
    throw new NotDone("What answers there is of another version of Fairgate.", 1);
  process.stdout.write(
    flags.json ? json(report) : clusterText(report, process.stdout.columns ?? COLUMNS_MAX),
  );
  if (report.problems.length > 0) process.exitCode = 1;
}

async function forget(name: string, flags: Flags & { yes?: boolean }): Promise<void> {
  const place = findControl(flags);
  const shown = safeText(name, SHOWN_CHARACTERS_MAX);
  if (!flags.yes && !(await isMeant(shown))) throw new NotDone("Nothing was done.", 1);
  await askControl(place, { method: "POST", path: "/cluster/forget", body: { name } });
  process.stdout.write(flags.json ? json({ ok: true, name }) : `${shown} is forgotten.\n`);
}

/** Where nobody can be asked it is not meant. */
async function isMeant(name: string): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true)
    throw new NotDone(`Say --yes if ${name} is dead for sure: nobody is here to ask.`, 2);
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await asking.question(
      `Is ${name} dead for sure? If it is only cut off, it goes on letting people in, on top of the limits. [y/N] `,
    );
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}

/** What could not be done is said on standard error, or as JSON. */
async function run({ json: isJson }: Flags, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (!(cause instanceof NotDone)) throw cause;
    if (isJson) process.stdout.write(json({ ok: false, error: cause.message }));
    else process.stderr.write(`${cause.message}\n`);
    process.exitCode = cause.exitCode;
  }
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
