/**
 * A catalogue in the organiser's form and in the shop's: read from the one, and shown in the other's words. What is shown reads as
 * the same catalogue.
 */
import type { WrittenCatalogue } from "../shop/rules/written-catalogue.ts";
import { type CatalogueInput, catalogueSchema } from "./catalogue-schema.ts";
import { toFindings } from "./issues.ts";
import { catalogueOutline } from "./outline.ts";
import { type Finding, formatPath } from "./problem.ts";
import { readSettingsFile } from "./settings-file.ts";
import { formatDuration, formatInstant } from "./units.ts";

export const CATALOGUE_BYTES_MAX = 4 * 1_048_576;

export interface CatalogueProblemShown {
  /** Empty: the whole catalogue. */
  readonly path: string;
  readonly message: string;
  /** What it should be; empty: nothing to add. */
  readonly hint: string;
}

export type CatalogueReading =
  | { readonly ok: true; readonly written: WrittenCatalogue }
  | { readonly ok: false; readonly problems: readonly CatalogueProblemShown[] };

/** A catalogue out of plain values. What its values mean for each other is the shop's to check. */
export function readCatalogue(input: unknown): CatalogueReading {
  const lost = pathsOfLost(input).map((path) => ({ path: formatPath(path), message: LOST, hint: "" }));
  if (lost.length > 0) return { ok: false, problems: lost };
  const parsed = catalogueSchema.safeParse(input);
  if (parsed.success) return { ok: true, written: renamed(parsed.data, TO_SHOP) as WrittenCatalogue };
  return { ok: false, problems: toFindings(parsed.error.issues, input, catalogueOutline()).map(shown) };
}

/** The same from the text of a file, in YAML or JSON. */
export function readCatalogueFile(text: string, file: string): CatalogueReading {
  const parsed = parseCatalogueFile(text, file);
  return parsed.ok ? readCatalogue(parsed.input) : parsed;
}

export type CatalogueFileParsing =
  | { readonly ok: true; readonly input: object }
  | { readonly ok: false; readonly problems: readonly CatalogueProblemShown[] };

/** The plain values in the text of a file. */
export function parseCatalogueFile(text: string, file: string): CatalogueFileParsing {
  const read = readSettingsFile({ text, file }, catalogueOutline(), {
    bytesMax: CATALOGUE_BYTES_MAX,
    hints: {
      tooLarge: "A catalogue has at most 4 MB.",
      empty: "It needs at least a currency and products.",
    },
  });
  if (!read.value || read.problems.length > 0)
    return { ok: false, problems: read.problems.map(({ path, message, hint }) => ({ path, message, hint })) };
  return { ok: true, input: read.value };
}

/** As an organiser would write it. */
export function showCatalogue(written: WrittenCatalogue): CatalogueInput {
  return renamed(written, TO_ORGANISER) as CatalogueInput;
}

/** A name that no mapping has once it is read: what stands under it would be left out, and nobody told. */
const LOST_NAME = "__proto__";
const LOST = `"${LOST_NAME}" is no name`;
/** Nothing in a catalogue is deeper. */
const DEPTH_MAX = 8;

function pathsOfLost(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null || path.length > DEPTH_MAX) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === LOST_NAME ? [[...path, name]] : pathsOfLost(inner, [...path, name]),
  );
}

function shown({ path, message, hint }: Finding): CatalogueProblemShown {
  return { path: formatPath(path), message, hint };
}

/** A key's other name, and its value in the other form. */
type Renaming = Readonly<Record<string, readonly [name: string, value: (value: unknown) => unknown]>>;

const asIs = (value: unknown) => value;
const asDuration = (value: unknown) => (value === null ? null : formatDuration(value as number));
const asInstant = (value: unknown) => (value === null ? null : formatInstant(value as number));

/** The names of the organiser's form, and those of the shop's. */
const WINDOWS: Readonly<Record<string, string>> = {
  shoppingWindow: "shoppingWindowMs",
  doneWindow: "doneMs",
  payingWindow: "payingMs",
  offerWindow: "offerMs",
  tieWindow: "tieWindowMs",
  every: "everyMs",
};

const TO_SHOP: Renaming = Object.fromEntries(
  Object.entries(WINDOWS).map(([from, to]) => [from, [to, asIs] as const]),
);

const TO_ORGANISER: Renaming = {
  ...Object.fromEntries(Object.entries(WINDOWS).map(([to, from]) => [from, [to, asDuration] as const])),
  opensAt: ["opensAt", asInstant],
  saleStart: ["saleStart", asInstant],
  saleEnd: ["saleEnd", asInstant],
  oversell: ["oversell", (value) => `${(value as number) / 100}%`],
};

/** Mappings whose keys are names that people gave. */
const FREE = new Set(["products", "pools", "parts", "options", "choices", "from", "holdBacks"]);

/** The same with other names and forms, and without what is undefined. */
function renamed(value: unknown, renaming: Renaming, isFree = false): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (inner === undefined) return [];
    const [name, form] = (!isFree && Object.hasOwn(renaming, key) ? renaming[key] : undefined) ?? [key, asIs];
    return [[name, form(renamed(inner, renaming, !isFree && FREE.has(key)))]];
  });
  return Object.fromEntries(entries);
}
