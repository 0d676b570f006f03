/**
 * Which room a request belongs to, and the target to send for it. An exact host beats a wildcard, a wildcard beats
 * "every host", and among those the longest path wins; case does not matter.
 *
 * What is routed is what is sent. Where rooms of a host have paths, a request's path is made plain first
 * (`plain-path.ts`) and the origin gets it in that form. Where an origin could still read it in several ways, the room
 * is that of all its readings; if two of these belong to different rooms, the request is refused. Where no path of a host
 * decides anything, the target goes on as it came, byte for byte.
 *
 * Where rooms are bound to hosts, a host that no room has gets 421, so that another spelling of a host is no way around
 * its room.
 */
import {
  isClear,
  isFileName,
  isNameCode,
  type PlainPath,
  plainEnd,
  readPlainPath,
} from "../config/plain-path.ts";
import { shortIpv6 } from "../config/route.ts";
import type { Route, Settings } from "../config/schema.ts";
import { isHost, type Refusal } from "./proxy/framing.ts";

export interface Router {
  /** The one room there is, when it covers every host and path; nobody then needs to look. */
  readonly only: string | null;
  /** Finds the room for a host, as a Host header names it, and a target that starts with a slash. */
  route(host: string, target: string): Routed | Refusal;
}

export interface Routed {
  /** The room's name; null when no room covers this address. */
  readonly room: string | null;
  /** Path and query to send. */
  readonly target: string;
  /** The route of the room by which it was found. */
  readonly route: Route | null;
}

export type RouterSettings = Pick<Settings, "rooms" | "oddPaths" | "otherHosts">;

interface PathRoute {
  /** As `PlainPath` has it; empty for everything. */
  readonly key: string;
  /** True when it has the name of a file in it. */
  readonly hasFile: boolean;
  readonly room: string;
  readonly route: Route;
}

/** What decides about the requests for one host. */
interface Site {
  /** The first that covers a path decides. Nothing comes after one that covers every path. */
  readonly routes: readonly PathRoute[];
  /** True when the path decides nothing. */
  readonly isFlat: boolean;
  /** What an address gets that no room covers; null: the origin at the top. */
  readonly refusal: Refusal | null;
}

const BAD_HOST: Refusal = { status: 400, reason: "malformed Host" };
const OTHER_HOST: Refusal = { status: 421, reason: "no room is for this host" };
const SEVERAL_ROOMS: Refusal = { status: 400, reason: "path that can be read as one of several rooms" };

export function createRouter({ rooms, oddPaths, otherHosts }: RouterSettings): Router {
  const byHost = routesByHost(rooms);
  const isHostBound = byHost.size > (byHost.has("") ? 1 : 0);
  const elsewhere = siteFor("", byHost, isHostBound && otherHosts === "refuse" ? OTHER_HOST : null);
  const sites = new Map<string, Site>();
  for (const host of byHost.keys()) if (host !== "") sites.set(host, siteFor(host, byHost, null));
  let lastHost = "";
  let lastSite = elsewhere;
  const only = !isHostBound && elsewhere.routes[0]?.key === "" ? elsewhere.routes[0].room : null;
  return {
    only,
    route(host, target) {
      const site = siteOf(host);
      if (site === null) return BAD_HOST;
      if (site.isFlat) return routed(site, site.routes[0], target);
      const end = plainEnd(target);
      if (end >= 0) return routed(site, firstBelow(site.routes, target.slice(0, end).toLowerCase()), target);
      const path = readPlainPath(target);
      if ("wrong" in path) return { status: 400, reason: `path with ${path.wrong}` };
      if (oddPaths === "refuse" && path.oddity !== null)
        return { status: 400, reason: `path with ${path.oddity}` };
      return inEveryReading(site, path);
    },
  };

  /** Null for a host that is no host name. */
  function siteOf(host: string): Site | null {
    if (!isHostBound || host === lastHost) return lastSite;
    if (host !== "" && !isHost(host)) return null;
    lastSite = findSite(comparableHost(host), sites) ?? elsewhere;
    lastHost = host;
    return lastSite;
  }
}

function routed(site: Site, found: PathRoute | undefined, target: string): Routed | Refusal {
  if (found) return { room: found.room, target, route: found.route };
  return site.refusal ?? { room: null, target, route: null };
}

/** The room that a path belongs to, whichever way an origin reads it. */
function inEveryReading(site: Site, path: PlainPath): Routed | Refusal {
  if (path.names === null) return routed(site, firstBelow(site.routes, path.key), path.target);
  const canFollowScript = path.hasScript && !isInPart(site, path);
  let found: PathRoute | undefined;
  for (const route of site.routes) {
    const isSure = isSurelyBelow(path, route);
    if (!isSure && !mayBeBelow(path, route) && !(canFollowScript && mayFollowScript(path, route))) continue;
    if (found && found.room !== route.room) return SEVERAL_ROOMS;
    found ??= route;
    if (isSure) break;
  }
  return routed(site, found, path.target);
}

