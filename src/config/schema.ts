/**
 * Every setting: its type, default, limits, and the sentences that explain it. From this one schema come the TypeScript
 * types, the checks for the file, the command line and the control address, `fairgate.example.yaml` and `docs/settings.md`.
 *
 * Names follow the vocabulary the industry shares (Cloudflare's; Semeria 2021), in camelCase. Durations are written `45s`,
 * `10m` and parsed to milliseconds; sizes are written `16KB`, `100MB` and parsed to bytes. Unknown keys are errors. What
 * settings mean for each other is checked in `cross-check.ts`.
 */
import { z } from "zod";
import { DEFAULT_RULES } from "../core/rules.ts";
import type { WrittenCatalogue } from "../shop/rules/written-catalogue.ts";
import { abuseSchema } from "./abuse-schema.ts";
import { bypassSchema } from "./bypass-schema.ts";
import { clusterSchema } from "./cluster-schema.ts";
import type { ClusterSettings } from "./cluster-settings.ts";
import {
  adaptiveSchema,
  LANES_MAX,
  lanesSchema,
  SHARES_MAX,
  showSchema,
  standbySchema,
  USERS_MAX,
} from "./door-schema.ts";
import { eventsSchema } from "./event-schema.ts";
import {
  choice,
  count,
  duration,
  FILE_NAME_CHARACTERS_MAX,
  fileName,
  isTrue,
  listenAddress,
  listOf,
  numberChoice,
  PAGE_CHARACTERS_MAX,
  PATH_LENGTH_MAX,
  readable,
  secret,
  setting,
  size,
  text,
} from "./kinds.ts";
import type { LaneSecrets } from "./lane-members.ts";
import { LANGUAGE_TAGS } from "./language-tags.ts";
import { lineSettings } from "./line-schema.ts";
import { LANE_NAME_SHAPE, NAME_SHAPE } from "./name.ts";
import { network } from "./network.ts";
import { redisSchema } from "./redis-schema.ts";
import type { RedisSettings } from "./redis-settings.ts";
import { type Read, readAddress, readDomain, readHost, readOrigin, readPath } from "./route.ts";
import { roomShopSettings, shopSchema } from "./shop-schema.ts";
import type { SecretsOfShops } from "./shop-secrets.ts";
import { formatDuration } from "./units.ts";

export const ROOMS_MAX = 1_000;
export const BUDGETS_MAX = 1_000;
const ADDRESSES_MAX = 64;
const FAILURE_STATUSES_MAX = 100;
const ROUTES_MAX = 100;
const PROXIES_MAX = 1_000;
const COMMANDS_MAX = 10;
const ORIGINS_MAX = 100;
/** Tokens have room for a count this high. */
const VISITS_MAX = 250;
const MISSED_TURNS_MAX = 100;
export const PREVIOUS_SECRETS_MAX = 8;
/** In place of a file name. */
export const STANDARD_OUTPUT = "stdout";
const PICTURE_CHARACTERS_MAX = 100_000;
const REQUESTS_MAX = 1_000_000;
const CONNECTIONS_MAX = 1_000_000;

const host = () =>
  readable(readHost, {
    kind: "host",
    max: 255,
    shape: "a host name such as shop.example.com or *.example.com",
  });
const path = () =>
  readable(readPath, { kind: "path", max: PATH_LENGTH_MAX, shape: "a path such as / or /tickets" });
const switchedBy = (isOn: boolean) => setting(isTrue(), isOn);
const time = (ms: number, bounds: { min: string; max: string }) =>
  setting(duration(bounds), formatDuration(ms));
const limit = (max: number, usual: number | null) => count({ min: 1, max }).nullable().prefault(usual);

const healthCheckSchema = z.strictObject({
  path: setting(
    readable(readCheckPath, { kind: "path", max: PATH_LENGTH_MAX, shape: "a path such as /healthz" }),
    "/",
  ).describe("Path that is requested with GET. A status below 500 means the address is healthy."),
  interval: setting(duration({ min: "1s", max: "1h" }), "10s").describe("Time from one check to the next."),
  timeout: setting(duration({ min: "100ms", max: "1m" }), "2s").describe(
    "How long a check may take. An address that takes longer is taken out until a check succeeds. At most `interval`.",
  ),
});

