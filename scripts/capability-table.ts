/** The table of what each engine can do, as docs/engines.md has it between two marks. Made by `npm run generate`. */
import { CAPABILITIES, type Capability, type EngineKind } from "../src/core/capabilities.ts";

const NAMES: Readonly<Record<EngineKind, string>> = {
  memory: "memory",
  redis: "redis",
  relaxed: "redis, relaxed",
  cluster: "cluster",
};

const FEATURES: Readonly<Record<Capability, string>> = {
  exactOrder: "people are let in in the very order they came",
  lanes: "`lanes` and one-time codes",
  randomOrder: "`queueingMethod: random`",
  draws: "`shuffleAtEventStart`",
  budgets: "`budget`, shared by rooms",
  turnsOnTop: "`fillNoShows`",
  shop: "`shop`",
};

const BEGIN = "<!-- what each engine can do: made by `npm run generate` -->";
const END = "<!-- end -->";

/** The page with the table as it is now. */
export function withCapabilityTable(page: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END, from);
  if (from < 0 || to < 0) throw new Error(`the page has no place for the table: ${BEGIN} … ${END}`);
  return `${page.slice(0, from)}${BEGIN}\n\n${capabilityTable()}\n\n${page.slice(to)}`;
}

function capabilityTable(): string {
  const kinds = Object.keys(NAMES) as EngineKind[];
  const features = Object.keys(FEATURES) as Capability[];
  const rows = features.map((feature) => [
    FEATURES[feature],
    ...kinds.map((kind) => (CAPABILITIES[kind][feature] ? "yes" : "no")),
  ]);
  const lines = [["", ...kinds.map((kind) => NAMES[kind])], ["---", ...kinds.map(() => "---")], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