/** True when every reading of the path is below the route's. */
function isSurelyBelow(path: PlainPath, route: PathRoute): boolean {
  const { key, certain } = path;
  if (route.key === "" || (route.key.length < certain && isBelow(key, route.key))) return true;
  // A room that has a file's name in its path means the path as it is written.
  return route.hasFile && isBelow(key, route.key) && isClear(path);
}

/** True when every reading is in a room that has a part of the site: what lies there is that room's, scripts too. */
function isInPart({ routes }: Site, path: PlainPath): boolean {
  return routes.some((route) => route.key !== "" && isSurelyBelow(path, route));
}

/** True when a script could find the route's path behind its own name. */
function mayFollowScript({ names }: PlainPath, { key, hasFile }: PathRoute): boolean {
  if (hasFile) return false;
  return key
    .slice(1)
    .split("/")
    .every((name) => hasName(names!, name));
}

/** True when some reading of the path may be below the route's. */
function mayBeBelow({ key, certain, names, firsts }: PlainPath, route: PathRoute): boolean {
  if (!route.key.startsWith(key.slice(0, certain))) return false;
  const wanted = route.key.slice(certain).split("/");
  // The first name is there in every reading, unless it is empty.
  const canBegin = (first: string) => first === "" || isBelow(first, wanted[0]!);
  return (firsts === null || firsts.some(canBegin)) && wanted.every((name) => hasName(names!, name));
}

function hasName(names: ReadonlySet<string>, wanted: string): boolean {
  if (names.has(wanted)) return true;
  // One with letters in it that end a name elsewhere was not cut out whole.
  return !PLAIN_NAME.test(wanted) && [...names].some((name) => isBelow(name, wanted));
}

const PLAIN_NAME = /^[\w.-]*$/;

function firstBelow(routes: readonly PathRoute[], key: string): PathRoute | undefined {
  for (let i = 0; i < routes.length; i++) if (isBelow(key, routes[i]!.key)) return routes[i];
  return undefined;
}

/**
 * `/shop` covers `/shop` and `/shop/…`, not `/shopping`, `/shop-2` or `/shop.css`. It covers `/shop;…`, `/shop:…` and
 * `/shop~…` as well: such letters end a name for origins that cut it there, or compare beginnings.
 */
function isBelow(key: string, parent: string): boolean {
  if (!key.startsWith(parent)) return false;
  return parent === "" || key.length === parent.length || !isNameCode(key.charCodeAt(parent.length));
}

/** The routes for each host: by name, `.example.com` for `*.example.com`, and "" for every host. Longest path first. */
function routesByHost(rooms: Settings["rooms"]): Map<string, PathRoute[]> {
  const byHost = new Map<string, PathRoute[]>();
  for (const [room, { host, path, additionalRoutes }] of Object.entries(rooms))
    for (const route of [{ host, path }, ...additionalRoutes]) {
      const name = route.host?.replace(/^\*/, "") ?? "";
      const list = byHost.get(name) ?? [];
      list.push({ ...comparablePath(route.path), room, route });
      byHost.set(name, list);
    }
  for (const list of byHost.values()) list.sort((a, b) => b.key.length - a.key.length);
  return byHost;
}

function comparablePath(path: string): Pick<PathRoute, "key" | "hasFile"> {
  const plain = readPlainPath(path);
  if ("wrong" in plain) throw new Error(`the path of a room has ${plain.wrong}: ${path}`);
  return { key: plain.key, hasFile: plain.key.split("/").some(isFileName) };
}

function siteFor(host: string, byHost: ReadonlyMap<string, PathRoute[]>, refusal: Refusal | null): Site {
  const lists = [host, ...wildcardsFor(host), ...(host === "" ? [] : [""])].map(
    (name) => byHost.get(name) ?? [],
  );
  const all = lists.flat();
  const end = all.findIndex(({ key }) => key === "");
  const routes = end < 0 ? all : all.slice(0, end + 1);
  const isFlat = routes.length === 0 || (end >= 0 && routes.every(({ room }) => room === routes[0]!.room));
  return { routes, isFlat, refusal };
}

/** The site of the host itself, or of the nearest wildcard. */
function findSite(host: string, sites: ReadonlyMap<string, Site>): Site | undefined {
  const exact = sites.get(host);
  if (exact) return exact;
  for (const wildcard of wildcardsFor(host)) {
    const site = sites.get(wildcard);
    if (site) return site;
  }
  return undefined;
}

/** `.b.c` and `.c` for `a.b.c`. */
function* wildcardsFor(host: string): Generator<string> {
  for (let dot = host.indexOf(".", 1); dot > 0; dot = host.indexOf(".", dot + 1)) yield host.slice(dot);
}

/** Host without port, in lower case, without a closing dot; an IPv6 address in its short spelling. */
function comparableHost(host: string): string {
  if (host.startsWith("[")) return shortIpv6(host.slice(0, host.indexOf("]") + 1));
  return host.split(":", 1)[0]!.toLowerCase().replace(/\.$/, "");
}
