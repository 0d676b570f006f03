/**
 * `fairgate simulate`: with `--crowd`, what would happen if that many people came, with your own settings; with `--seed` alone, a
 * whole cluster and everything that can go wrong, from one number; with `--table`, a paper's experiments again. Each takes flags of its own, and those of the other are
 * refused, since they would do nothing.
 *
 * Exit codes: 0 done; 1 a promise was broken, or the report cannot be written; 2 the command or the settings are not
 * right.
 */
import { type Command, Option } from "commander";
import { safeText } from "../config/problem.ts";
import { CANARIES } from "../sim/tunnel/canaries.ts";
import { PLAN_KINDS } from "../sim/tunnel/plan.ts";
import type { SeedOptions } from "./simulate-seed.ts";
import type { TableOptions } from "./simulate-table.ts";
import type { WhatIfOptions } from "./simulate-what-if.ts";

const SHOWN_CHARACTERS_MAX = 60;

interface SimulateFlag {
  readonly flag: string;
  readonly description: string;
  /** Where commander puts it, if that does not follow from the flag. */
  readonly key?: string;
}

/** With `--crowd`. */
const CROWD_FLAGS: readonly SimulateFlag[] = [
  { flag: "--room <name>", description: "the room they come to; may be left out when there is one" },
  { flag: "--arrivals <shape>", description: "how they come: constant, spike or sigmoid (default: sigmoid)" },
  { flag: "--over <time>", description: "how long they take to come (default: 10m, a spike 5s)" },
  { flag: "--stay <time>", description: "how long they stay, on average (default: the session's length)" },
  { flag: "--impatient <percent>", description: "share of visitors who give up waiting (default: 0)" },
  {
    flag: "--no-show <percent>",
    description: "share of visitors who do not use their turn (default: 0)",
    key: "show",
  },
  {
    flag: "--leave <percent>",
    description: "share of visitors who end their visit when they go (default: 0)",
  },
  { flag: "--at <time>", description: "when the first come: a time, or the name of an event" },
  { flag: "--out <file>", description: "write a report, as a page with pictures" },
];
/** With `--table`. */
const TABLE_FLAGS: readonly SimulateFlag[] = [
  {
    flag: "--seeds <number>",
    description: "runs of each configuration, as shipped and as in the paper (default: 2)",
  },
  { flag: "--users <number>", description: "number of users instead of the paper's" },
  { flag: "--plot <directory>", description: "draw the paper's figures there" },
];
/** With `--seed` alone. */
const SEED_FLAGS: readonly SimulateFlag[] = [
  {
    flag: "--runs <number>",
    description: "number of seeds to run, one after the other (default: 1; with --canary 40)",
  },
  {
    flag: "--kind <name>",
    description: `the kind of plan: ${Object.keys(PLAN_KINDS).join(", ")} (default: drawn)`,
  },
  { flag: "--nodes <number>", description: "how many nodes, at most 64" },
  { flag: "--visitors <number>", description: "how many visitors" },
  { flag: "--seconds <number>", description: "how long visitors come and things go wrong" },
  {
    flag: "--without <names>",
    description: "faults and kinds of visitors to leave out, separated by commas",
  },
  {
    flag: "--canary <name>",
    description: `break a rule on purpose, to see that it is found: ${CANARIES.join(", ")}`,
  },
  { flag: "--check-letters", description: "run each seed again with messages copied, and compare" },
  { flag: "--trace", description: "print every event" },
];

export type SimulateFlags = Readonly<Record<string, unknown>> & { readonly json?: boolean };

