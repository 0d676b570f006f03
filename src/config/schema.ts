/**
 * Every setting there is: its type, default, limits and the sentence that explains it. From this one place come the
 * TypeScript types, the checks for the file, the command line and the control address, `fairgate.example.yaml` and
 * `docs/settings.md`.
 *
 * Names follow the vocabulary the industry shares (Cloudflare's; Semeria 2021), in camelCase. Durations are written `45s`, `10m` and
 * come out as milliseconds; sizes are written `16KB`, `100MB` and come out as bytes. Unknown keys are errors. What one
 * setting means for another is checked in `cross-check.ts`.
 */
import { z } from "zod";
import { DEFAULT_RULES } from "../core/rules.ts";
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
} from "./door-schema.ts";
import { eventsSchema } from "./event-schema.ts";
import {
  choice,
  count,
  duration,
  isTrue,
  listenAddress,
  numberChoice,
  PAGE_CHARACTERS_MAX,
  readable,
  secret,
  size,
  text,
} from "./kinds.ts";
import type { LaneSecrets } from "./lane-members.ts";
import { LANGUAGE_TAGS } from "./language-tags.ts";
import { readLanguage } from "./languages.ts";
import { lineSettings } from "./line-schema.ts";
import { LANE_NAME_SHAPE, NAME_SHAPE } from "./name.ts";
import { network } from "./network.ts";
import { redisSchema } from "./redis-schema.ts";
import type { RedisSettings } from "./redis-settings.ts";
import { type Read, readAddress, readDomain, readHost, readOrigin, readPath } from "./route.ts";
import { formatDuration } from "./units.ts";

export const ROOMS_MAX = 1_000;
export const BUDGETS_MAX = 1_000;
const ADDRESSES_MAX = 64;
const FAILURE_STATUSES_MAX = 100;
const ROUTES_MAX = 100;
const PROXIES_MAX = 1_000;
const COMMANDS_MAX = 10;
const ORIGINS_MAX = 100;
/** Tokens count so far. */
const VISITS_MAX = 250;
const MISSED_TURNS_MAX = 100;
export const PREVIOUS_SECRETS_MAX = 8;
const PATH_CHARACTERS_MAX = 1_024;
const FILE_NAME_CHARACTERS_MAX = 4_096;
/** In place of a file name. */
export const STANDARD_OUTPUT = "stdout";
const LOGO_CHARACTERS_MAX = 100_000;
const USERS_MAX = 100_000_000;
const REQUESTS_MAX = 1_000_000;
const CONNECTIONS_MAX = 1_000_000;

const host = () =>
  readable(readHost, {
    kind: "host",
    max: 255,
    shape: "a host name such as shop.example.com or *.example.com",
  });
const path = () =>
  readable(readPath, { kind: "path", max: PATH_CHARACTERS_MAX, shape: "a path such as / or /tickets" });
const fileName = () => text({ max: FILE_NAME_CHARACTERS_MAX, shape: "a file name" }).min(1);
const time = (ms: number, bounds: { min: string; max: string }) =>
  duration(bounds).prefault(formatDuration(ms));

const healthCheckSchema = z.strictObject({
  path: readable(readCheckPath, { kind: "path", max: PATH_CHARACTERS_MAX, shape: "a path such as /healthz" })
    .prefault("/")
    .describe("Asked for with GET. An answer below 500 means the address is well."),
  interval: duration({ min: "1s", max: "1h" }).prefault("10s").describe("Time from one check to the next."),
  timeout: duration({ min: "100ms", max: "1m" })
    .prefault("2s")
    .describe(
      "An address that takes longer than this is taken out until a check succeeds. At most `interval`.",
    ),
});

