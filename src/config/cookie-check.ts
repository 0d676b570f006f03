/** Whether a room's cookie reaches every host that the room is for. */
import type { KnownRoom } from "./door-check.ts";
import { type Finding, formatPath, type Path } from "./problem.ts";

/** Problems with a host for which browsers would reject the cookie. */
export function checkCookieDomain(room: KnownRoom, path: Path): Finding[] {
  const domain = room.cookieDomain;
  if (domain == null) return [];
  for (const host of hostsOf(room)) {
    if (isBelow(host, domain)) continue;
    const at = [...path, "cookieDomain"];
    const message = `${formatPath(at)} is ${domain}, and the room is also for ${host}, where browsers do not accept such a cookie`;
    const hint = "Visitors there could not keep a place. Give that host a room of its own.";
    return [{ code: "conflict", path: at, at: "value", message, hint }];
  }
  return [];
}

/** A warning for several hosts with a cookie each, where one person counts as several visitors. At most one per room. */
export function cookieCautions(room: KnownRoom, path: Path): Finding[] {
  if (room.cookieDomain != null) return [];
  const hosts = hostsOf(room);
  if (hosts.length < 2) return [];
  const [first, second] = hosts;
  const message = `${formatPath(path)} is for ${first} and ${second}, and the cookie of one does not reach the other: a person who visits both counts as two visitors`;
  const shared = sharedDomain(hosts);
  const hint =
    shared === null ? "No cookie reaches both. Give each a room of its own." : `Set cookieDomain: ${shared}.`;
  return [{ code: "caution", path, at: "key", message, hint }];
}

/** The hosts that the room names. */
function hostsOf({ host, additionalRoutes = [] }: KnownRoom): string[] {
  const named = [host, ...additionalRoutes.map((route) => route.host)];
  return [...new Set(named)].filter((one) => typeof one === "string");
}

function isBelow(host: string, domain: string): boolean {
  const name = host.replace(/^\*\./, "");
  return name === domain || name.endsWith(`.${domain}`);
}

/** The longest domain that all of them are in; null when there is none that a cookie can be for. */
function sharedDomain(hosts: readonly string[]): string | null {
  const [first = "", ...others] = hosts.map((host) => host.replace(/^\*\./, "").split("."));
  const labels = [...first];
  for (; labels.length >= 2; labels.shift()) {
    const domain = labels.join(".");
    if (others.every((other) => isBelow(other.join("."), domain))) return domain;
  }
  return null;
}
