/** Cautions about hosts: settings by which a visitor who names another host gets around a room. */
import { type Finding, formatPath, type Path } from "./problem.ts";
import { routesOf } from "./room-check.ts";
import type { Known } from "./salvage.ts";
import type { FileSettings, Route } from "./schema.ts";

interface Claim {
  readonly room: string;
  readonly route: Route;
  readonly path: Path;
}

export function hostCautions(settings: Known<FileSettings>): Finding[] {
  const claims = Object.entries(settings.rooms ?? {}).flatMap(([room, known]) =>
    [...routesOf(room, known ?? {})].map(([route, path]): Claim => ({ room, route, path })),
  );
  return [...otherHosts(settings, claims), ...forwardedHost(settings), ...waysRound(settings, claims)];
}

function otherHosts({ otherHosts, origin }: Known<FileSettings>, claims: readonly Claim[]): Finding[] {
  const bound = claims.find(({ route }) => route.host !== null);
  const isCovered = claims.some(({ route }) => route.host === null && route.path === "/");
  if (otherHosts !== "pass" || !origin || !bound || isCovered) return [];
  const message = `otherHosts is pass, so a request for another host than ${bound.route.host} skips the line of room ${bound.room}`;
  const hint =
    "Keep it at refuse unless the origin tells hosts apart. A room that is suspended lets a host past.";
  return [{ code: "caution", path: ["otherHosts"], at: "value", message, hint }];
}

function forwardedHost({ forwardedHost, trustedProxies }: Known<FileSettings>): Finding[] {
  if (forwardedHost !== true || trustedProxies?.length !== 0) return [];
  const message = "forwardedHost is true, and there is no proxy to believe";
  return [
    { code: "caution", path: ["forwardedHost"], at: "value", message, hint: "Name it in trustedProxies." },
  ];
}

/** A room's path that another host serves from the same origin, with no room there. At most one for each room. */
function waysRound({ rooms, origin }: Known<FileSettings>, claims: readonly Claim[]): Finding[] {
  const hosts = new Set(claims.map(({ route }) => route.host).filter((host) => host !== null));
  return Object.entries(rooms ?? {}).flatMap(([room, known]): Finding[] => {
    // What no room covers goes to the origin at the top.
    if (!origin || known?.origin) return [];
    const own = claims.filter((claim) => claim.room === room);
    for (const { route, path } of own)
      for (const host of hosts) {
        if (claims.some((claim) => covers(claim.route, { host, path: route.path }))) continue;
        const message = `${formatPath(path)}: ${host}${route.path} goes to the same origin as ${route.host}${route.path}, without the line of room ${room}`;
        const hint = `If the origin answers there too, add { host: ${host}, path: ${route.path} } to additionalRoutes.`;
        return [{ code: "caution", path, at: "value", message, hint }];
      }
    return [];
  });
}

/** True when every address of the second is one of the first. */
function covers(route: Route, other: Route & { readonly host: string }): boolean {
  const isHost =
    route.host === null ||
    route.host === other.host ||
    (route.host.startsWith("*.") && other.host.endsWith(route.host.slice(1)));
  const [path, below] = [route.path.toLowerCase(), other.path.toLowerCase()];
  return isHost && (path === "/" || below === path || below.startsWith(`${path}/`));
}