export const originSchema = z
  .strictObject({
    addresses: z
      .array(
        readable(readAddress, {
          kind: "address",
          max: 300,
          shape: "an address such as http://10.0.0.1:3000, with nothing after the port",
        }),
      )
      .min(1)
      .max(ADDRESSES_MAX)
      .meta({ shape: `a list of 1 to ${ADDRESSES_MAX} addresses such as http://10.0.0.1:3000` })
      .describe(
        "Where the site itself listens. With several, each request goes to the one with the fewest under way.",
      ),
    hostHeader: text({ max: 300, shape: "preserve, origin, or a host name" })
      .regex(/^[A-Za-z0-9._\-[\]:]+$/)
      .prefault("preserve")
      .describe(
        "The Host header the origin gets: `preserve` hands on the visitor's, `origin` uses the address's own, anything else is used as it is. Unless it is preserved, redirects and cookies of the origin for its own name are rewritten for the visitor's host.",
      ),
    http2: choice(["off", "tls", "always"])
      .prefault("off")
      .describe(
        "Speak HTTP/2 to the origin, with up to 100 requests on one connection; gRPC needs it. `tls`: to addresses with https that agree to it. `always`: also to addresses with http, which must then speak nothing else (h2c). WebSockets stay on HTTP/1.1.",
      ),
    connectTimeout: duration({ min: "10ms", max: "5m" })
      .prefault("5s")
      .describe("How long to wait for a connection before the visitor gets a 504 page."),
    headersTimeout: duration({ min: "10ms", max: "1h" })
      .prefault("60s")
      .describe("How long the origin may take to begin its answer."),
    idleTimeout: duration({ min: "10ms", max: "24h" })
      .prefault("5m")
      .describe("How long an answer may pause between two pieces before it is given up."),
    connectionsMax: count({ min: 1, max: 65_535 })
      .prefault(512)
      .describe(
        "The most connections to each address, upgraded ones (WebSockets) included; with `http2`, the most requests at a time. More requests than this wait for a free one. The last eighth is only for visitors on the site.",
      ),
    failureStatuses: z
      .array(count({ min: 500, max: 599 }))
      .max(FAILURE_STATUSES_MAX)
      .prefault([])
      .meta({ shape: `a list of at most ${FAILURE_STATUSES_MAX} statuses from 500 to 599` })
      .describe(
        "Answers with these statuses take an address out, as broken connections do. Without any, an address that answers many requests with 5xx still gets fewer of them.",
      ),
    sticky: choice(["off", "visitor"])
      .prefault("off")
      .describe(
        "`visitor`: all requests of a visitor go to the same address while it can serve them. For sites that keep sessions in memory, such as socket.io.",
      ),
    healthCheck: healthCheckSchema
      .nullable()
      .prefault(null)
      .describe(
        "Regular checks of each address; `{}` is all it takes to turn them on. null: an address is taken out only when requests to it fail.",
      ),
    token: choice(["none", "hs256", "eddsa"])
      .prefault("none")
      .describe(
        "Hands the visitor's pass to the origin as a JWT in the Fairgate-Pass header: `hs256` signed with the secret, `eddsa` with a key pair whose public half is at a JWKS address.",
      ),
  })
  .meta({ shape: "a mapping with at least addresses: [http://10.0.0.1:3000] in it" });

const routeSchema = z.strictObject({
  host: host().nullable().prefault(null).describe("null: every host."),
  path: path().prefault("/").describe("This path and everything below it."),
});

const cookieSchema = z.strictObject({
  sameSite: choice(["lax", "strict", "none"])
    .prefault("lax")
    .describe("`none` is for a site shown in a frame of another site; browsers then demand a secure cookie."),
  secure: choice(["auto", "always", "never"])
    .prefault("auto")
    .describe(
      "`auto`: secure when the visitor came by https. `always` when TLS ends in front and does not say so.",
    ),
});