/** The command, on one that has the flags for a room's settings. */
export function simulateCommand(command: Command): Command {
  const settings = command.options.map((option) => ({
    flag: option.long ?? "",
    key: option.attributeName(),
  }));
  command
    .description("What if that many people came? Or, from a seed: a cluster, its visitors, and every fault.")
    .option("--crowd <number>", "how many come")
    .option("--seed <number>", "the number that everything follows from; with --crowd 1 unless it is given")
    .option("--table <name>", "repeat the experiments of a paper: A1, the 27 configurations of the cluster's")
    .option("--json", "print the result as JSON");
  for (const { flag, description } of [...CROWD_FLAGS, ...SEED_FLAGS, ...TABLE_FLAGS])
    command.addOption(new Option(flag, description));
  return command.action(async (flags: SimulateFlags) => {
    process.exitCode = await simulate(flags, settings);
  });
}

async function simulate(flags: SimulateFlags, settings: readonly Named[]): Promise<number> {
  const wrong = problemWith(flags, settings);
  if (wrong !== null) return refuse(flags, wrong);
  if (flags.crowd !== undefined)
    return (await import("./simulate-what-if.ts")).runWhatIf(flags as WhatIfOptions);
  if (flags.table !== undefined)
    return (await import("./simulate-table.ts")).runTable(withNumbers<TableOptions>(flags));
  return (await import("./simulate-seed.ts")).runSeed(withNumbers<SeedOptions>(flags));
}

interface Named {
  readonly flag: string;
  readonly key: string;
}

const TABLE: Named = { flag: "--table", key: "table" };
const SEED: Named = { flag: "--seed", key: "seed" };

/** What is wrong with the flags together, if anything. */
export function problemWith(flags: SimulateFlags, settings: readonly Named[]): string | null {
  // Of `--no-show` commander says true where it is not given.
  const isGiven = ({ key }: Named) => flags[key] !== undefined && (key !== "show" || flags[key] !== true);
  const given = (names: readonly Named[]) => names.find(isGiven)?.flag;
  if (flags.crowd !== undefined) {
    const other = given([TABLE, ...TABLE_FLAGS.map(named), ...SEED_FLAGS.map(named)]);
    return other === undefined ? null : `${other} is for a run without a crowd, and there is --crowd.`;
  }
  const forTable = given(TABLE_FLAGS.map(named));
  if (flags.table === undefined && forTable !== undefined)
    return `${forTable} is for a table, and there is no --table: say which, such as --table A1.`;
  const bySeed = flags.table === undefined ? undefined : given([SEED, ...SEED_FLAGS.map(named)]);
  if (bySeed !== undefined) return `${bySeed} is for a run by --seed alone, and there is --table.`;
  const other = given([...CROWD_FLAGS.map(named), ...settings]);
  if (other !== undefined)
    return `${other} is for a crowd, and there is no --crowd: say how many come, such as --crowd 50000.`;
  if ([flags.seed, flags.table, flags.canary].some((value) => value !== undefined)) return notANumber(flags);
  return "Say how many come, such as --crowd 50000, or by which seed a cluster is to be run, such as --seed 1.";
}

function named({ flag, key }: SimulateFlag): Named {
  const long = flag.split(" ")[0]!;
  const camel = long.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return { flag: long, key: key ?? camel };
}

const NUMBERS = ["seed", "runs", "nodes", "visitors", "seconds", "seeds", "users"] as const;

function notANumber(flags: SimulateFlags): string | null {
  const wrong = NUMBERS.find((key) => flags[key] !== undefined && !/^\d{1,16}$/.test(String(flags[key])));
  if (wrong === undefined) return null;
  const written = safeText(String(flags[wrong]), SHOWN_CHARACTERS_MAX);
  return `--${wrong} is "${written}"; it should be a whole number, without separators.`;
}

function withNumbers<Options>(flags: SimulateFlags): Options {
  const numbers = NUMBERS.filter((key) => flags[key] !== undefined).map((key) => [key, Number(flags[key])]);
  return { ...flags, ...Object.fromEntries(numbers) } as unknown as Options;
}

function refuse({ json }: SimulateFlags, wrong: string): 2 {
  if (json) process.stdout.write(`${JSON.stringify({ ok: false, error: wrong }, null, 2)}\n`);
  else process.stderr.write(`${wrong}\n`);
  return 2;
}