export const originSchema = z
  .strictObject({
    addresses: listOf(
      readable(readAddress, {
        kind: "address",
        max: 300,
        shape: "an address such as http://10.0.0.1:3000, with nothing after the port",
      }),
      { min: 1, max: ADDRESSES_MAX, of: "addresses such as http://10.0.0.1:3000" },
    ).describe(
      "Where the site itself listens. With several addresses, each request goes to the one with the fewest requests under way.",
    ),
    hostHeader: setting(
      text({ max: 300, shape: "preserve, origin, or a host name" }).regex(/^[A-Za-z0-9._\-[\]:]+$/),
      "preserve",
    ).describe(
      "The Host header sent to the origin: `preserve` sends the visitor's, `origin` the address's own, anything else is sent as written. Unless it is `preserve`, redirects and cookies that the origin sets for its own name are rewritten to the visitor's host.",
    ),
    http2: setting(choice(["off", "tls", "always"]), "off").describe(
      "Speak HTTP/2 to the origin, with up to 100 requests on one connection; gRPC needs it. `tls`: to https addresses that offer it. `always`: also to http addresses, which must then speak nothing else (h2c). WebSockets stay on HTTP/1.1.",
    ),
    connectTimeout: setting(duration({ min: "10ms", max: "5m" }), "5s").describe(
      "How long to wait for a connection to the origin. After that the visitor gets a 504 page.",
    ),
    headersTimeout: setting(duration({ min: "10ms", max: "1h" }), "60s").describe(
      "How long the origin may take to start its response. After that the visitor gets a 504 page.",
    ),
    idleTimeout: setting(duration({ min: "10ms", max: "24h" }), "5m").describe(
      "How long a response may pause between two chunks before it is cut off.",
    ),
    connectionsMax: setting(count({ min: 1, max: 65_535 }), 512).describe(
      "The most connections to each address, upgraded ones (WebSockets) included; with `http2`, the most concurrent requests. Further requests wait for a free one. The last eighth is reserved for visitors on the site.",
    ),
    failureStatuses: setting(
      listOf(count({ min: 500, max: 599 }), { max: FAILURE_STATUSES_MAX, of: "statuses from 500 to 599" }),
      [],
    ).describe(
      "Responses with these statuses take an address out, as broken connections do. With an empty list, an address that answers many requests with 5xx still gets fewer of them.",
    ),
    sticky: setting(choice(["off", "visitor"]), "off").describe(
      "`visitor`: all requests of a visitor go to the same address while it is available. For sites that keep sessions in memory, such as socket.io.",
    ),
    healthCheck: setting(healthCheckSchema, null).describe(
      "Regular checks of each address; `{}` turns them on with the defaults. null: an address is taken out only when requests to it fail.",
    ),
    token: setting(choice(["none", "hs256", "eddsa"]), "none").describe(
      "Sends the visitor's pass to the origin as a JWT in the Fairgate-Pass header: `hs256` signed with the secret, `eddsa` with a key pair whose public half is published at a JWKS address.",
    ),
  })
  .meta({ shape: "a mapping with at least addresses: [http://10.0.0.1:3000] in it" });

const routeSchema = z.strictObject({
  host: setting(host(), null).describe("Host name of the route. null: every host."),
  path: setting(path(), "/").describe("This path and everything below it."),
});

const cookieSchema = z.strictObject({
  sameSite: setting(choice(["lax", "strict", "none"]), "lax").describe(
    "The cookie's SameSite attribute. `none` is for a site shown in a frame of another site; browsers then require a secure cookie.",
  ),
  secure: setting(choice(["auto", "always", "never"]), "auto").describe(
    "The cookie's Secure attribute. `auto`: set when the visitor came by https. `always`: for a proxy in front that ends TLS and does not say so.",
  ),
});

const pageSchema = z.strictObject({
  title: setting(text({ max: 200 }), null).describe(
    "Name of the site, shown above the heading of the waiting page and in its tab. null: none.",
  ),
  logo: setting(picture("/logo.svg"), null).describe(
    "Image above the heading. A data: address needs no request; a path should lie outside the room. null: none.",
  ),
  logoAlt: setting(text({ max: 200 }), "").describe("What the image shows, for visitors who cannot see it."),
  colour: setting(colour(), "#1d4ed8").describe(
    "Accent colour: heading, progress bar and button. It is made darker or lighter where it could not be read.",
  ),
  background: setting(colour(), null).describe("Background colour in light mode. null: the page's own."),
  backgroundImage: setting(picture("/crowd.jpg"), null).describe(
    "Image behind the page, cropped to fill the window. An https: address, or a path outside the room, can be cached by browsers. null: none.",
  ),
  defaultLanguage: setting(
    readable(readLanguage, { kind: "language", max: 35, shape: `one of ${LANGUAGE_TAGS.join(", ")}` }),
    "en",
  ).describe("Language for visitors whose browser asks for none that the page is translated to."),
  customPageHtml: setting(text({ max: PAGE_CHARACTERS_MAX }), null).describe(
    "Your own waiting page as HTML, in place of the built-in one; docs/waiting-page.md has its variables. null: the built-in page.",
  ),
  customPageFile: setting(fileName(), null).describe(
    "Your own waiting page, read from a file. A relative name starts from the settings file's folder. null: none.",
  ),
});