const pageSchema = z.strictObject({
  title: text({ max: 200 })
    .nullable()
    .prefault(null)
    .describe("Name of the site, shown above the heading of the waiting page and in its tab. null: none."),
  logo: readable(readLogo, {
    kind: "logo",
    max: LOGO_CHARACTERS_MAX,
    shape: "a data:image/… address, an https:// address, or a path such as /logo.svg",
  })
    .nullable()
    .prefault(null)
    .describe(
      "Picture above the heading. A data: address needs no request; a path should lie outside the room.",
    ),
  logoAlt: text({ max: 200 }).prefault("").describe("What the picture shows, for those who cannot see it."),
  colour: colour().prefault("#1d4ed8").describe("Colour of the progress bar and of links."),
  background: colour().nullable().prefault(null).describe("Background in light mode. null: the page's own."),
  defaultLanguage: readable(readLanguage, {
    kind: "language",
    max: 35,
    shape: `one of ${LANGUAGE_TAGS.join(", ")}`,
  })
    .prefault("en")
    .describe("Language for visitors whose browser asks for none that the page has."),
  customPageHtml: text({ max: PAGE_CHARACTERS_MAX })
    .nullable()
    .prefault(null)
    .describe("Your own waiting page, with the documented variables in it, instead of the built-in one."),
  customPageFile: fileName()
    .nullable()
    .prefault(null)
    .describe("The same, read from a file. A relative name starts from the settings file's folder."),
});

