/** `docs/errors.md`, from the catalogue in `src/core/errors.ts`: a table for each kind of code. */
import {
  type CatalogueEntry,
  CONTROL_REFUSALS,
  EXIT_CODES,
  LOG_CODES,
  PAGES,
  PROXY_ERRORS,
  REDIS_PROBLEMS,
  RELAXED_ERRORS,
  SETTING_PROBLEMS,
  STORE_PROBLEMS,
} from "../src/core/errors.ts";
import { type PageKind, textsOf } from "../src/gateway/page/languages.ts";

const HEADER = `# Errors

What you see, why, and what to do. Codes are stable: scripts and alerts may rely on them. The sentence beside a code says
more, with the value, file or address it is about, and may change. This page is made from \`src/core/errors.ts\`
(\`npm run generate\`).

Not here: an answer that is no error, such as \`waiting\` or \`comeBack\` ([programs.md](programs.md)); the findings of
\`fairgate doctor\` ([doctor.md](doctor.md)); and wrong calls of the library, which are a \`RangeError\` or \`TypeError\`
whose message says what is wrong.
`;

const heading = (kind: string) => textsOf("en").problem[kind as PageKind].heading;

interface Section {
  readonly title: string;
  readonly about: string;
  /** What the codes are called there. */
  readonly column: string;
  readonly catalogue: Readonly<Record<string, CatalogueEntry>>;
  /** What is shown beside the code. */
  readonly seen?: (code: string) => string;
}

const SECTIONS: readonly Section[] = [
  {
    title: "Exit codes",
    about: "Of every `fairgate` command.",
    column: "code",
    catalogue: EXIT_CODES,
  },
  {
    title: "Settings",
    about:
      "`fairgate check` and `fairgate run` print all problems at once, each with its line, the reason and a hint. The code is in `fairgate check --json`.",
    column: "code",
    catalogue: SETTING_PROBLEMS,
  },
  {
    title: "Pages for visitors",
    about:
      "In place of the site or of the line. In JSON the kind is `kind`, or `reason` for those who get no place ([programs.md](programs.md)). Where the page shows an id, the log has a line with the same one.",
    column: "kind",
    catalogue: PAGES,
    seen: heading,
  },
  {
    title: "Requests to the origin",
    about:
      "In the log, as `code`, beside the `id` that the visitor was shown, the `address` of the origin and the system's own `cause`.",
    column: "code",
    catalogue: PROXY_ERRORS,
  },
  {
    title: "Other lines of the log",
    about:
      "As `code`. What outsiders can cause over and over is at most one line a second of each kind, with `count`.",
    column: "code",
    catalogue: LOG_CODES,
  },
  {
    title: "The data directory",
    about: "`code` of a `StoreProblem`. One that cannot be opened ends `run` with exit code 1.",
    column: "code",
    catalogue: STORE_PROBLEMS,
  },
  {
    title: "Redis",
    about:
      "`kind` of a `RedisProblem`, whose message names the server. `wasRefused` is true when certainly nothing was done.",
    column: "kind",
    catalogue: REDIS_PROBLEMS,
  },
  {
    title: "The relaxed queue",
    about: "What `fairgate/relaxed` throws beside a `RedisProblem`.",
    column: "name",
    catalogue: RELAXED_ERRORS,
  },
  {
    title: "The control address",
    about: 'Every refusal is JSON: `{ "error": { "code": "…", "message": "…" } }`.',
    column: "code",
    catalogue: CONTROL_REFUSALS,
  },
];

/** The whole page. */
export function errorsPage(): string {
  return [HEADER, ...SECTIONS.map(section)].join("\n");
}

function section({ title, about, column, catalogue, seen }: Section): string {
  const entries = Object.entries<CatalogueEntry>(catalogue);
  const hasStatus = entries.some(([, { status }]) => status !== undefined);
  const cells = (...all: readonly (string | false)[]) =>
    `| ${all.filter((cell) => cell !== false).join(" | ")} |`;
  const rows = entries.map(([code, { status, why, action }]) =>
    cells(`\`${code}\``, hasStatus && [status].flat().join(", "), seen ? seen(code) : false, why, action),
  );
  const head = cells(column, hasStatus && "status", seen ? "it says" : false, "why", "what to do");
  const rule = head.replace(/[^|]+/g, "---");
  return `## ${title}\n\n${about}\n\n${[head, rule, ...rows].join("\n")}\n`;
}
