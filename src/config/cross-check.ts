/**
 * Checks between settings. They run on what could be parsed (see `salvage.ts`) and skip what is missing, which has its own
 * problem already.
 */
import { checkBudgets } from "./budget-check.ts";
import { bypassCautions } from "./bypass-schema.ts";
import { checkLineNeedsRedis, lineKindOf } from "./capability-check.ts";
import { checkCluster, clusterCautions, EVERY_ADDRESS, isLoopback } from "./cluster-check.ts";
import { cookieCautions } from "./cookie-check.ts";
import { doorCautions } from "./door-check.ts";
import { hostCautions } from "./host-check.ts";
import { http2Cautions } from "./http2-check.ts";
import type { HostPort } from "./kinds.ts";
import { type Finding, formatPath, type Path } from "./problem.ts";
import { checkRedis } from "./redis-check.ts";
import { checkRoom, checkRooms } from "./room-check.ts";
import type { Known } from "./salvage.ts";
import type { FileSettings, OriginSettings } from "./schema.ts";
import { TOKEN_VARIABLE } from "./secrets.ts";
import { settingsDuring } from "./settings-during.ts";
import { checkShops, shopCautions } from "./shop-check.ts";
import { formatDuration } from "./units.ts";

/** Problems between settings. */
export function crossCheck(settings: Known<FileSettings>): Finding[] {
  const around = { trustedProxies: settings.trustedProxies, lineKind: lineKindOf(settings) };
  return [
    ...checkListen(settings),
    ...checkProxyProtocol(settings),
    ...checkForwardAuth(settings),
    ...checkOrigin(settings.origin, ["origin"], settings),
    ...checkRedis(settings),
    ...checkCluster(settings),
    ...checkBudgets(settings),
    ...checkShops(settings),
    ...checkLineNeedsRedis(settings),
    ...checkRooms(settings),
    ...Object.entries(settings.rooms ?? {}).flatMap(([name, room]) => [
      ...checkRoom(room ?? {}, ["rooms", name], around),
      ...checkOrigin(room?.origin, ["rooms", name, "origin"], settings),
    ]),
  ];
}

/** Warnings for settings that are allowed but seldom intended. */
export function cautions(settings: Known<FileSettings>): Finding[] {
  const found: Finding[] = [];
  const add = (path: Path, message: string, hint: string) => {
    found.push({ code: "caution", path, at: "value", message, hint });
  };
  for (const [index, network] of (settings.trustedProxies ?? []).entries()) {
    if (!network.endsWith("/0")) continue;
    add(["trustedProxies", index], `${network} trusts everyone`, "Any visitor can then claim any address.");
  }
  for (const [name, room] of Object.entries(settings.rooms ?? {})) {
    if (room?.cookieAttributes?.secure !== "never") continue;
    const path = ["rooms", name, "cookieAttributes", "secure"];
    add(
      path,
      `${path.join(".")} is never`,
      "Passes then also travel over plain http, where others can read them.",
    );
  }
  return [
    ...found,
    ...clusterCautions(settings),
    ...doors(settings),
    ...bypassed(settings),
    ...closedEvents(settings),
    ...hostCautions(settings),
    ...Object.entries(settings.rooms ?? {}).flatMap(([name, room]) =>
      cookieCautions(room ?? {}, ["rooms", name]),
    ),
    ...http2Cautions(settings),
    ...shopCautions(settings),
  ];
}

/** Of each room, and of each event that changes something about it. */
function doors(settings: Known<FileSettings>): Finding[] {
  const lineKind = lineKindOf(settings);
  return Object.entries(settings.rooms ?? {}).flatMap(([name, room]) => {
    const path = ["rooms", name];
    const events = (room?.events ?? []).flatMap((event, index) => {
      const isWritten = (key: string) => !event.suspended && Object.hasOwn(event, key);
      const checked = { path: [...path, "events", index], who: `event ${event.name}`, isWritten, lineKind };
      return doorCautions(settingsDuring(room!, event), checked);
    });
    return [
      ...doorCautions(room ?? {}, { path, who: `room ${name}`, isWritten: () => true, lineKind }),
      ...events,
    ];
  });
}

function bypassed({ rooms }: Known<FileSettings>): Finding[] {
  return Object.entries(rooms ?? {}).flatMap(([name, room]) => [
    ...bypassCautions(room?.bypass ?? [], ["rooms", name, "bypass"]),
    ...(room?.events ?? []).flatMap(({ bypass }, index) =>
      bypassCautions(bypass ?? [], ["rooms", name, "events", index, "bypass"]),
    ),
  ]);
}

/** An event that says nothing of it is closed where its room is, which is mostly meant for the time between events. */
function closedEvents(settings: Known<FileSettings>): Finding[] {
  return Object.entries(settings.rooms ?? {}).flatMap(([name, room]) =>
    (room?.events ?? []).flatMap((event, index): Finding[] => {
      const isInherited = event.closed === undefined && settingsDuring(room!, event).closed === true;
      if (!isInherited || event.suspended) return [];
      const path = ["rooms", name, "events", index];
      const message = `${formatPath(path)} is closed, since room ${name} is`;
      return [{ code: "caution", path, at: "value", message, hint: "Write closed: false in it to open." }];
    }),
  );
}

