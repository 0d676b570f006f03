/** What `run` says on a terminal once it listens: addresses, rooms, where everything is kept, how to look and how to stop. Pure. */
import { relative } from "node:path";
import { describeCluster } from "../../config/cluster-settings.ts";
import { formatHostPort, type HostPort } from "../../config/kinds.ts";
import { safeText } from "../../config/problem.ts";
import { describeRedis } from "../../config/redis-settings.ts";
import type { RoomSettings, Settings } from "../../config/schema.ts";
import { formatDuration } from "../../config/units.ts";
import { countText } from "../../sim/what-if/words.ts";
import { clipped } from "./columns.ts";
import type { ControlToken } from "./control-files.ts";

const LABEL_COLUMNS = 13;
const COLUMNS_MIN = 40;
const ROOMS_SHOWN_MAX = 8;
const ADDRESSES_SHOWN_MAX = 3;
const TEXT_CHARACTERS_MAX = 300;
const EVERY_ADDRESS = new Set(["", "0.0.0.0", "::"]);

export interface BannerFacts {
  readonly version: string;
  readonly settings: Settings;
  readonly address: HostPort;
  readonly controlAddress: HostPort;
  readonly controlToken: ControlToken;
  readonly columns: number;
  /** The folder that names of files are shown from. */
  readonly folder: string;
}

/** The whole banner, with an empty line above and below. */
export function bannerText(facts: BannerFacts): string {
  const { version, settings, address, controlAddress, controlToken, columns, folder } = facts;
  const rows: (readonly [string, string])[] = [
    ["Visitors", `${settings.tls ? "https" : "http"}://${shownAddress(address)}`],
    ["Site", siteOf(settings)],
    ...roomRows(settings),
    ["Kept in", keptIn(settings, folder)],
    ["Control", shownAddress(controlAddress, "")],
    ["Token", tokenWords(controlToken, folder)],
    ["Look", "fairgate watch, or fairgate status; fairgate --help has the rest"],
    ["Stop", "Ctrl-C"],
  ];
  const lines = rows.map(([label, text]) => {
    const shown = safeText(text, TEXT_CHARACTERS_MAX);
    // A token must be whole; a terminal that is too narrow breaks the line.
    const isToken = label === "Token" && controlToken.from === "process";
    const whole = `  ${label.padEnd(LABEL_COLUMNS)}${isToken ? text : shown}`;
    return isToken ? whole : clipped(whole, Math.max(COLUMNS_MIN, columns));
  });
  return `\n  Fairgate ${version} is running.\n\n${lines.join("\n")}\n\n`;
}

/** The address, and what an address for everybody means. */
function shownAddress({ host, port }: HostPort, more = "  (every address of this machine)"): string {
  return EVERY_ADDRESS.has(host) ? `127.0.0.1:${port}${more}` : formatHostPort({ host, port });
}

function siteOf({ origin, rooms }: Settings): string {
  const own = Object.values(rooms).filter((room) => room.origin !== null).length;
  const addresses = (origin?.addresses ?? []).map(String);
  const shown = addresses.slice(0, ADDRESSES_SHOWN_MAX).join(", ");
  const more =
    addresses.length > ADDRESSES_SHOWN_MAX ? ` and ${addresses.length - ADDRESSES_SHOWN_MAX} more` : "";
  const rest =
    own === 0
      ? ""
      : `${shown === "" ? "" : "; "}${own} of the rooms ${own === 1 ? "has its" : "have their"} own`;
  return `${shown}${more}${rest}`;
}

function roomRows({ rooms }: Settings): (readonly [string, string])[] {
  const all = Object.entries(rooms);
  const shown = all.slice(0, ROOMS_SHOWN_MAX);
  const width = Math.max(...shown.map(([name]) => name.length));
  const rows = shown.map(
    ([name, room], i) => [i === 0 ? "Rooms" : "", `${name.padEnd(width)}  ${roomWords(room)}`] as const,
  );
  return all.length > shown.length ? [...rows, ["", `and ${all.length - shown.length} more`]] : rows;
}

function roomWords({ totalActiveUsers, newUsersPerMinute, sessionDuration, ...room }: RoomSettings): string {
  const limits = [
    ...(totalActiveUsers === null ? [] : [`${countText(totalActiveUsers)} on the site`]),
    ...(newUsersPerMinute === null ? [] : [`${countText(newUsersPerMinute)} new a minute`]),
  ];
  const most = limits.length === 0 ? "no limit" : `at most ${limits.join(", ")}`;
  const held = (["suspended", "closed", "paused", "queueAll", "drained"] as const).find((key) => room[key]);
  return `${most}, sessions ${formatDuration(sessionDuration)}${held === undefined ? "" : `; ${held}`}`;
}

function keptIn({ data, redis, cluster }: Settings, folder: string): string {
  if (redis !== null) return `Redis: ${describeRedis(redis)}`;
  if (cluster !== null) return `the nodes of the cluster: ${describeCluster(cluster)}`;
  if (data !== null) return `${nearName(data, folder)}; a crash costs nobody their place`;
  return "memory only: a crash forgets who left; keep it with --data DIR";
}

/** The shorter of a file's two names. */
function nearName(file: string, folder: string): string {
  const near = relative(folder, file);
  return near.startsWith("..") ? file : `./${near}`;
}

function tokenWords({ from, file, token }: ControlToken, folder: string): string {
  if (from === "file") return `in ${nearName(file!, folder)}; commands find it there`;
  return from === "settings" ? "as set" : `${token}  (until this ends; export FAIRGATE_CONTROL_TOKEN)`;
}
