/**
 * Which room a request belongs to. An exact host beats a wildcard, a wildcard beats "every host", and among those the
 * longest path wins.
 *
 * A request's path is compared in every way an origin might read it: case never matters, dots are resolved, an encoded
 * slash may be a slash or not, and what follows a semicolon may be part of a name or not. The reading that reaches
 * deepest into the rooms wins, so no spelling of an address slips past its line.
 */
import { normalPath } from "../config/route.ts";
import type { RoomSettings, Route } from "../config/schema.ts";

export interface Router {
  /** The one room there is, when it covers every host and path; nobody then needs to look. */
  readonly only: string | null;
  /** The room's name, or null when no room covers this address. */
  match(host: string, url: string): string | null;
  /** The same with the reason, for people. */
  find(host: string, url: string): RouteMatch | null;
}

export interface RouteMatch {
  readonly room: string;
  readonly route: Route;
  /** The path as it was read, in lower case. */
  readonly reading: string;
}

interface PathRoom {
  /** Lower case, without a slash at the end; empty for everything. */
  readonly path: string;
  readonly room: string;
  readonly route: Route;
}

interface HostRoutes {
  /** Without the wildcard's star: `.example.com`. */
  readonly suffix: string;
  readonly paths: PathRoom[];
}

export function createRouter(rooms: Readonly<Record<string, RoomSettings>>): Router {
  const exact = new Map<string, PathRoom[]>();
  const wildcards: HostRoutes[] = [];
  const everyHost: PathRoom[] = [];
  for (const [room, { host, path, additionalRoutes }] of Object.entries(rooms)) {
    for (const route of [{ host, path }, ...additionalRoutes]) {
      pathsFor(route, exact, wildcards, everyHost).push({ path: comparablePath(route.path), room, route });
    }
  }
  const lists = [...exact.values(), ...wildcards.map((routes) => routes.paths), everyHost];
  for (const list of lists) list.sort((a, b) => b.path.length - a.path.length);
  wildcards.sort((a, b) => b.suffix.length - a.suffix.length);
  const only =
    exact.size === 0 && wildcards.length === 0 && everyHost[0]?.path === "" ? everyHost[0].room : null;
  return {
    only,
    match: (host, url) => only ?? search(comparableHost(host), readingsOf(url))?.room ?? null,
    find(host, url) {
      const readings = readingsOf(url);
      const found = search(comparableHost(host), readings);
      if (found === null) return null;
      const { room, route, path } = found;
      return { room, route, reading: readings.find((reading) => isBelow(reading, path)) || "/" };
    },
  };

  function search(host: string, readings: readonly string[]): PathRoom | null {
    const byHost = exact.get(host);
    const found = byHost && longest(byHost, readings);
    if (found) return found;
    for (const { suffix, paths } of wildcards) {
      const below = host.endsWith(suffix) && longest(paths, readings);
      if (below) return below;
    }
    return longest(everyHost, readings);
  }
}

function pathsFor(
  route: Route,
  exact: Map<string, PathRoom[]>,
  wildcards: HostRoutes[],
  everyHost: PathRoom[],
): PathRoom[] {
  if (route.host === null) return everyHost;
  if (route.host.startsWith("*.")) {
    const suffix = route.host.slice(1);
    const known = wildcards.find((candidate) => candidate.suffix === suffix);
    if (known) return known.paths;
    const routes: HostRoutes = { suffix, paths: [] };
    wildcards.push(routes);
    return routes.paths;
  }
  const paths = exact.get(route.host) ?? [];
  exact.set(route.host, paths);
  return paths;
}

function longest(sorted: readonly PathRoom[], readings: readonly string[]): PathRoom | null {
  for (const candidate of sorted)
    if (readings.some((reading) => isBelow(reading, candidate.path))) return candidate;
  return null;
}

/** `/shop` covers `/shop` and `/shop/…`, not `/shopping`. */
function isBelow(path: string, parent: string): boolean {
  if (!path.startsWith(parent)) return false;
  const next = path[parent.length];
  return next === undefined || next === "/" || parent === "";
}

/** Host without port, in lower case, without a closing dot. */
function comparableHost(host: string): string {
  const name = host.startsWith("[") ? host.slice(0, host.indexOf("]") + 1) : host.split(":", 1)[0]!;
  return name.toLowerCase().replace(/\.$/, "");
}

/** Every way in which an origin might read the path of this address, as it is compared. */
function readingsOf(url: string): string[] {
  return spellingsOf(url).map(comparablePath);
}

/** The path of this address in every way in which an origin might take it, as it is written first. */
export function spellingsOf(url: string): string[] {
  const end = url.search(/[?#]/);
  const written = end < 0 ? url : url.slice(0, end);
  if (!/[%;\\]/.test(written)) return [written];
  const slashed = written.replace(/%2f|%5c|\\/gi, "/");
  const bare = (path: string) => path.replace(/;[^/]*/g, "");
  return [written, slashed, bare(written), bare(slashed)];
}

/** A path as it is compared; one that cannot be read counts as the root, so that it belongs to the widest room. */
function comparablePath(path: string): string {
  const normal = (normalPath(path) ?? "/").toLowerCase();
  return normal === "/" ? "" : normal;
}
