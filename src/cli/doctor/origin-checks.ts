/**
 * The site behind Fairgate: each of its addresses is asked once, with HEAD, over the connections that the gateway would use;
 * and whether other machines can reach it without the line.
 *
 * What others can reach cannot be known from here. Two things can: an address that is public, and one of this machine at
 * whose port the site also answers on the network.
 */
import { lookup } from "node:dns/promises";
import { BlockList, connect, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { version } from "../../assembly/version.ts";
import { isLoopback } from "../../config/cluster-check.ts";
import { formatHostPort } from "../../config/kinds.ts";
import type { OriginSettings, Settings } from "../../config/schema.ts";
import { createAddressPool } from "../../gateway/proxy/address-pool.ts";
import { hostnameOf } from "../../gateway/proxy/pool.ts";
import { nodeWorld } from "../../node.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

const ANSWER_MAX_MS = 3_000;
const CONNECT_MAX_MS = 500;
const NETWORKS_TRIED_MAX = 4;
const USER_AGENT = `fairgate-check/${version}`;

/** An origin's address, and by which name visitors come to it. */
interface Site {
  readonly address: string;
  readonly settings: OriginSettings;
  readonly host: string | null;
}

/** Verdicts on every address of every origin. */
export async function checkOrigins(settings: Settings): Promise<DoctorVerdict[]> {
  const verdicts = await Promise.all(
    sitesOf(settings).map(async (site) => [await ask(site), ...(await checkReach(site))]),
  );
  return verdicts.flat();
}

function sitesOf({ origin, rooms }: Settings): Site[] {
  const sites = new Map<string, Site>();
  const add = (settings: OriginSettings | null, host: string | null) => {
    for (const address of settings?.addresses ?? [])
      if (!sites.has(address)) sites.set(address, { address, settings: settings!, host });
  };
  const hostOf = (host: string | null) => (host?.startsWith("*") ? null : host);
  for (const room of Object.values(rooms)) add(room.origin ?? origin, hostOf(room.host));
  add(origin, null);
  return [...sites.values()];
}

async function ask(site: Site): Promise<DoctorVerdict> {
  const origin = about("origin", site.address);
  try {
    const status = await head(site);
    if (status < 500) return origin.ok(`It answers a HEAD request with ${status}.`);
    return origin.caution(`It answers a HEAD request with ${status}.`, "Look in the site's own log.");
  } catch (cause) {
    const todo = "Start the site, or correct origin.addresses; until then visitors see that it is away.";
    return origin.caution(`It cannot be reached: ${wordsOf(cause as NodeJS.ErrnoException)}.`, todo);
  }
}

/** The status of one HEAD request. */
function head({ address, settings, host }: Site): Promise<number> {
  const url = new URL(address);
  const { hostHeader, healthCheck } = settings;
  const timeouts = { connectTimeout: ANSWER_MAX_MS, headersTimeout: ANSWER_MAX_MS, connectionsMax: 1 };
  const pool = createAddressPool(url, { ...settings, ...timeouts }, nodeWorld({ level: "silent" }));
  const isNamed = hostHeader !== "preserve" && hostHeader !== "origin";
  const sent = isNamed ? hostHeader : hostHeader === "preserve" ? host : null;
  const request = {
    method: "HEAD",
    path: healthCheck?.path ?? "/",
    headers: ["User-Agent", USER_AGENT, ...(sent === null ? [] : ["Host", sent])],
    body: null,
    servername: hostnameOf(url),
    te: undefined,
  };
  return new Promise<number>((resolve, reject) => {
    const late = Object.assign(new Error("no answer"), { code: "UND_ERR_HEADERS_TIMEOUT" });
    // Not the world's, which does not keep this process alive.
    const timer = setTimeout(() => reject(late), ANSWER_MAX_MS);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      settle();
    };
    pool.dispatch(request, {
      isInvalid: false,
      onRequestStart: () => {},
      onResponseStart: (_controller, status) => end(() => resolve(status)),
      onResponseData: () => {},
      onResponseEnd: () => {},
      onResponseError: (_controller, error) => end(() => reject(error)),
    });
  }).finally(() => void pool.destroy());
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no such name",
  EAI_AGAIN: "its name cannot be looked up now",
  EHOSTUNREACH: "there is no way to that machine",
  ENETUNREACH: "there is no way to that network",
  UND_ERR_CONNECT_TIMEOUT: "no connection within 3 s",
  UND_ERR_HEADERS_TIMEOUT: "no answer within 3 s",
  ECONNRESET: "it closes the connection",
  UND_ERR_SOCKET: "it closes the connection",
};

function wordsOf({ code = "", message, cause }: NodeJS.ErrnoException & { cause?: unknown }): string {
  const inner = cause instanceof Error ? cause.message : "";
  return WORDS[code] ?? (message || inner || code);
}

/** Who else could reach an address. A site that checks passes itself may be reached by anyone. */
async function checkReach({ address, settings }: Site): Promise<DoctorVerdict[]> {
  const url = new URL(address);
  const host = hostnameOf(url);
  if (settings.token !== "none") return [];
  const origin = about("origin", address);
  if (isLoopback(host)) {
    const open = await openAt(Number(url.port || (url.protocol === "https:" ? 443 : 80)));
    if (open === null) return [];
    const is = `The site also answers at ${open}, so other machines may reach it without the line.`;
    return [origin.caution(is, "Have it listen on 127.0.0.1 alone, or close the port in the firewall.")];
  }
  const found = await publicAddress(host);
  if (found === null) return [];
  const at = found === host ? "This is a public address" : `It is at the public address ${found}`;
  const todo =
    "Let only Fairgate's machines in, by a firewall, or have the site check passes (docs/security.md).";
  return [origin.caution(`${at}: anyone who finds it gets around the line.`, todo)];
}

const NOT_PUBLIC = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv6");

/** True for an IP address that machines everywhere can ask for. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !NOT_PUBLIC.check(address, family === 6 ? "ipv6" : "ipv4");
}

async function publicAddress(host: string): Promise<string | null> {
  if (isIP(host) !== 0) return isPublic(host) ? host : null;
  const all = await lookup(host, { all: true }).catch(() => []);
  return all.find(({ address }) => isPublic(address))?.address ?? null;
}

/** The first of this machine's addresses on a network where somebody listens on the port. */
async function openAt(port: number): Promise<string | null> {
  const addresses = Object.values(networkInterfaces())
    .flatMap((one) => one ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address }) => address);
  const answers = await Promise.all(
    addresses.slice(0, NETWORKS_TRIED_MAX).map(async (host) => ((await accepts(host, port)) ? host : null)),
  );
  const host = answers.find((one) => one !== null);
  return host === undefined ? null : formatHostPort({ host, port });
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.setTimeout(CONNECT_MAX_MS, () => end(false));
    socket.on("connect", () => end(true)).on("error", () => end(false));
  });
}
