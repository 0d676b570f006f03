/**
 * All checks of plain values, whether they came from a file, flags or a program: the schema, the settings against each
 * other, secrets, and the files that settings name. Each step runs on what the earlier steps could parse, so that one
 * wrong value hides no other problem.
 */
import { type CheckCatalogue, readCatalogues } from "./catalogue-check.ts";
import { checkTls, type FileAnswer, locateFile, type ReadFile, readPage, tryRead } from "./check-files.ts";
import {
  type ClusterSecrets,
  checkClusterSecret,
  readClusterSecrets,
  toClusterSettings,
} from "./cluster-settings.ts";
import { cautions, checkOpenControl, crossCheck } from "./cross-check.ts";
import { toFindings } from "./issues.ts";
import { readLaneSecrets } from "./lane-members.ts";
import { settingsOutline } from "./outline.ts";
import {
  type Finding,
  formatPath,
  type Path,
  type Problem,
  type SettingSources,
  sortProblems,
  toProblem,
} from "./problem.ts";
import { type RedisSecrets, readRedisSecrets, toRedisSettings, withRedisVariable } from "./redis-settings.ts";
import { type CheckPage, checkNames, checkPageText, pagesOf } from "./room-check.ts";
import { isRecord, type Known, salvage } from "./salvage.ts";
import {
  type FileSettings,
  type PageSettings,
  PREVIOUS_SECRETS_MAX,
  type Settings,
  STANDARD_OUTPUT,
  settingsSchema,
} from "./schema.ts";
import {
  checkSecret,
  chooseSecret,
  missingSecret,
  SECRET_VARIABLE,
  type SecretAnswer,
  TOKEN_VARIABLE,
} from "./secrets.ts";
import { readShopSecrets } from "./shop-secrets.ts";

export type Environment = Readonly<Record<string, string | undefined>>;
export type { CheckCatalogue, CheckPage };

export type LoadResult =
  | { readonly ok: true; readonly settings: Settings; readonly warnings: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export interface CheckContext {
  readonly sources: SettingSources;
  /** Problems found on the way to the values. */
  readonly early: readonly Problem[];
  readonly environment: Environment;
  readonly readFile: ReadFile;
  readonly checkPage: CheckPage;
  readonly checkCatalogue: CheckCatalogue;
  /** Relative file names start from this file's folder; null: from the current directory. */
  readonly settingsFile: string | null;
  /** False where a secret is generated for the run. */
  readonly needsSecret: boolean;
  /** False where the rooms guard a site inside the same program. */
  readonly needsOrigin: boolean;
}

/** Settings from plain values, or every problem with them. */
export function checkValues(given: unknown, context: CheckContext): LoadResult {
  const { input, sources, cautions: unused } = withRedisVariable(given, context.sources, context.environment);
  const parsed = settingsSchema.safeParse(input);
  const known: Known<FileSettings> = salvage(settingsSchema, input) ?? {};
  const read = (fileName: string) => tryRead(context.readFile, locateFile(fileName, context.settingsFile));
  const secrets = checkSecrets(known, context, read);
  const secretSources = { environment: context.environment, read };
  const lanes = readLaneSecrets(known.rooms ?? {}, secretSources);
  const shops = readShopSecrets(known.shops ?? {}, secretSources);
  const catalogues = readCatalogues(known, { read, check: context.checkCatalogue });
  const redis = readRedisSecrets(known.redis ?? null, secretSources);
  const cluster = readClusterSecrets(known.cluster ?? null, secretSources);
  const pages = checkPages(known, context, read);
  const findings = [
    ...(parsed.success ? [] : toFindings(parsed.error.issues, input, settingsOutline())),
    ...(isRecord(input) && isRecord(input.rooms) ? checkNames(input.rooms) : []),
    ...crossCheck(known).filter(({ code }) => context.needsOrigin || code !== "no-origin"),
    ...(known.tls ? checkTls(known.tls, read) : []),
    ...secrets.problems,
    ...lanes.problems,
    ...shops.problems,
    ...catalogues.problems,
    ...redis.problems,
    ...cluster.problems,
    ...checkClusterSecret(cluster.secret, [
      secrets.secret,
      ...secrets.previous,
      ...(known.previousSecrets ?? []),
    ]),
    ...pages.problems,
  ];
  const located = (finding: Finding) => toProblem(finding, sources);
  const problems = [...context.early, ...atMost(findings).map(located)];
  if (problems.length > 0 || !parsed.success) return { ok: false, problems: sortProblems(problems) };
  const { settingsFile } = context;
  const beside = {
    laneSecrets: lanes.secrets,
    shopSecrets: shops.secrets,
    firstCatalogues: catalogues.catalogues,
  };
  const found = { secrets, beside, redis, cluster, pages: pages.html, settingsFile };
  const settings = complete(parsed.data, found);
  const warnings = [
    ...cautions(known),
    ...secrets.cautions,
    ...catalogues.cautions,
    ...redis.cautions,
    ...cluster.cautions,
    ...unused,
  ].map(located);
  return { ok: true, settings, warnings: sortProblems(warnings) };
}

/** The most problems that are shown. */
const PROBLEMS_MAX = 100;

function atMost(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= PROBLEMS_MAX) return findings;
  const message = `there are ${findings.length - PROBLEMS_MAX} more problems`;
  const rest: Finding = { code: "too-large", path: [], at: "key", message, hint: "Put these right first." };
  return [...findings.slice(0, PROBLEMS_MAX), rest];
}

interface CheckedSecrets {
  readonly secret: string | null;
  readonly previous: readonly string[];
  readonly token: string | null;
  readonly problems: readonly Finding[];
  readonly cautions: readonly Finding[];
}

