/**
 * Whether all nodes of a cluster were started with the same settings. Each keeps a short digest of its own where all see
 * it; two that differ show that a change is on its way from node to node, or that one machine was forgotten.
 *
 * What is told is what differs, never by what: a digest says nothing of a secret, and a room's settings may hold some.
 */
import { createHash, hkdfSync } from "node:crypto";
import type { Settings } from "../config/schema.ts";
import { writtenRoom } from "../config/written.ts";

/** What notes of settings are called, before the node's name. */
export const SETTINGS_NOTE = "settings/";
const DIGEST_CHARACTERS = 12;
const KEY_BYTES = 32;

/** Digests of what must be the same everywhere. */
export interface SettingsNote {
  readonly rooms: string;
  readonly secret: string;
  readonly timing: string;
}

const WORDS: Readonly<Record<keyof SettingsNote, string>> = {
  rooms: "other rooms or budgets",
  secret: "another secret for tickets and passes",
  timing: "another reclaimAfter or maxClockSkew",
};

export type NotedSettings = Pick<Settings, "rooms" | "budgets" | "secret" | "cluster">;

/** The note of a node with these settings. */
export function settingsNote({ rooms, budgets, secret, cluster }: NotedSettings): SettingsNote {
  const byName = Object.entries(rooms).map(([name, room]) => [name, writtenRoom(room)] as const);
  return {
    rooms: digest([byName.toSorted(([a], [b]) => (a < b ? -1 : 1)), Object.entries(budgets).toSorted()]),
    // Not the secret's own digest, which could be used to try out secrets faster.
    secret: digest(Buffer.from(derived(secret ?? "", "same secret")).toString("hex")),
    timing: digest([cluster?.reclaimAfterMs, cluster?.skewMaxMs]),
  };
}

/** A sentence for each other node whose settings are not like ours. */
export function settingsDifferences(
  own: SettingsNote,
  kept: ReadonlyMap<string, unknown>,
  others: readonly string[],
): string[] {
  return others.flatMap((name) => {
    const note = kept.get(SETTINGS_NOTE + name);
    if (!isNote(note)) return [];
    const keys = Object.keys(WORDS) as (keyof SettingsNote)[];
    const words = keys.filter((key) => note[key] !== own[key]).map((key) => WORDS[key]);
    return words.length === 0 ? [] : [`${name} has ${words.join(", and ")} in its settings`];
  });
}

/** The cluster's secret where the settings have none of its own. */
export function clusterSecretFrom(secret: string): string {
  return Buffer.from(derived(secret, "cluster secret")).toString("base64url");
}

function derived(secret: string, purpose: string): ArrayBuffer {
  return hkdfSync("sha256", secret, "fairgate", purpose, KEY_BYTES);
}

function digest(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return createHash("sha256").update(text).digest("base64url").slice(0, DIGEST_CHARACTERS);
}

/** A node of another version may keep anything. */
function isNote(value: unknown): value is SettingsNote {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.keys(WORDS).every((key) => typeof (value as Record<string, unknown>)[key] === "string")
  );
}