/** A room without its events, which may override most of these settings. */
const plainRoomSchema = z.strictObject({
  host: setting(host(), null).describe(
    "Host name this room is for; `*.example.com` is every host below example.com. null: every host.",
  ),
  path: setting(path(), "/").describe(
    "Path this room is for, with everything below it. With several rooms the longest matching path wins.",
  ),
  additionalRoutes: setting(
    listOf(routeSchema, { max: ROUTES_MAX, of: "routes, each with a host and a path" }),
    [],
  ).describe("Further hosts and paths that share this room's line."),
  bypass: bypassSchema,
  origin: setting(originSchema, null).describe("This room's own origin. null: the one at the top."),
  totalActiveUsers: limit(USERS_MAX, DEFAULT_RULES.totalActiveUsers).describe(
    "The most visitors on the site at once; a visitor whose turn has come counts from then on. One slot is one visitor. null: no such limit. A room needs this or `newUsersPerMinute`.",
  ),
  newUsersPerMinute: limit(USERS_MAX, DEFAULT_RULES.newUsersPerMinute).describe(
    "The most visitors who enter in any minute, as an even flow. null: no such limit. With `totalActiveUsers`, no more enter than slots become free: 200 slots and visits of 5 minutes make 40 a minute.",
  ),
  sessionDuration: time(DEFAULT_RULES.sessionDurationMs, { min: "1s", max: "30d" }).describe(
    "How long a visit lasts after the visitor's last request; until then it holds its slot. A visit ends sooner when the origin ends it (`enabledOriginCommands`) or the visitor leaves (`POST /.fairgate/<room>/leave`).",
  ),
  disableSessionRenewal: switchedBy(DEFAULT_RULES.disableSessionRenewal).describe(
    "true: a visit ends `sessionDuration` after it began, however active the visitor is.",
  ),
  newcomerDuration: setting(duration({ min: "1s", max: "1d" }), "1m").describe(
    "How long a visitor who goes straight through holds a slot before their next request. The next request with the cookie gives them a whole `sessionDuration`; clients without cookies never get one. The shorter of the two counts.",
  ),
  strayRequestsPerMinute: setting(count({ min: 0, max: REQUESTS_MAX }), 240).describe(
    "How many requests without a visit one IP address (IPv6: one /64) may make per minute while nobody waits: images, manifests, preflights, prefetches and clients that send no cookie. All addresses together may make this many for each slot of `totalActiveUsers`, not counting preflights. While visitors wait, none are let through.",
  ),
  formGrace: time(DEFAULT_RULES.formGraceMs, { min: "0ms", max: "1h" }).describe(
    "How long after the end of a visit a form its visitor submits resumes the visit, ahead of all who wait, if a slot is free. It counts towards `newUsersPerMinute`, so one newcomer fewer is admitted. Once in this time for each visitor; if no slot is free they may retry after a second.",
  ),
  connectionGrace: setting(duration({ min: "0ms", max: "1d" }), "0s").describe(
    "How long connections (WebSockets, event streams, downloads, uploads) may go on after their visit has ended; its slot stays taken meanwhile. With one gateway the slot is free a second after the last of them closes. With Redis or a cluster it stays taken for all of this time, and for three seconds at least, after every visit that was left or revoked, since any gateway may have a connection. Traffic on a connection, in either direction, renews the visit as a request does.",
  ),
  claimWindow: time(DEFAULT_RULES.claimWindowMs, { min: "1s", max: "1d" }).describe(
    "How long a visitor whose turn has come may take to enter before the turn is missed. Their slot is reserved for the first seconds; after that they enter if a slot is free. A visitor who was told to check in later than the window ends has half of it from that check-in. At most `ticketTtl`.",
  ),
  missedTurnsMax: setting(count({ min: 1, max: MISSED_TURNS_MAX }), DEFAULT_RULES.missedTurnsMax).describe(
    "A place is lost after this many missed turns. Each missed turn before that moves it further back in the line.",
  ),
  lapseAfter: time(DEFAULT_RULES.lapseAfterMs, { min: "1s", max: "1d" }).describe(
    "How long after a missed check-in a visitor in the line lapses: others no longer wait for them, and the place is kept for their return. At most `ticketTtl`.",
  ),
  ticketTtl: time(DEFAULT_RULES.ticketTtlMs, { min: "1s", max: "30d" }).describe(
    "How long a place in the line is kept for a visitor who does not check in.",
  ),
  queueingMethod: setting(
    choice(["fifo", "random", "passthrough", "reject"]),
    DEFAULT_RULES.queueingMethod,
  ).describe(
    "Who is next. `fifo`: first come, first served. `random`: each turn is drawn among all who wait. `passthrough`: everybody goes through, counted, without a line. `reject`: no line; newcomers go through while a slot is free and are turned away otherwise, and visitors who already wait go on waiting.",
  ),
  queueingStatusCode: setting(numberChoice([200, 202, 429]), 200).describe(
    "Status of the waiting page. 200 suits browsers; 202 or 429 tell caches and crawlers that this is not the site.",
  ),
  jsonResponseEnabled: switchedBy(true).describe(
    "true: a waiting visitor that asks for JSON gets JSON with status 429 and Retry-After instead of the page.",
  ),
  paused: switchedBy(DEFAULT_RULES.paused).describe(
    "true: nobody is admitted, and everybody keeps their place. The page says so.",
  ),
  queueAll: switchedBy(DEFAULT_RULES.queueAll).describe(
    "true: every newcomer joins the line and nobody is admitted, as before an opening; the page does not mention a pause.",
  ),
  drained: switchedBy(DEFAULT_RULES.drained).describe(
    "true: everybody is admitted, whatever the limits. Not together with `paused`, `queueAll` or `closed`.",
  ),
  closed: switchedBy(DEFAULT_RULES.closed).describe(
    "true: nobody joins and nobody is admitted; newcomers see when the next event opens, or that it is over. Places are kept.",
  ),
  suspended: switchedBy(false).describe(
    "true: the room does nothing at all, and its requests go straight to the origin.",
  ),
  privilegedOnly: switchedBy(DEFAULT_RULES.privilegedOnly).describe(
    "true: only visitors in privileged lanes join and are admitted. Visitors who wait in other lanes keep their places.",
  ),
  lanes: setting(lanesSchema, {}).describe(
    `Classes of visitors with a line of their own, the first served first, at most ${LANES_MAX}. A visitor who belongs in none waits in the lane for everybody, which is the last. A name is ${LANE_NAME_SHAPE}.`,
  ),
  laneOrder: setting(choice(["strict", "weighted"]), DEFAULT_RULES.lanes.order).describe(
    "`strict`: a lane is served before those after it, except for `othersShare`. `weighted`: lanes are served by their shares; the lane for everybody has what is left of a hundred.",
  ),
  othersShare: setting(count({ min: 0, max: SHARES_MAX }), DEFAULT_RULES.lanes.othersShare).describe(
    "With `laneOrder: strict`: of every hundred visitors admitted, at least this many come from lanes further back while visitors wait there. 0: they wait until the lanes before them are empty.",
  ),
  fillNoShows: switchedBy(DEFAULT_RULES.fillNoShows).describe(
    "true: extra turns are given for those that will probably be missed, so that the site is full. The site never has more than `totalActiveUsers`. Not together with `budget`, a relaxed line or a `cluster`.",
  ),
  standby: setting(standbySchema, null).describe(
    "No line until one of these thresholds is crossed. null: the line is always on.",
  ),
  adaptive: setting(adaptiveSchema, null).describe(
    "Lowers the limits while the origin is slow or failing, and raises them again slowly. null: the limits stay as they are set.",
  ),
  show: setting(showSchema, {}).describe("What a waiting visitor is told."),
  visitsMax: limit(VISITS_MAX, null).describe(
    "The most visits one visitor may have within `visitsWindow`. null: no such limit.",
  ),
  visitsWindow: setting(duration({ min: "1m", max: "30d" }), "1d").describe(
    "The time over which `visitsMax` counts.",
  ),
  enabledOriginCommands: z
    .array(choice(["revoke"]))
    .max(COMMANDS_MAX)
    .prefault([])
    .meta({ shape: "a list with revoke in it, or an empty one" })
    .describe(
      "What the origin may do to a visit with the Fairgate-Command header of its response: `revoke` ends the visit and frees its slot.",
    ),
  budget: setting(text({ max: 32, shape: "the name of one of the budgets at the top" }), null).describe(
    "The budget this room shares its capacity in with other rooms. null: its capacity is its own.",
  ),
  guaranteed: setting(count({ min: 0, max: USERS_MAX }), 0).describe(
    "How many slots of the budget are always reserved for this room, however busy the others are.",
  ),
  ...lineSettings,
  ...roomShopSettings,
  message: setting(text({ max: 2_000 }), DEFAULT_RULES.message).describe(
    "Your message to everyone waiting, shown on the page.",
  ),
  pollBudget: setting(count({ min: 1, max: 1_000_000 }), DEFAULT_RULES.pollBudgetPerSecond).describe(
    "Check-ins per second for the whole line. In a longer line visitors check in less often; those near the front check in as often as they need to hear of their turn.",
  ),
  engineFailure: setting(choice(["closed", "open"]), "closed").describe(
    "What newcomers get while the engine does not answer: `closed` a page that says so, `open` the site itself. Visitors with a pass go through either way.",
  ),
  abuse: setting(abuseSchema, {}).describe(
    "Protection against clients that take many places. All of it is off by default.",
  ),
  cookieDomain: setting(
    readable(readDomain, { kind: "domain", max: 253, shape: "a domain such as example.com" }),
    null,
  ).describe(
    "The domain of the visitor's cookie, for a room with routes on several hosts of one site: `example.com` covers www.example.com and shop.example.com. Every host below it then gets the cookie. null: each host has its own.",
  ),
  corsOrigins: setting(
    listOf(
      readable(readOrigin, {
        kind: "origin",
        max: 300,
        shape: "an origin such as https://app.example.com, with nothing after the port",
      }),
      { max: ORIGINS_MAX, of: "origins such as https://app.example.com" },
    ),
    [],
  ).describe(
    "Pages of these origins may call the room's addresses under /.fairgate/ and read its refusals (CORS), with the visitor's cookie. Their preflights are answered while visitors wait.",
  ),
  cookieAttributes: setting(cookieSchema, {}).describe("Attributes of the visitor's cookie."),
  page: setting(pageSchema, {}).describe("How the waiting page looks."),
});

