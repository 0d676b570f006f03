/**
 * What would stop `run` on this machine, and what goes wrong on the night: found by trying, for `fairgate check` and
 * `fairgate doctor`. Every address is listened on for a moment, the data directory is written to, and each address of an origin
 * gets one HEAD request. Nothing is left behind.
 *
 *   problem   `run` would not start
 *   caution   it starts, and visitors or the site may suffer
 */
import { lookup } from "node:dns/promises";
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { BlockList, createServer, isIP } from "node:net";
import { dirname, join } from "node:path";
import { request } from "undici";
import { version } from "../../assembly/version.ts";
import { formatHostPort, type HostPort, SECRET_CHARACTERS_MIN } from "../../config/kinds.ts";
import { safeText } from "../../config/problem.ts";
import { type RoomSettings, type Settings, STANDARD_OUTPUT } from "../../config/schema.ts";
import { settingsDuring } from "../../config/settings-during.ts";
import { formatDuration } from "../../config/units.ts";
import { NEAR_MAX_MS } from "../../core/pacing.ts";
import { about, type DoctorVerdict } from "../doctor/verdict.ts";
import { TOKEN_FILE } from "./control-files.ts";

const ANSWER_MAX_MS = 5_000;
const ORIGINS_MAX = 50;
const SHOWN_CHARACTERS_MAX = 200;
const USER_AGENT = `fairgate-check/${version}`;
const EVERY_ADDRESS = new Set(["", "0.0.0.0", "::"]);

/** Networks that are not reached from outside. */
const INSIDE = new BlockList();
for (const [network, bits] of [
  ...([
    ["10.0.0.0", 8],
    ["172.16.0.0", 12],
    ["192.168.0.0", 16],
    ["127.0.0.0", 8],
  ] as const),
  ...([
    ["169.254.0.0", 16],
    ["100.64.0.0", 10],
  ] as const),
] as const)
  INSIDE.addSubnet(network, bits, "ipv4");
for (const [network, bits] of [
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  INSIDE.addSubnet(network, bits, "ipv6");

/** Everything that was found, for settings that are good in themselves. */
export async function nightVerdicts(settings: Settings): Promise<DoctorVerdict[]> {
  const found = await Promise.all([checkPorts(settings), checkOrigins(settings)]);
  return [...found.flat(), ...checkFiles(settings), ...checkFront(settings), ...checkRooms(settings)];
}

/** Every busy address at once. One that a running Fairgate has is no problem. */
async function checkPorts({ listen, control, cluster }: Settings): Promise<DoctorVerdict[]> {
  const listeners: readonly (readonly [string, HostPort])[] = [
    ["--listen", listen],
    ["--control-listen", control.listen],
    ...(cluster ? [["--cluster-listen", cluster.listen] as const] : []),
  ];
  const tried = await Promise.all(
    listeners.map(async ([flag, at]) => ({ flag, at, wrong: at.port === 0 ? null : await whyNotListen(at) })),
  );
  const busy = tried.filter(({ wrong }) => wrong !== null);
  if (busy.length === 0) return [about("port").ok("Every address to listen on is free.")];
  if (busy.some(({ wrong }) => wrong === TAKEN) && (await isFairgate(control.listen)))
    return [about("port").ok("A Fairgate runs on these addresses now; a second one would not start.")];
  return busy.map(({ flag, at, wrong }) =>
    about("port", formatHostPort(at)).problem(
      `It ${wrong}.`,
      `Choose another with ${flag}, or in the settings file.`,
    ),
  );
}

const TAKEN = "is taken by another program";
const LISTEN_WORDS: Readonly<Record<string, string>> = {
  EADDRINUSE: TAKEN,
  EADDRNOTAVAIL: "is no address of this machine",
  EACCES: "may not be used without special rights",
};

function whyNotListen({ host, port }: HostPort): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", ({ code = "", message }: NodeJS.ErrnoException) =>
      resolve(LISTEN_WORDS[code] ?? `cannot be listened on: ${message}`),
    );
    server.listen({ port, ...(host === "" ? {} : { host }) }, () => server.close(() => resolve(null)));
  });
}

async function isFairgate({ host, port }: HostPort): Promise<boolean> {
  const at = formatHostPort({ host: EVERY_ADDRESS.has(host) ? "127.0.0.1" : host, port });
  try {
    const { body } = await request(`http://${at}/healthz`, { signal: AbortSignal.timeout(ANSWER_MAX_MS) });
    return ((await body.json()) as { isAlive?: unknown }).isAlive === true;
  } catch {
    return false;
  }
}

async function checkOrigins({ origin, rooms }: Settings): Promise<DoctorVerdict[]> {
  const all = [origin, ...Object.values(rooms).map((room) => room.origin)].flatMap(
    (one) => one?.addresses ?? [],
  );
  const addresses = [...new Set(all.map(String))].slice(0, ORIGINS_MAX);
  return (await Promise.all(addresses.map(checkOrigin))).flat();
}

async function checkOrigin(address: string): Promise<DoctorVerdict[]> {
  const verdict = about("origin", safeText(address, SHOWN_CHARACTERS_MAX));
  const outside = (await isOutside(new URL(address).hostname))
    ? [
        verdict.caution(
          "It has an address that everyone can reach: who knows it goes round the line.",
          "Let only this machine in, by the site's firewall, or have the site check the pass (docs/security.md).",
        ),
      ]
    : [];
  return [await askOrigin(address, verdict), ...outside];
}