/** A room without its events, which may say the same things once more. */
const plainRoomSchema = z.strictObject({
  host: host()
    .nullable()
    .prefault(null)
    .describe(
      "Host name this room is for; `*.example.com` is every host below example.com. null: every host.",
    ),
  path: path()
    .prefault("/")
    .describe("Path this room is for, with everything below it. The longest match wins."),
  additionalRoutes: z
    .array(routeSchema)
    .max(ROUTES_MAX)
    .prefault([])
    .meta({ shape: `a list of at most ${ROUTES_MAX} routes, each with a host and a path` })
    .describe("More hosts and paths that share this room's line."),
  bypass: bypassSchema,
  origin: originSchema
    .nullable()
    .prefault(null)
    .describe("This room's own origin. null: the one at the top."),
  totalActiveUsers: count({ min: 1, max: USERS_MAX })
    .nullable()
    .prefault(DEFAULT_RULES.totalActiveUsers)
    .describe(
      "The most visitors on the site at once, those whose turn has just come included. null: no such limit. A room needs this or `newUsersPerMinute`.",
    ),
  newUsersPerMinute: count({ min: 1, max: USERS_MAX })
    .nullable()
    .prefault(DEFAULT_RULES.newUsersPerMinute)
    .describe(
      "The most visitors who enter in any minute, as an even flow. null: no such limit. More than `totalActiveUsers` come in a minute only where visits are shorter than that.",
    ),
  sessionDuration: time(DEFAULT_RULES.sessionDurationMs, { min: "1s", max: "30d" }).describe(
    "How long a visitor may stay on the site without a request before their place is given to the next.",
  ),
  disableSessionRenewal: isTrue()
    .prefault(DEFAULT_RULES.disableSessionRenewal)
    .describe("true: a visit ends `sessionDuration` after it began, whatever the visitor does."),
  newcomerDuration: duration({ min: "1s", max: "1d" })
    .prefault("1m")
    .describe(
      "How long someone who goes straight through holds a slot without coming back. With the next request that carries the cookie they have a whole `sessionDuration`; browsers without cookies never do. The shorter of the two counts.",
    ),
  strayRequestsPerMinute: count({ min: 0, max: REQUESTS_MAX })
    .prefault(240)
    .describe(
      "How many requests without a visit one address, or with IPv6 one /64, may make each minute while nobody waits: pictures, manifests, preflights, prefetches and programs that carry no cookie. All together may make as many for each slot of `totalActiveUsers`, preflights apart. While people wait there are none.",
    ),
  formGrace: time(DEFAULT_RULES.formGraceMs, { min: "0ms", max: "1h" }).describe(
    "How long after a visit has ended a form that its visitor sends begins it again, before anyone who waits, if there is a free slot. It counts in `newUsersPerMinute`, so that newcomers are let in later by one. Once in this time for each visitor; whoever finds no slot may try again after a second.",
  ),
  connectionGrace: duration({ min: "0ms", max: "1d" })
    .prefault("0s")
    .describe(
      "How long connections (WebSockets, event streams, downloads, uploads) may go on after their visit has ended, while its slot is held. With one gateway the slot is free a second after the last of them is closed. With Redis or a cluster it is held for all of this, and for three seconds at least, after every visit that was left or revoked, since any gateway may have a connection. Traffic on one, in either direction, renews the visit as a request does.",
    ),
  claimWindow: time(DEFAULT_RULES.claimWindowMs, { min: "1s", max: "1d" }).describe(
    "How long a visitor whose turn has come may take to enter before the turn is missed. Their slot is kept for the first seconds of it; after that they enter while there is room. Whoever was told to check in later than that has half of it from then. At most `ticketTtl`.",
  ),
  missedTurnsMax: count({ min: 1, max: MISSED_TURNS_MAX })
    .prefault(DEFAULT_RULES.missedTurnsMax)
    .describe(
      "After so many missed turns a place is lost. Each one before that puts it further behind in the line.",
    ),
  lapseAfter: time(DEFAULT_RULES.lapseAfterMs, { min: "1s", max: "1d" }).describe(
    "How long after a missed check-in a waiting visitor is no longer waited for. The place is kept for their return. At most `ticketTtl`.",
  ),
  ticketTtl: time(DEFAULT_RULES.ticketTtlMs, { min: "1s", max: "30d" }).describe(
    "How long a place in the line is kept for a visitor who is not seen.",
  ),
  queueingMethod: choice(["fifo", "random", "passthrough", "reject"])
    .prefault(DEFAULT_RULES.queueingMethod)
    .describe(
      "Who is next. `fifo`: first come, first served. `random`: each turn is drawn among all who wait. `passthrough`: everybody goes through, counted, without a line. `reject`: no line, newcomers go through while there is room and are turned away otherwise; those who wait already go on.",
    ),
  queueingStatusCode: numberChoice([200, 202, 429])
    .prefault(200)
    .describe(
      "Status of the waiting page. 200 suits browsers; 202 or 429 tell caches and crawlers that this is not the site.",
    ),
  jsonResponseEnabled: isTrue()
    .prefault(true)
    .describe(
      "true: a waiting visitor that asks for JSON gets JSON with status 429 and Retry-After, not the page.",
    ),
  paused: isTrue()
    .prefault(DEFAULT_RULES.paused)
    .describe("true: nobody is let in, and everybody keeps their place."),
  queueAll: isTrue()
    .prefault(DEFAULT_RULES.queueAll)
    .describe(
      "true: every newcomer joins the line and nobody is let in, as before an opening; the page says nothing of a pause.",
    ),
  drained: isTrue()
    .prefault(DEFAULT_RULES.drained)
    .describe(
      "true: everybody is let in, whatever the limits. Not together with `paused`, `queueAll` or `closed`.",
    ),
  closed: isTrue()
    .prefault(DEFAULT_RULES.closed)
    .describe(
      "true: nobody joins and nobody is let in; newcomers see when the next event opens, or that it is over. Places are kept.",
    ),
  suspended: isTrue()
    .prefault(false)
    .describe("true: the room does nothing at all, and its requests go straight to the origin."),
  privilegedOnly: isTrue()
    .prefault(DEFAULT_RULES.privilegedOnly)
    .describe(
      "true: only visitors in privileged lanes join and are let in. Those who wait in other lanes keep their places.",
    ),
  lanes: lanesSchema
    .prefault({})
    .describe(
      `Classes of visitors with a line of their own, the foremost first, at most ${LANES_MAX}. Whoever belongs in none waits in everybody's, which is the last. A name is ${LANE_NAME_SHAPE}.`,
    ),
  laneOrder: choice(["strict", "weighted"])
    .prefault(DEFAULT_RULES.lanes.order)
    .describe(
      "`strict`: a lane is served before those after it, but for `othersShare`. `weighted`: lanes are served by their shares; everybody's has what is left of a hundred.",
    ),
  othersShare: count({ min: 0, max: SHARES_MAX })
    .prefault(DEFAULT_RULES.lanes.othersShare)
    .describe(
      "With `laneOrder: strict`: of a hundred visitors let in at least so many come from lanes further back while people wait there. 0: they wait until those before are empty.",
    ),
  fillNoShows: isTrue()
    .prefault(DEFAULT_RULES.fillNoShows)
    .describe(
      "true: as many turns as will not be used are given out on top, so that the site is full. The site never has more than `totalActiveUsers`. Not together with `budget`, a relaxed line or a `cluster`.",
    ),
  standby: standbySchema
    .nullable()
    .prefault(null)
    .describe("No line until one of these thresholds is crossed. null: the line is always ready."),
  adaptive: adaptiveSchema
    .nullable()
    .prefault(null)
    .describe(
      "Limits that are lowered while the origin does badly, and raised again slowly. null: they stay as they are set.",
    ),
  show: showSchema.prefault({}).describe("What those who wait may know."),
  visitsMax: count({ min: 1, max: VISITS_MAX })
    .nullable()
    .prefault(null)
    .describe("How many visits one visitor may have within `visitsWindow`. null: as many as they like."),
  visitsWindow: duration({ min: "1m", max: "30d" })
    .prefault("1d")
    .describe("The time over which `visitsMax` counts."),
  enabledOriginCommands: z
    .array(choice(["revoke"]))
    .max(COMMANDS_MAX)
    .prefault([])
    .meta({ shape: "a list with revoke in it, or an empty one" })
    .describe(
      "What the origin may do to a visit with the Fairgate-Command header of its answer: `revoke` ends it.",
    ),
  budget: text({ max: 32, shape: "the name of one of the budgets at the top" })
    .nullable()
    .prefault(null)
    .describe("The capacity that this room has together with others. null: its own alone."),
  guaranteed: count({ min: 0, max: USERS_MAX })
    .prefault(0)
    .describe("How many places of the budget are always this room's, whatever goes on in the others."),
  ...lineSettings,
  message: text({ max: 2_000 })
    .prefault(DEFAULT_RULES.message)
    .describe("Your words to everyone waiting, shown on the page."),
  pollBudget: count({ min: 1, max: 1_000_000 })
    .prefault(DEFAULT_RULES.pollBudgetPerSecond)
    .describe(
      "Check-ins per second that the whole line may cost. A longer line checks in less often; those near the door as often as they must to hear of their turn.",
    ),
  engineFailure: choice(["closed", "open"])
    .prefault("closed")
    .describe(
      "What newcomers get while the engine does not answer: `closed` a page that says so, `open` the site itself. Visitors with a pass go through either way.",
    ),
  abuse: abuseSchema
    .prefault({})
    .describe("Against those who take many places. All of it is off unless it is set."),
  cookieDomain: readable(readDomain, {
    kind: "domain",
    max: 253,
    shape: "a domain such as example.com",
  })
    .nullable()
    .prefault(null)
    .describe(
      "The domain the visitor's cookie is for, where a room has routes on several hosts of one site: `example.com` covers www.example.com and shop.example.com. Every host below it then gets the cookie. null: each host has its own.",
    ),
  corsOrigins: z
    .array(
      readable(readOrigin, {
        kind: "origin",
        max: 300,
        shape: "an origin such as https://app.example.com, with nothing after the port",
      }),
    )
    .max(ORIGINS_MAX)
    .prefault([])
    .meta({ shape: `a list of at most ${ORIGINS_MAX} origins such as https://app.example.com` })
    .describe(
      "Pages of these origins may call the room's addresses under /.fairgate/ and read its refusals (CORS), with the visitor's cookie. Preflights from them are answered while people wait.",
    ),
  cookieAttributes: cookieSchema.prefault({}).describe("How the visitor's cookie is marked."),
  page: pageSchema.prefault({}).describe("How the waiting page looks."),
});