export const roomSchema = z.strictObject({ ...plainRoomSchema.shape, events: eventsSchema(plainRoomSchema) });

const budgetSchema = z.strictObject({
  totalActiveUsers: count({ min: 1, max: USERS_MAX }).describe(
    "The most visitors at once in all rooms of this budget together.",
  ),
});

export const limitsSchema = z
  .strictObject({
    headerBytes: setting(size({ min: "1KB", max: "1MB" }), "16KB").describe(
      "The largest request header. A larger one gets 431.",
    ),
    bodyBytes: setting(size({ min: "1B", max: "1024GB" }), null).describe(
      "The largest request body. A larger one gets 413. null: the origin decides.",
    ),
    headersTimeout: setting(duration({ min: "100ms", max: "10m" }), "15s").describe(
      "How long a visitor may take to send the request header, and a proxy the PROXY header.",
    ),
    requestTimeout: setting(duration({ min: "100ms", max: "24h" }), "5m").describe(
      "How long a request body may pause. A large upload may take hours as long as it does not pause for longer.",
    ),
    requestsPerVisitorMax: limit(REQUESTS_MAX, 128).describe(
      "The most requests and upgraded connections one visitor with a pass may have under way to the origin. Further ones get 429. 128 is as many as one HTTP/2 connection may have open. null: no limit.",
    ),
    requestsPerAddressMax: limit(REQUESTS_MAX, 256).describe(
      "The most requests and upgraded connections one IP address (IPv6: one /64) may have under way to the origin, however many visitors share it. Keep it below `connectionsMax` of the origin. List proxies in front in `trustedProxies`, or all visitors behind one count as one address. null: no limit.",
    ),
    newcomersPerAddressMax: limit(REQUESTS_MAX, 20).describe(
      "The most visitors from one IP address (IPv6: one /64) who went straight through and have not yet come back with their cookie. Any further one must show a cookie first: that costs a browser a second, and clients without cookies get no slot. null: no limit.",
    ),
    bufferedBodyBytes: setting(size({ min: "0B", max: "16MB" }), "64KB").describe(
      "How much of a request body is read before a connection to the origin is taken, so that a slow upload of a small body holds none. Where a visitor waits for `100 Continue`, the origin is asked first. 0B: bodies are passed on as they come.",
    ),
    bufferedBodiesBytes: setting(size({ min: "0B", max: "64GB" }), "64MB").describe(
      "Memory for all buffered bodies together. While it is full, bodies are passed on unbuffered.",
    ),
    spooledAnswerBytes: setting(size({ min: "0B", max: "1GB" }), "2MB").describe(
      "How much of a response is kept in memory for a visitor who reads slowly, so that the origin's connection is free sooner. 0B: nothing.",
    ),
    spooledAnswersBytes: setting(size({ min: "0B", max: "64GB" }), "128MB").describe(
      "Memory for all kept responses together. No response takes more than an eighth of what is free.",
    ),
    bodyPace: setting(size({ min: "1B", max: "1GB" }), "250B").describe(
      "The least a visitor must send of a request body, in bytes per second over `paceWindow`. A slower upload is ended with 408. Time in which the origin does not read does not count.",
    ),
    answerPace: setting(size({ min: "1B", max: "1GB" }), "250B").describe(
      "The least a visitor must read of a response, in bytes per second over `paceWindow`. A slower reader is cut off. Time in which the origin has nothing to send does not count.",
    ),
    paceWindow: setting(duration({ min: "100ms", max: "1h" }), "1m").describe(
      "The time over which `bodyPace` and `answerPace` are measured.",
    ),
    keepAliveTimeout: setting(duration({ min: "100ms", max: "1h" }), "75s").describe(
      "How long an idle connection is kept. Set it longer than that of a load balancer in front, or the load balancer will see resets.",
    ),
    shutdownTimeout: setting(duration({ min: "100ms", max: "1h" }), "30s").describe(
      "How long requests under way may take to finish when Fairgate is stopped.",
    ),
    connectionsMax: limit(CONNECTIONS_MAX, null).describe(
      "The most visitors' connections at once. Beyond that, idle ones are closed, the longest idle first. null: as many as the limit on open files allows (`ulimit -n`), with a reserve for origins, disk and the control address, at most 20000.",
    ),
    connectionsPerAddressMax: limit(CONNECTIONS_MAX, null).describe(
      "The most connections of one IP address (IPv6: one /64). An office or a mobile network may have thousands of people behind one. `trustedProxies` are exempt. null: an eighth of `connectionsMax`, at least 64.",
    ),
    streamsPerAddressMax: limit(CONNECTIONS_MAX, null).describe(
      "The most event streams of visitors from one IP address (IPv6: one /64). Waiting pages beyond that poll the board instead. null: half of `connectionsPerAddressMax`.",
    ),
    streamsPerTicketMax: setting(count({ min: 1, max: 1_000 }), 5).describe(
      "The most event streams for one place in the line: one for each tab that shows it.",
    ),
  })
  .transform(
    ({ headersTimeout, requestTimeout, paceWindow, keepAliveTimeout, shutdownTimeout, ...limits }) => ({
      ...limits,
      paceWindowMs: paceWindow,
      headersTimeoutMs: headersTimeout,
      requestTimeoutMs: requestTimeout,
      keepAliveTimeoutMs: keepAliveTimeout,
      shutdownTimeoutMs: shutdownTimeout,
    }),
  );