async function askOrigin(address: string, verdict: ReturnType<typeof about>): Promise<DoctorVerdict> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MAX_MS);
    const headers = { "user-agent": USER_AGENT };
    const { statusCode, body } = await request(address, { method: "HEAD", headers, signal });
    await body.dump();
    if (statusCode < 500) return verdict.ok(`It answers (HEAD /: ${statusCode}).`);
    return verdict.caution(`It answers with status ${statusCode}.`, "Look at the site before visitors come.");
  } catch (cause) {
    const { name, code, message } = cause as NodeJS.ErrnoException;
    const why = name === "TimeoutError" ? `nothing within ${ANSWER_MAX_MS / 1_000} s` : (code ?? message);
    const is = `It does not answer (${safeText(why, SHOWN_CHARACTERS_MAX)}).`;
    return verdict.caution(
      is,
      "Start the site, or correct origin.addresses; until then visitors see that it is away.",
    );
  }
}

/** True for an address that is no private one. A name that cannot be looked up is none. */
export async function isOutside(hostname: string): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, "");
  try {
    const found = isIP(host) ? [{ address: host, family: isIP(host) }] : await lookup(host, { all: true });
    return found.some(({ address, family }) => !INSIDE.check(address, family === 6 ? "ipv6" : "ipv4"));
  } catch {
    return false;
  }
}

/** Files that `run` reads or opens at the start: kept secrets that are none, and an access log that cannot be written. */
function checkFiles({ data, accessLog, secret, control }: Settings): DoctorVerdict[] {
  const kept =
    data === null
      ? []
      : [...(secret === null ? ["secret"] : []), ...(control.token === null ? [TOKEN_FILE] : [])];
  const unusable = kept
    .map((name) => join(data!, name))
    .filter((file) => existsSync(file) && !holdsSecret(file));
  const todo = "Put back what it held, or delete it to have a new one made.";
  const wrong = unusable.map((file) => about("data", file).problem("It holds no secret.", todo));
  const to = accessLog === null || accessLog.to === STANDARD_OUTPUT ? null : accessLog.to;
  if (to === null || isWritableFile(to)) return wrong;
  return [
    ...wrong,
    about("access log", to).problem("It cannot be written.", "Make its folder, or name another file."),
  ];
}

function holdsSecret(file: string): boolean {
  try {
    return readFileSync(file, "utf8").trim().length >= SECRET_CHARACTERS_MIN;
  } catch {
    return false;
  }
}

/** A file that is there and may be written, or one that may be made in its folder. */
function isWritableFile(file: string): boolean {
  const isThere = existsSync(file);
  try {
    accessSync(isThere ? file : dirname(file), constants.W_OK);
    return statSync(isThere ? file : dirname(file)).isDirectory() !== isThere;
  } catch {
    return false;
  }
}

/** What stands in front of visitors: TLS, or a proxy that is named. */
function checkFront({ listen, tls, trustedProxies }: Settings): DoctorVerdict[] {
  if (trustedProxies.length > 0) return [];
  const front = about("front", formatHostPort(listen));
  if (listen.host === "localhost" || (isIP(listen.host) > 0 && isLoopback(listen.host)))
    return [
      front.caution(
        "Only this machine reaches it, and no proxy is trusted: to a proxy in front all visitors would look like one.",
        "Name the proxy in trustedProxies, such as 127.0.0.1.",
      ),
    ];
  if (tls !== null) return [];
  return [
    front.caution(
      "There is no TLS, and no proxy is named that has it: visitors' passes can be read and used on the way.",
      "Set tls, or put a proxy with TLS in front and name it in trustedProxies.",
    ),
  ];
}

function isLoopback(host: string): boolean {
  return host === "::1" || host.startsWith("127.");
}

function checkRooms({ rooms }: Settings): DoctorVerdict[] {
  return Object.entries(rooms).flatMap(([name, room]) => [
    ...checkSessions(name, room),
    ...checkClaims(name, room),
  ]);
}

/** A session that outlasts its event keeps slots from those who wait until nobody may come in any more. */
function checkSessions(name: string, room: RoomSettings): DoctorVerdict[] {
  return room.events.flatMap((event) => {
    const lasts = event.eventEndTime - event.eventStartTime;
    const session = settingsDuring(room, event).sessionDuration;
    if (event.suspended || session < lasts) return [];
    const is = `A session lasts ${formatDuration(session)}, and the event ${event.name} ${formatDuration(lasts)}: who leaves without a word keeps a slot to its end.`;
    return [about("session", name).caution(is, "Shorten sessionDuration; `fairgate size` works one out.")];
  });
}

/** Whoever is near the front may check in this seldom, and must still hear of their turn in time. */
function checkClaims(name: string, { claimWindow }: RoomSettings): DoctorVerdict[] {
  if (claimWindow >= 2 * NEAR_MAX_MS) return [];
  const is = `claimWindow is ${formatDuration(claimWindow)}, and visitors near the front check in every ${formatDuration(NEAR_MAX_MS)}: some hear of their turn too late.`;
  return [
    about("claim", name).caution(
      is,
      `Make it ${formatDuration(2 * NEAR_MAX_MS)} or more; a minute is usual.`,
    ),
  ];
}