export const roomSchema = z.strictObject({ ...plainRoomSchema.shape, events: eventsSchema(plainRoomSchema) });

const budgetSchema = z.strictObject({
  totalActiveUsers: count({ min: 1, max: USERS_MAX }).describe(
    "The most visitors at once in all rooms of this budget together.",
  ),
});

export const limitsSchema = z
  .strictObject({
    headerBytes: size({ min: "1KB", max: "1MB" })
      .prefault("16KB")
      .describe("The largest request header. A larger one gets 431."),
    bodyBytes: size({ min: "1B", max: "1024GB" })
      .nullable()
      .prefault(null)
      .describe("The largest request body. A larger one gets 413. null: the origin decides."),
    headersTimeout: duration({ min: "100ms", max: "10m" })
      .prefault("15s")
      .describe("How long a visitor may take to send the request header, and a proxy the PROXY header."),
    requestTimeout: duration({ min: "100ms", max: "24h" })
      .prefault("5m")
      .describe(
        "How long a request body may fall silent. A large upload may take hours, as long as it keeps coming.",
      ),
    requestsPerVisitorMax: count({ min: 1, max: REQUESTS_MAX })
      .nullable()
      .prefault(128)
      .describe(
        "The most requests and upgraded connections that one visitor with a pass may have under way to the origin. More get 429. As many as one HTTP/2 connection may have open. null: no limit.",
      ),
    requestsPerAddressMax: count({ min: 1, max: REQUESTS_MAX })
      .nullable()
      .prefault(256)
      .describe(
        "The same for one IP address, or with IPv6 one /64, whoever shares it. Keep it below `connectionsMax` of the origin. Name the proxies in front in `trustedProxies`, or everybody behind one counts as one address. null: no limit.",
      ),
    newcomersPerAddressMax: count({ min: 1, max: REQUESTS_MAX })
      .nullable()
      .prefault(20)
      .describe(
        "The most visitors from one IP address, or with IPv6 one /64, who went straight through and have not come back with their cookie yet. Whoever comes on top must show one first: that costs a browser a second, and programs without cookies get no slot. null: no limit.",
      ),
    bufferedBodyBytes: size({ min: "0B", max: "16MB" })
      .prefault("64KB")
      .describe(
        "How much of a request body is read before a connection to the origin is taken, so that a slow upload of a small body holds none. Where a visitor waits for `100 Continue`, the origin is asked first. 0B: bodies are passed on as they come.",
      ),
    bufferedBodiesBytes: size({ min: "0B", max: "64GB" })
      .prefault("64MB")
      .describe(
        "Memory for all buffered bodies together. While it is full, bodies are passed on unbuffered.",
      ),
    spooledAnswerBytes: size({ min: "0B", max: "1GB" })
      .prefault("2MB")
      .describe(
        "How much of an answer is kept for a visitor who reads slowly, so that the origin's connection is free sooner. 0B: nothing.",
      ),
    spooledAnswersBytes: size({ min: "0B", max: "64GB" })
      .prefault("128MB")
      .describe("Memory for all kept answers together. No answer takes more than an eighth of what is free."),
    bodyPace: size({ min: "1B", max: "1GB" })
      .prefault("250B")
      .describe(
        "The least a visitor must send of a request body, in bytes per second over `paceWindow`. A slower upload is ended with 408. Time in which the origin holds it up does not count.",
      ),
    answerPace: size({ min: "1B", max: "1GB" })
      .prefault("250B")
      .describe(
        "The least a visitor must take of what is waiting for them, in bytes per second over `paceWindow`. A slower reader is cut off. Time in which the origin has nothing to send does not count.",
      ),
    paceWindow: duration({ min: "100ms", max: "1h" })
      .prefault("1m")
      .describe("The time over which `bodyPace` and `answerPace` are measured."),
    keepAliveTimeout: duration({ min: "100ms", max: "1h" })
      .prefault("75s")
      .describe(
        "How long an idle connection is kept. Longer than that of a load balancer in front, or it will see resets.",
      ),
    shutdownTimeout: duration({ min: "100ms", max: "1h" })
      .prefault("30s")
      .describe("How long requests under way may take to finish when Fairgate is stopped."),
    connectionsMax: count({ min: 1, max: CONNECTIONS_MAX })
      .nullable()
      .prefault(null)
      .describe(
        "The most visitors' connections at once. When there are more, idle ones are closed, the longest idle first. null: as many as the limit on open files allows (`ulimit -n`), with a reserve for origins, disk and the control address, at most 20000.",
      ),
    connectionsPerAddressMax: count({ min: 1, max: CONNECTIONS_MAX })
      .nullable()
      .prefault(null)
      .describe(
        "The most connections of one address, with IPv6 of one /64. An office or a mobile network may have thousands of people behind one. `trustedProxies` are exempt. null: an eighth of `connectionsMax`, at least 64.",
      ),
    streamsPerAddressMax: count({ min: 1, max: CONNECTIONS_MAX })
      .nullable()
      .prefault(null)
      .describe(
        "The most event streams of visitors from one address, with IPv6 from one /64. Waiting pages beyond that ask for the board instead. null: half of `connectionsPerAddressMax`.",
      ),
    streamsPerTicketMax: count({ min: 1, max: 1_000 })
      .prefault(5)
      .describe("The most event streams for one place in the line: one for each tab that shows it."),
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
  certificateFile: fileName().describe("PEM file with the certificate and the chain below it."),
  keyFile: fileName().describe("PEM file with the certificate's private key."),
});