const tlsSchema = z.strictObject({
  certificateFile: fileName().describe("PEM file with the certificate, followed by its chain."),
  keyFile: fileName().describe("PEM file with the certificate's private key."),
});

const controlSchema = z.strictObject({
  listen: setting(listenAddress(), "127.0.0.1:8081").describe(
    "Address for operators. Keep it where visitors cannot reach it.",
  ),
  token: setting(secret("a token"), null).describe(
    "Bearer token for the control address. Better in the environment: FAIRGATE_CONTROL_TOKEN. null: a data directory keeps a generated one; without a directory none is asked for, which only a loopback address allows.",
  ),
  tokenFile: setting(fileName(), null).describe("File that holds the token instead."),
});

const accessLogFields = z.strictObject({
  to: text({ max: FILE_NAME_CHARACTERS_MAX, shape: "stdout, or a file name" })
    .min(1)
    .describe(
      "`stdout` is standard output. A file is appended to, and reopened at SIGUSR2, for log rotation. A relative name starts from the settings file's folder.",
    ),
  format: setting(choice(["combined", "json"]), "combined").describe(
    "`combined`: the combined format of Apache and nginx, followed by Fairgate's own fields as key=value. `json`: one object a line.",
  ),
});

/** `on`, `file` or `json` alone is probably not meant as the name of a file. */
const ACCESS_LOG_SHORT = /^stdout$|[./]/;