function checkSecrets(
  known: Known<FileSettings>,
  context: CheckContext,
  read: (name: string) => FileAnswer,
): CheckedSecrets {
  const secretSources = { environment: context.environment, read };
  const secret = chooseSecret(
    {
      what: "secret",
      variable: SECRET_VARIABLE,
      path: ["secret"],
      value: known.secret,
      fileName: known.secretFile,
      linesMax: 1 + PREVIOUS_SECRETS_MAX,
    },
    secretSources,
  );
  const token = chooseSecret(
    {
      what: "token",
      variable: TOKEN_VARIABLE,
      path: ["control", "token"],
      value: known.control?.token,
      fileName: known.control?.tokenFile,
    },
    secretSources,
  );
  const older = (known.previousSecrets ?? []).flatMap((value, index) => {
    const path = ["previousSecrets", index];
    return checkSecret(value, { what: "secret", name: formatPath(path), path });
  });
  // A data directory keeps a token made for it.
  const isUnset = known.control?.token === null && known.control.tokenFile === null && known.data === null;
  const isOpen = isNowhere(token) && isUnset;
  const sharedBy =
    known.redis != null ? "gateway on this Redis" : known.cluster != null ? "node of the cluster" : null;
  const isMissing =
    isNowhere(secret) &&
    known.secret === null &&
    known.secretFile === null &&
    // A data directory keeps a generated secret. Redis keeps none: anyone who can read it could then make passes. Nodes of a
    // cluster need it before they connect.
    (known.data === null || sharedBy !== null) &&
    context.needsSecret;
  return {
    secret: secret.secrets[0] ?? null,
    previous: secret.secrets.slice(1),
    token: token.secrets[0] ?? null,
    problems: [
      ...secret.problems,
      ...token.problems,
      ...older,
      ...(isOpen ? checkOpenControl(known.control?.listen) : []),
      ...(isMissing ? [missingSecret({ sharedBy })] : []),
    ],
    cautions: [...secret.cautions, ...token.cautions],
  };
}

function isNowhere(answer: SecretAnswer): boolean {
  return answer.secrets.length === 0 && answer.problems.length === 0;
}

interface CheckedPages {
  /** Pages read from files, by the path of the page's settings. */
  readonly html: ReadonlyMap<string, string>;
  readonly problems: readonly Finding[];
}

function checkPages(
  known: Known<FileSettings>,
  { checkPage }: CheckContext,
  read: (fileName: string) => FileAnswer,
): CheckedPages {
  const html = new Map<string, string>();
  const problems: Finding[] = [];
  const pages = Object.entries(known.rooms ?? {}).flatMap(([name, room]) => [
    ...pagesOf(room ?? {}, ["rooms", name]),
  ]);
  for (const [at, pageSettings] of pages) {
    const { customPageFile, customPageHtml } = pageSettings;
    const key = customPageFile ? "customPageFile" : "customPageHtml";
    const path = [...at, key];
    const page = customPageFile
      ? readPage(path, customPageFile, read)
      : { html: customPageHtml ?? null, findings: [] };
    problems.push(...page.findings);
    if (page.html === null) continue;
    if (customPageFile) html.set(formatPath(at), page.html);
    problems.push(...checkPageText(page.html, path, checkPage));
  }
  return { html, problems };
}

interface Found {
  readonly secrets: CheckedSecrets;
  readonly beside: Pick<Settings, "laneSecrets" | "shopSecrets" | "firstCatalogues">;
  readonly redis: RedisSecrets;
  readonly cluster: ClusterSecrets;
  readonly pages: ReadonlyMap<string, string>;
  readonly settingsFile: string | null;
}

/** The settings with secrets and pages read in, and file names made absolute. */
function complete(parsed: FileSettings, found: Found): Settings {
  const { secrets, beside, pages, settingsFile } = found;
  const { secretFile: _, control, ...settings } = parsed;
  const absolute = (fileName: string) => locateFile(fileName, settingsFile);
  const { tls, accessLog } = settings;
  const withText = <Page extends Known<PageSettings>>(page: Page, path: Path): Page => {
    if (page.customPageFile == null) return page;
    const html = pages.get(formatPath(path)) ?? page.customPageHtml;
    return { ...page, customPageHtml: html, customPageFile: absolute(page.customPageFile) };
  };
  const rooms = Object.entries(settings.rooms).map(([name, room]) => {
    const events = room.events.map((event, index) =>
      event.page ? { ...event, page: withText(event.page, ["rooms", name, "events", index, "page"]) } : event,
    );
    return [name, { ...room, page: withText(room.page, ["rooms", name, "page"]), events }];
  });
  const shops = Object.entries(settings.shops).map(([name, shop]) => [
    name,
    { ...shop, catalogueFile: shop.catalogueFile && absolute(shop.catalogueFile) },
  ]);
  return {
    ...settings,
    shops: Object.fromEntries(shops),
    tls: tls && { certificateFile: absolute(tls.certificateFile), keyFile: absolute(tls.keyFile) },
    data: settings.data && absolute(settings.data),
    accessLog: accessLog && {
      ...accessLog,
      to: accessLog.to === STANDARD_OUTPUT ? accessLog.to : absolute(accessLog.to),
    },
    redis: settings.redis && toRedisSettings(settings.redis, found.redis),
    cluster: settings.cluster && toClusterSettings(settings.cluster, found.cluster),
    secret: secrets.secret,
    previousSecrets: [...settings.previousSecrets, ...secrets.previous],
    ...beside,
    control: { listen: control.listen, token: secrets.token },
    rooms: Object.fromEntries(rooms),
  };
}