/** Problems with a control address that asks for no token. */
export function checkOpenControl(listen: Partial<HostPort> | undefined): Finding[] {
  if (listen?.host === undefined || isLoopback(listen.host)) return [];
  const message = "control.listen can be reached from other machines, and there is no token";
  const hint = `Make one with \`fairgate keys new\` and \`export ${TOKEN_VARIABLE}=…\`, name a data directory, which keeps one, or listen on 127.0.0.1.`;
  return [{ code: "no-token", path: ["control", "listen"], at: "value", message, hint }];
}

function checkListen({ listen, control }: Known<FileSettings>): Finding[] {
  if (!listen?.port || listen.port !== control?.listen?.port) return [];
  return [
    {
      code: "conflict",
      path: ["control", "listen"],
      at: "value",
      message: `listen and control.listen are both on port ${listen.port}`,
      hint: "Give the control address a port of its own.",
    },
  ];
}

/** Without trusted proxies every PROXY header is a malformed request. */
function checkProxyProtocol({ proxyProtocol, trustedProxies }: Known<FileSettings>): Finding[] {
  if (proxyProtocol !== true || trustedProxies?.length !== 0) return [];
  return [
    {
      code: "conflict",
      path: ["proxyProtocol"],
      at: "value",
      message: "proxyProtocol is true, and there are no trustedProxies to send a PROXY header",
      hint: "Name the load balancer's addresses in trustedProxies, such as [10.0.0.0/8].",
    },
  ];
}

/** Settings that leave nobody who may ask, or that clash with forward-auth. */
function checkForwardAuth(settings: Known<FileSettings>): Finding[] {
  const { forwardAuth, proxyProtocol, rooms, trustedProxies } = settings;
  if (forwardAuth !== true) return [];
  const conflict = (message: string, hint: string): Finding[] => [
    { code: "conflict", path: ["forwardAuth"], at: "value", message, hint },
  ];
  if (trustedProxies?.length === 0)
    return conflict(
      "forwardAuth is true, and there are no trustedProxies that may ask",
      "Name the addresses from which your proxy asks in trustedProxies, such as [127.0.0.1].",
    );
  if (rooms?.auth !== undefined)
    return conflict(
      "forwardAuth is true, and a room is called auth",
      "Give the room another name: /.fairgate/auth/ is where your proxy asks.",
    );
  if (proxyProtocol === true)
    return conflict(
      "forwardAuth is true, and with proxyProtocol what a trusted proxy asks would come from its visitors",
      "Take one of them out; forward-auth tells the visitor's address in X-Forwarded-For.",
    );
  return [];
}

function checkOrigin(
  origin: Known<OriginSettings> | null | undefined,
  path: Path,
  settings: Known<FileSettings>,
): Finding[] {
  if (!origin) return [];
  return [
    ...checkAddresses(origin.addresses ?? [], path, settings),
    ...checkHealth(origin.healthCheck, path),
  ];
}

function checkAddresses(addresses: readonly string[], path: Path, settings: Known<FileSettings>): Finding[] {
  return addresses.flatMap((address, index): Finding[] => {
    const at = { code: "conflict", path: [...path, "addresses", index], at: "value" } as const;
    if (addresses.indexOf(address) !== index) {
      return [{ ...at, message: `${address} is in the list twice`, hint: "Keep one of them." }];
    }
    const isOwn = isSameAddress(address, settings.listen) || isSameAddress(address, settings.control?.listen);
    if (!isOwn) return [];
    const message = `${address} is where Fairgate itself listens, so a request would loop forever`;
    return [{ ...at, message, hint: "An origin is the address of the site behind Fairgate." }];
  });
}

function checkHealth(health: Known<OriginSettings["healthCheck"]> | undefined, path: Path): Finding[] {
  if (!health?.interval || !health.timeout || health.timeout <= health.interval) return [];
  const at = [...path, "healthCheck", "timeout"];
  const { interval, timeout } = health;
  const message = `${at.join(".")} is ${formatDuration(timeout)}, which is longer than interval, ${formatDuration(interval)}`;
  return [{ code: "conflict", path: at, at: "value", message, hint: "It should be at most interval." }];
}

const LOOPBACK_NAMES = new Set(["localhost", "127.0.0.1", "::1"]);

function isSameAddress(address: string, listen: Partial<HostPort> | undefined): boolean {
  if (!listen?.port || listen.host === undefined) return false;
  const url = new URL(address);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (port !== listen.port) return false;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (EVERY_ADDRESS.has(host)) return EVERY_ADDRESS.has(listen.host) || LOOPBACK_NAMES.has(listen.host);
  if (EVERY_ADDRESS.has(listen.host)) return isLoopback(host);
  return host === listen.host || (LOOPBACK_NAMES.has(host) && LOOPBACK_NAMES.has(listen.host));
}