/** A single text is where the lines go: `accessLog: stdout`. */
const accessLogSchema = z
  .preprocess((written) => {
    const isShort = typeof written === "string" && written.length <= FILE_NAME_CHARACTERS_MAX;
    return isShort && ACCESS_LOG_SHORT.test(written) ? { to: written } : written;
  }, accessLogFields)
  .meta({ shape: "stdout, a file name such as ./access.log, or a mapping with to and format" }) as z.ZodType<
  z.output<typeof accessLogFields>,
  z.input<typeof accessLogFields> | string
>;

export const settingsSchema = z.strictObject({
  listen: setting(listenAddress(), ":8080").describe(
    "Address for visitors. Port 0 lets the system choose a port.",
  ),
  tls: setting(tlsSchema, null).describe("Serve https and HTTP/2 with this certificate. null: plain http."),
  secret: setting(secret("a secret"), null).describe(
    "Signs tickets and passes. `fairgate keys new` makes one. Better in the environment: FAIRGATE_SECRET.",
  ),
  secretFile: setting(fileName(), null).describe(
    "File that holds the secret on its first line; further lines are `previousSecrets`.",
  ),
  previousSecrets: z
    .array(secret("a secret"))
    .max(PREVIOUS_SECRETS_MAX)
    .prefault([])
    .meta({ shape: `a list of at most ${PREVIOUS_SECRETS_MAX} secrets`, isSecret: true })
    .describe(
      "Earlier secrets. Tickets and passes signed with them stay valid, so that changing the secret costs nobody their place.",
    ),
  data: setting(fileName(), null).describe(
    "Directory that keeps the line, the visits, changes made at run time and the keys, so that a crash costs nobody their place. null: nothing is kept. Not together with `redis` or `cluster`.",
  ),
  redis: setting(redisSchema, null).describe(
    "A Redis or Valkey, 7.0 or later, that holds the lines, so that any number of gateways share them; they need the same `secret`. null: the lines live in this process. `fairgate doctor` checks it.",
  ),
  cluster: setting(clusterSchema, null).describe(
    "Several gateways that keep one line together as equal nodes, without Redis or a database; they need the same `secret` and the same rooms. null: no other nodes. `fairgate cluster status` shows them.",
  ),
  control: setting(controlSchema, {}).describe("The address for counts, changes, metrics and health."),
  trustedProxies: setting(
    listOf(network(), { max: PROXIES_MAX, of: "addresses or networks such as 10.0.0.0/8" }),
    [],
  ).describe(
    "Proxies in front of Fairgate whose X-Forwarded-* and Forwarded headers are believed, except for the host (see `forwardedHost`). Headers from any other address are ignored.",
  ),
  proxyProtocol: switchedBy(false).describe(
    "true: a connection from one of the `trustedProxies` must begin with a PROXY header, version 1 or 2, which gives the visitor's address. For load balancers that pass on TCP, such as AWS NLB, HAProxy, nginx stream and Traefik. Connections from elsewhere are served without one, and a PROXY header on them is a malformed request.",
  ),
  forwardedHost: switchedBy(false).describe(
    "true: the host is taken from the trusted proxy's X-Forwarded-Host or Forwarded header, and sent to the origin as Host. Only if the proxy sets that header itself: one that passes on a visitor's own lets visitors choose their room.",
  ),
  forwardAuth: switchedBy(false).describe(
    "true: `trustedProxies` that serve the site themselves may ask at `/.fairgate/auth/` what to do with each request. No `origin` is needed then. docs/forward-auth.md has the settings of nginx, Caddy, HAProxy, Traefik and Envoy.",
  ),
  otherHosts: setting(choice(["refuse", "pass"]), "refuse").describe(
    "What happens, where rooms are bound to hosts, to a request for a host without a room: `refuse` answers 421, `pass` sends it to the origin without a line.",
  ),
  oddPaths: setting(choice(["normalize", "refuse"]), "normalize").describe(
    "What happens, where rooms have paths, to a path that is not plain (dot segments, doubled slashes, backslashes, encoded slashes, `;`): `normalize` routes and sends it in its plain form, `refuse` answers 400. Malformed paths get 400 either way.",
  ),
  limits: setting(limitsSchema, {}).describe("What a request may cost."),
  log: setting(
    z.strictObject({
      level: setting(choice(["debug", "info", "warn", "error"]), "info").describe(
        "The least important level that is written.",
      ),
    }),
    {},
  ).describe("The log on standard output, as lines of JSON."),
  accessLog: setting(accessLogSchema, null).describe(
    "A line for every request: who asked for what, what was decided, and how long it took. `accessLog: stdout` and `accessLog: ./access.log` are short for a mapping with `to` alone. null: none. docs/operating.md explains the lines.",
  ),
  origin: setting(originSchema, null).describe(
    "The site behind Fairgate, for rooms without their own and for paths outside every room.",
  ),
  budgets: setting(z.record(z.string(), budgetSchema), {}).describe(
    `Capacities that several rooms share, because they share an origin. A name is ${NAME_SHAPE}.`,
  ),
  shops: setting(z.record(z.string(), shopSchema), {}).describe(
    `What is sold behind the rooms, each shop with a stock of its own; needs \`data\`, or \`redis\`. docs/shop.md begins with one. A name is ${NAME_SHAPE}.`,
  ),
  rooms: setting(z.record(z.string(), roomSchema), {}).describe(
    `The rooms: each is one line and one door for a set of routes. A name is ${NAME_SHAPE}.`,
  ),
});