const controlSchema = z.strictObject({
  listen: listenAddress()
    .prefault("127.0.0.1:8081")
    .describe("Address for operators. Keep it where visitors cannot reach it."),
  token: secret("a token")
    .nullable()
    .prefault(null)
    .describe("Bearer token for the control address. Better in the environment: FAIRGATE_CONTROL_TOKEN."),
  tokenFile: fileName().nullable().prefault(null).describe("File that holds the token instead."),
});

const accessLogFields = z.strictObject({
  to: text({ max: FILE_NAME_CHARACTERS_MAX, shape: "stdout, or a file name" })
    .min(1)
    .describe(
      "`stdout` is standard output. A file is added to, and opened again at SIGUSR2, for log rotation. A relative name starts from the settings file's folder.",
    ),
  format: choice(["combined", "json"])
    .prefault("combined")
    .describe(
      "`combined`: the combined format of Apache and nginx, then what Fairgate knows as key=value. `json`: one object a line.",
    ),
});

/** `on`, `file` or `json` alone is not meant for a file of that name. */
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
  listen: listenAddress()
    .prefault(":8080")
    .describe("Address for visitors. Port 0 lets the system choose one."),
  tls: tlsSchema
    .nullable()
    .prefault(null)
    .describe("Serve https and HTTP/2 with this certificate. null: plain http."),
  secret: secret("a secret")
    .nullable()
    .prefault(null)
    .describe(
      "Signs tickets and passes. `fairgate keys new` makes one. Better in the environment: FAIRGATE_SECRET.",
    ),
  secretFile: fileName()
    .nullable()
    .prefault(null)
    .describe("File that holds the secret on its first line; more lines are `previousSecrets`."),
  previousSecrets: z
    .array(secret("a secret"))
    .max(PREVIOUS_SECRETS_MAX)
    .prefault([])
    .meta({ shape: `a list of at most ${PREVIOUS_SECRETS_MAX} secrets`, isSecret: true })
    .describe(
      "Secrets used before. Tickets and passes signed with them stay good, so a change empties no line.",
    ),
  data: fileName()
    .nullable()
    .prefault(null)
    .describe(
      "Directory where the line, who is on the site, changes made at run time and the keys are kept, so that a crash costs nobody their place. null: nothing is kept. Not together with `redis` or `cluster`.",
    ),
  redis: redisSchema
    .nullable()
    .prefault(null)
    .describe(
      "A Redis or Valkey, 7.0 or later, that holds the lines, so that any number of gateways share them; they need the same `secret`. null: the lines live in this process. `fairgate doctor` checks it.",
    ),
  cluster: clusterSchema
    .nullable()
    .prefault(null)
    .describe(
      "Several gateways that keep one line between them, as equal nodes, with no Redis and no database; they need the same `secret` and the same rooms. null: no other nodes. `fairgate cluster status` shows them.",
    ),
  control: controlSchema.prefault({}).describe("The address for counts, changes, metrics and health."),
  trustedProxies: z
    .array(network())
    .max(PROXIES_MAX)
    .prefault([])
    .meta({ shape: `a list of at most ${PROXIES_MAX} addresses or networks such as 10.0.0.0/8` })
    .describe(
      "Proxies in front of Fairgate whose X-Forwarded-* and Forwarded headers are believed, but for the host (see `forwardedHost`). Nobody else's are.",
    ),
  proxyProtocol: isTrue()
    .prefault(false)
    .describe(
      "true: a connection from one of the `trustedProxies` must begin with a PROXY header, version 1 or 2, and comes from the address that this names. For load balancers that pass on TCP, such as AWS NLB, HAProxy, nginx stream and Traefik. Connections from elsewhere are served without one, and a PROXY header on them is a malformed request.",
    ),
  forwardedHost: isTrue()
    .prefault(false)
    .describe(
      "true: the host is the one that a trusted proxy names in X-Forwarded-Host or Forwarded, and the origin gets it as Host. Only if the proxy sets that header itself: one that hands on a visitor's own lets visitors choose their room.",
    ),
  forwardAuth: isTrue()
    .prefault(false)
    .describe(
      "true: `trustedProxies` that serve the site themselves may ask here, at `/.fairgate/auth/`, what is to become of each request. No `origin` is needed then. docs/forward-auth.md has the settings of nginx, Caddy, HAProxy, Traefik and Envoy.",
    ),
  otherHosts: choice(["refuse", "pass"])
    .prefault("refuse")
    .describe(
      "Where rooms are bound to hosts, what requests for a host get that no room is for: `refuse` 421, `pass` the origin, without a line.",
    ),
  oddPaths: choice(["normalize", "refuse"])
    .prefault("normalize")
    .describe(
      "Where rooms have paths, what becomes of a path that is not plain (dot segments, doubled slashes, backslashes, encoded slashes, `;`): `normalize` routes and sends it in its plain form, `refuse` answers 400. Malformed paths get 400 either way.",
    ),
  limits: limitsSchema.prefault({}).describe("What a request may cost."),
  log: z
    .strictObject({
      level: choice(["debug", "info", "warn", "error"])
        .prefault("info")
        .describe("The least important thing written."),
    })
    .prefault({})
    .describe("What is written to standard output, as lines of JSON."),
  accessLog: accessLogSchema
    .nullable()
    .prefault(null)
    .describe(
      "A line for every request: who asked for what, what was decided, and how long it took. `accessLog: stdout` and `accessLog: ./access.log` are short for a mapping with `to` alone. null: none. docs/operating.md explains the lines.",
    ),
  origin: originSchema
    .nullable()
    .prefault(null)
    .describe("The site behind Fairgate, for rooms without their own and for paths outside every room."),
  budgets: z
    .record(z.string(), budgetSchema)
    .prefault({})
    .describe(
      `Capacities that several rooms have together, since they share an origin. A name is ${NAME_SHAPE}.`,
    ),
  rooms: z
    .record(z.string(), roomSchema)
    .prefault({})
    .describe(`One line and one door each, for a set of routes. A name is ${NAME_SHAPE}.`),
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
  /** What the JWTs of lanes' members are signed with, beside the rooms, which are shown to operators. */
  laneSecrets: LaneSecrets;
};

function colour() {
  return text({ max: 7, shape: "a colour such as #1d4ed8" }).regex(/^#[0-9a-fA-F]{6}$/);
}

function readCheckPath(written: string): Read<string> {
  if (!written.startsWith("/")) return { wrong: "does not start with a slash" };
  if (/[^\x21-\x7e]|#/.test(written)) return { wrong: "has a space, a # or a character outside ASCII in it" };
  return { value: written };
}

function readLogo(written: string): Read<string> {
  const isPicture = /^data:image\/[a-z0-9.+-]+[;,][^\s"'<>]*$/i.test(written);
  const isAddress = /^https?:\/\/[^\s"'<>]+$/i.test(written) && URL.canParse(written);
  const isPath = /^\/(?:[^/\\\s"'<>][^\\\s"'<>]*)?$/.test(written);
  return isPicture || isAddress || isPath ? { value: written } : { wrong: "is not the address of a picture" };
}
