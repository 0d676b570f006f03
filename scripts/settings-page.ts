/**
 * `docs/settings.md`, and the tables of the catalogue in `docs/shop.md`, from their schemas: a table for each section with every setting, what it should be, its default and
 * what it means; and which of them meet which requirement.
 */
import { FLAGS } from "../src/config/flags.ts";
import { isMappingSetting, type Setting } from "../src/config/outline.ts";

const HEADER = `# Settings

Fairgate reads \`fairgate.yaml\`. \`fairgate check\` says whether a file is good; \`fairgate.example.yaml\` shows every
setting in place. This page is made from the same schema that checks the file (\`npm run generate\`).

Times are written \`500ms\`, \`45s\`, \`10m\`, \`2h\` or \`1d\`; sizes \`16KB\` or \`100MB\`, where a KB is 1024 bytes;
percentages \`5%\`; instants \`2026-12-01T10:00:00Z\` or, by the clock of a place, \`2026-12-01T12:00:00+02:00\`. A
setting that may be \`null\` is off when it is. Unknown settings are errors.

Secrets can be in the file, in a file of their own, or in the environment: \`FAIRGATE_SECRET\` for \`secret\`,
\`FAIRGATE_CONTROL_TOKEN\` for \`control.token\`, \`FAIRGATE_REDIS_PASSWORD\` for \`redis.password\`,
\`FAIRGATE_REDIS_SENTINEL_PASSWORD\` for \`redis.sentinelPassword\`, \`FAIRGATE_CLUSTER_SECRET\` for \`cluster.secret\`,
and \`FAIRGATE_REDIS_URL\` for the whole of \`redis.url\`. The environment wins. \`fairgate keys new\` prints a new secret
or token. Without a secret Fairgate does not start.
`;

const FLAG_INTRODUCTION = `## Flags

Without a file, flags make one room, \`main\`, for every host and path. With a file, they change what it says: those for
a room only when the file has one room, those for the origin only when no room has its own.

| flag | setting | meaning |
|---|---|---|
`;

/** The whole page, with what meets which requirement at its end. */
export function settingsReference(root: Setting, requirements: string): string {
  const top = root.children.filter((setting) => !isMappingSetting(setting));
  const mappings = root.children.filter(isMappingSetting);
  const sections = mappings.flatMap((setting) => section(setting, [setting.key]));
  const flags = `${FLAG_INTRODUCTION}${FLAGS.map(flagRow).join("\n")}\n`;
  return [HEADER, `## Top\n\n${table(top)}`, ...sections, flags, `${requirements}\n`].join("\n");
}

const CATALOGUE_BEGIN = "<!-- the catalogue: made by `npm run generate` -->";
const CATALOGUE_END = "<!-- end -->";

/** The page with the tables of the catalogue as they are now. */
export function withCatalogueTables(page: string, root: Setting): string {
  const from = page.indexOf(CATALOGUE_BEGIN);
  const to = page.indexOf(CATALOGUE_END, from);
  if (from < 0 || to < 0)
    throw new Error(`the page has no place for the tables: ${CATALOGUE_BEGIN} … ${CATALOGUE_END}`);
  const top = table(root.children.filter((setting) => !isMappingSetting(setting)));
  const sections = root.children
    .filter(isMappingSetting)
    .flatMap((setting) => freeSections(setting, [setting.key]));
  const tables = [top, ...sections].join("\n");
  return `${page.slice(0, from)}${CATALOGUE_BEGIN}\n\n${tables}\n${page.slice(to)}`;
}

/** The sections of a mapping in which everything may be left out. */
function freeSections(setting: Setting, path: readonly string[]): string[] {
  const isFree = setting.children.length === 0 && setting.entry !== null;
  const inner = isFree ? setting.entry!.children : setting.children;
  const here = isFree ? [...path, "<id>"] : path;
  const nested = inner.filter(
    (child) => child.children.length > 0 || (child.entry?.children.length ?? 0) > 0,
  );
  const heading = `#### \`${here.join(".")}\`\n\n${setting.description}\n`;
  return [
    `${heading}\n${freeTable(inner.filter((child) => !nested.includes(child)))}`,
    ...nested.flatMap((child) => freeSections(child, [...here, child.key])),
  ];
}

function freeTable(settings: readonly Setting[]): string {
  const rows = settings.map(({ key, entry, shape, description, isNullable, isRequired }) => {
    const what = shape || `a mapping of names to ${entry?.shape ?? "values"}`;
    const must = isRequired ? " Must be given." : "";
    return `| \`${key}\` | ${cell(isNullable ? `${what}; or null` : what)} | ${cell(description + must)} |`;
  });
  return `| setting | what it should be | meaning |\n|---|---|---|\n${rows.join("\n")}\n`;
}

/** A mapping's own table, then those of the mappings inside it. */
function section(setting: Setting, path: readonly string[]): string[] {
  const isFree = setting.children.length === 0 && setting.entry !== null;
  const inner = isFree ? setting.entry!.children : setting.children;
  const here = isFree ? [...path, "<name>"] : path;
  const heading = `## \`${here.join(".")}\`\n\n${setting.description}${nullNote(setting)}\n`;
  if (here.join(".") === "rooms.<name>.origin")
    return [`${heading}\nThe same settings as [origin](#origin).\n`];
  const nested = inner
    .filter((child) => hasTable(child) && !isOverride(child))
    .flatMap((child) => section(withItsSettings(child), [...here, child.key]));
  const single = inner.filter((child) => !isMappingSetting(child) && !isOverride(child));
  return [`${heading}\n${table(single)}${overrides(inner)}`, ...nested];
}

/** True for what an event may say in place of its room. */
function isOverride(setting: Setting): boolean {
  return !setting.isRequired && setting.default === undefined;
}

/** They are the room's own settings, whose tables are there already. */
function overrides(settings: readonly Setting[]): string {
  const names = settings.filter(isOverride).map(({ key }) => `\`${key}\``);
  if (names.length === 0) return "";
  return `\nAlso, in place of the room's own and with the same meaning, any of ${names.join(", ")}. Settings inside a mapping that may be \`null\` are all of the event's then.\n`;
}

function hasTable(setting: Setting): boolean {
  return isMappingSetting(setting) || (setting.entry?.children.length ?? 0) > 0;
}

/** A list of mappings is shown by the settings of one entry. */
function withItsSettings(setting: Setting): Setting {
  return setting.isList && setting.entry
    ? { ...setting, children: setting.entry.children, entry: null }
    : setting;
}

function nullNote(setting: Setting): string {
  return setting.default === null ? " Default: `null`." : "";
}

function table(settings: readonly Setting[]): string {
  const rows = settings.map((setting) => {
    const value = setting.default === undefined ? "must be given" : `\`${JSON.stringify(setting.default)}\``;
    const shape = setting.isNullable ? `${setting.shape}; or null` : setting.shape;
    return `| \`${setting.key}\` | ${cell(shape)} | ${value} | ${cell(setting.description)} |`;
  });
  return `| setting | what it should be | default | meaning |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

function flagRow({ flag, path, scope, description }: (typeof FLAGS)[number]): string {
  const setting = scope === "room" ? ["rooms", "<name>", ...path] : path;
  return `| \`${flag}\` | \`${setting.join(".")}\` | ${cell(description)} |`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
