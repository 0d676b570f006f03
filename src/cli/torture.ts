/**
 * `fairgate torture`: with `--seed`, a whole cluster and everything that can go wrong, from one number; with `--table`, a
 * paper's experiments again. Each takes flags of its own, and those of the other are refused, since they would do nothing.
 *
 * Exit codes: 0 done; 1 a promise was broken, or a file cannot be written; 2 the command is not right.
 */

import type { Command } from "commander";
import { safeText } from "../config/problem.ts";
import { jsonText } from "./json-text.ts";
import type { SeedOptions } from "./torture-seed.ts";
import type { TableOptions } from "./torture-table.ts";

const SHOWN_CHARACTERS_MAX = 60;

type Flag = readonly [flag: string, description: string];

const SEED_FLAGS: readonly Flag[] = [
  ["--runs <number>", "seeds to run, one after the other (with --canary: 40)"],
  ["--kind <name>", "the kind of plan (default: drawn); ? lists them"],
  ["--nodes <number>", "how many nodes, at most 64"],
  ["--visitors <number>", "how many visitors"],
  ["--seconds <number>", "how long visitors come and things go wrong"],
  ["--without <names>", "faults and visitors to leave out, comma between"],
  ["--canary <name>", "break a rule, to see it found; ? lists them"],
  ["--check-letters", "run each seed again with messages copied; compare"],
  ["--trace", "print every event"],
];
const TABLE_FLAGS: readonly Flag[] = [
  ["--seeds <number>", "with --table: runs of each configuration (2)"],
  ["--users <number>", "with --table: users instead of the paper's"],
  ["--plot <directory>", "with --table: draw the paper's figures there"],
];

export type TortureFlags = Readonly<Record<string, unknown>> & { readonly json?: boolean };

/** The command, under one that the program has made for it. */
export function tortureCommand(command: Command): Command {
  command
    .description("Run a cluster with its visitors and every fault, from a seed.")
    .option("--seed <number>", "the number that everything follows from")
    .option("--table <name>", "a paper's experiments: A1, the cluster's 27")
    .option("--json", "print the result as JSON");
  for (const [flag, description] of [...SEED_FLAGS, ...TABLE_FLAGS]) command.option(flag, description);
  return command.action(async (flags: TortureFlags) => {
    process.exitCode = await torture(flags);
  });
}

async function torture(flags: TortureFlags): Promise<number> {
  const wrong = problemWith(flags);
  if (wrong !== null) return refuse(flags, wrong);
  if (flags.table !== undefined)
    return (await import("./torture-table.ts")).runTable(withNumbers<TableOptions>(flags));
  return (await import("./torture-seed.ts")).runSeed(withNumbers<SeedOptions>(flags));
}

/** What is wrong with the flags together, if anything. */
export function problemWith(flags: TortureFlags): string | null {
  const given = (list: readonly Flag[]) => list.map(named).find(({ key }) => flags[key] !== undefined)?.flag;
  const forTable = given(TABLE_FLAGS);
  if (flags.table === undefined && forTable !== undefined)
    return `${forTable} is for a table, and there is no --table: say which, such as --table A1.`;
  const bySeed = flags.table === undefined ? undefined : given([["--seed <number>", ""], ...SEED_FLAGS]);
  if (bySeed !== undefined) return `${bySeed} is for a run by --seed, and there is --table.`;
  if ([flags.seed, flags.table, flags.canary].some((value) => value !== undefined)) return notANumber(flags);
  return "Say by which seed, such as --seed 1, or which table, such as --table A1. What a crowd would do is `fairgate simulate`.";
}

function named([flag]: Flag): { flag: string; key: string } {
  const long = flag.split(" ")[0]!;
  return { flag: long, key: long.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) };
}

const NUMBERS = ["seed", "runs", "nodes", "visitors", "seconds", "seeds", "users"] as const;

function notANumber(flags: TortureFlags): string | null {
  const wrong = NUMBERS.find((key) => flags[key] !== undefined && !/^\d{1,16}$/.test(String(flags[key])));
  if (wrong === undefined) return null;
  const written = safeText(String(flags[wrong]), SHOWN_CHARACTERS_MAX);
  return `--${wrong} is "${written}"; it should be a whole number, without separators.`;
}

function withNumbers<Options>(flags: TortureFlags): Options {
  const numbers = NUMBERS.filter((key) => flags[key] !== undefined).map((key) => [key, Number(flags[key])]);
  return { ...flags, ...Object.fromEntries(numbers) } as unknown as Options;
}

function refuse({ json }: TortureFlags, wrong: string): 2 {
  if (json) process.stdout.write(jsonText({ ok: false, error: wrong }));
  else process.stderr.write(`${wrong}\n`);
  return 2;
}