/** The settings as their file has them, parsed; secrets may still be in files of their own. */
export type FileSettings = z.output<typeof settingsSchema>;
/** Settings as they are written, before parsing. */
export type SettingsInput = z.input<typeof settingsSchema>;
export type RoomInput = z.input<typeof roomSchema>;
export type OriginSettings = z.output<typeof originSchema>;
export type RoomSettings = z.output<typeof roomSchema>;
export type EventSettings = RoomSettings["events"][number];
export type BudgetSettings = z.output<typeof budgetSchema>;
export type PageSettings = RoomSettings["page"];
export type Route = z.output<typeof routeSchema>;
export type LimitSettings = FileSettings["limits"];
export type TlsSettings = z.output<typeof tlsSchema>;
export type AccessLogSettings = z.output<typeof accessLogSchema>;
export type ControlSettings = Omit<FileSettings["control"], "tokenFile">;

/** Settings checked, complete and ready to run with: durations in milliseconds, sizes in bytes, secrets read. */
export type Settings = Omit<FileSettings, "secretFile" | "control" | "redis" | "cluster"> & {
  control: ControlSettings;
  /** Null: the lines live in this process. */
  redis: RedisSettings | null;
  /** Null: there are no other nodes. */
  cluster: ClusterSettings | null;
  /** The keys for the JWTs of lanes' members, kept apart from the rooms, which are shown to operators. */
  laneSecrets: LaneSecrets;
  /** Beside the shops, for the same reason. */
  shopSecrets: SecretsOfShops;
  /** The catalogues that shops begin with, by shop. */
  firstCatalogues: ReadonlyMap<string, WrittenCatalogue>;
};

