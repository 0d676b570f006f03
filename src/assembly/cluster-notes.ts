/**
 * Detects nodes of a cluster with different settings. Each node publishes a short digest of its own; two that differ mean
 * that a change is being rolled out from node to node, or that one machine was forgotten.
 *
 * Only which settings differ is reported, never their values: settings may contain secrets, and a digest reveals none.
 */
import { createHash, hkdfSync } from "node:crypto";
import { isRecord } from "../config/salvage.ts";
import type { Settings } from "../config/schema.ts";
import { writtenRoom } from "../config/written.ts";

/** Prefix of the notes' names, before the node's name. */
export const SETTINGS_NOTE = "settings/";
const DIGEST_CHARACTERS = 12;
const KEY_BYTES = 32;

/** Digests of the settings that must be the same on every node. */
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
    // Not a plain digest of the secret, which would make guessing it faster.
    secret: digest(Buffer.from(derived(secret ?? "", "same secret")).toString("hex")),
    timing: digest([cluster?.reclaimAfterMs, cluster?.skewMaxMs]),
  };
}

/** A sentence for each other node whose settings differ from ours. */
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

/** The cluster's secret if the settings have none: derived from the visitors' secret. */
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

/** A node of another version may publish anything. */
function isNote(value: unknown): value is SettingsNote {
  return isRecord(value) && Object.keys(WORDS).every((key) => typeof value[key] === "string");
}
