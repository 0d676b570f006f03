/**
 * The schema as a plain tree: every setting with its words, default and children. The example file, the reference and
 * the error messages read this tree, never the schema's insides; it is made from the JSON Schema that zod writes.
 */
import { z } from "zod";
import { catalogueSchema } from "./catalogue-schema.ts";
import type { Path } from "./problem.ts";
import { roomSchema, settingsSchema } from "./schema.ts";

export interface Setting {
  readonly key: string;
  readonly description: string;
  /** What a value should be, in words. Empty for a mapping. */
  readonly shape: string;
  readonly kind: string;
  /** As it is written in a file; undefined when it must be given. */
  readonly default: unknown;
  /** False for what may be left out. With no default it is then taken from elsewhere, as in an event from its room. */
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  readonly isSecret: boolean;
  /** The settings inside a mapping; empty for single values and lists. */
  readonly children: readonly Setting[];
  /** What each entry of a list, or of a mapping with free names, is. */
  readonly entry: Setting | null;
  readonly isList: boolean;
}

interface JsonSchema {
  readonly description?: string;
  readonly shape?: string;
  readonly kind?: string;
  readonly isSecret?: boolean;
  readonly default?: unknown;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

let settings: Setting | undefined;
let room: Setting | undefined;
let catalogue: Setting | undefined;

/** The tree of all settings, made once. */
export function settingsOutline(): Setting {
  settings ??= outlineOf(settingsSchema);
  return settings;
}

/** The tree of a room's settings. */
export function roomOutline(): Setting {
  room ??= outlineOf(roomSchema);
  return room;
}

/** The tree of a shop's catalogue. */
export function catalogueOutline(): Setting {
  catalogue ??= outlineOf(catalogueSchema);
  return catalogue;
}

function outlineOf(schema: z.ZodType): Setting {
  return toSetting("", z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema, true);
}

function toSetting(key: string, outer: JsonSchema, isRequired: boolean): Setting {
  const inner = withoutNull(outer);
  const free = typeof inner.additionalProperties === "object" ? inner.additionalProperties : inner.items;
  return {
    key,
    description: outer.description ?? "",
    shape: outer.shape ?? inner.shape ?? "",
    kind: outer.kind ?? inner.kind ?? "",
    default: outer.default,
    isRequired,
    isNullable: inner !== outer,
    isSecret: outer.isSecret ?? inner.isSecret ?? false,
    children: Object.entries(inner.properties ?? {}).map(([name, child]) =>
      toSetting(name, child, inner.required?.includes(name) ?? false),
    ),
    entry: free ? toSetting("", free, true) : null,
    isList: inner.items !== undefined,
  };
}

/** The schema of what is there when it is not null. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const isNullable = schema.anyOf?.some((option) => option.type === "null") ?? false;
  return isNullable ? (schema.anyOf?.find((option) => option.type !== "null") ?? schema) : schema;
}

/** The setting at a path into the settings, or null when there is none. */
export function settingAt(root: Setting, path: Path): Setting | null {
  let setting: Setting | null = root;
  for (const part of path) {
    setting = setting.children.find((child) => child.key === part) ?? setting.entry;
    if (!setting) return null;
  }
  return setting;
}

/** True for a mapping with settings in it, or with free names. */
export function isMappingSetting(setting: Setting): boolean {
  return setting.children.length > 0 || (setting.entry !== null && !setting.isList);
}

/** Every place where a setting called `key` exists, with `<name>` for a free name. */
export function pathsOf(root: Setting, key: string): string[] {
  const found: string[] = [];
  const walk = (setting: Setting, path: string[]): void => {
    for (const child of setting.children) {
      if (child.key === key) found.push([...path, key].join("."));
      walk(child, [...path, child.key]);
    }
    if (setting.entry && !setting.isList) walk(setting.entry, [...path, "<name>"]);
  };
  walk(root, []);
  return found;
}