function colour() {
  return text({ max: 7, shape: "a colour such as #1d4ed8" }).regex(/^#[0-9a-fA-F]{6}$/);
}

function readCheckPath(written: string): Read<string> {
  if (!written.startsWith("/")) return { wrong: "does not start with a slash" };
  if (/[^\x21-\x7e]|#/.test(written)) return { wrong: "has a space, a # or a character outside ASCII in it" };
  return { value: written };
}

/** The address of an image on the page. */
function picture(example: string) {
  const shape = `a data:image/… address, an https:// address, or a path such as ${example}`;
  return readable(readPicture, { kind: "picture", max: PICTURE_CHARACTERS_MAX, shape });
}

function readPicture(written: string): Read<string> {
  const isPicture = /^data:image\/[a-z0-9.+-]+[;,][^\s"'<>]*$/i.test(written);
  const isAddress = /^https?:\/\/[^\s"'<>]+$/i.test(written) && URL.canParse(written);
  const isPath = /^\/(?:[^/\\\s"'<>][^\\\s"'<>]*)?$/.test(written);
  return isPicture || isAddress || isPath ? { value: written } : { wrong: "is not the address of a picture" };
}

/** The language for a tag, shortened from the right until the page is translated to it: `pt-BR` is `pt`. */
function readLanguage(tag: string): Read<string> {
  for (let rest = tag.toLowerCase(); rest !== ""; rest = rest.slice(0, Math.max(0, rest.lastIndexOf("-")))) {
    const language = LANGUAGE_TAGS.find((candidate) => candidate.toLowerCase() === rest);
    if (language) return { value: language };
  }
  return { wrong: "the page does not speak" };
}
