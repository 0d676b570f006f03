/**
 * The catalogue of errors: every code that Fairgate ends, throws, logs or answers with, why it comes, and what to do.
 * `docs/errors.md` is made from it (`npm run generate`), and a test keeps source and catalogue in step.
 *
 * It is plain data, and in `core` since every room may import from there: the rooms take the types of their codes from
 * these tables, so a code that is not listed does not compile. A table in each room would be nearer to where its errors
 * are thrown, but the codes of the log come from five rooms, and one code in two tables would go unseen.
 *
 * The sentence that goes with a code is made where the error is, from what is known there: the value, the file, the
 * address. Mistakes in calls of the library have no code: they are a `RangeError` or `TypeError` whose message says it.
 */

export interface CatalogueEntry {
  /** The status of the HTTP answer, or each it may have. */
  readonly status?: number | readonly number[];
  readonly why: string;
  readonly action: string;
}

type Catalogue = Readonly<Record<string, CatalogueEntry>>;

/** How a command ends. */
export const EXIT_CODES = {
  "0": { why: "Done, and nothing is wrong. `run` was stopped as told.", action: "Nothing." },
  "1": {
    why: "It failed, or what was checked is not good: `run` could not start or go on, `check` found what would keep it from starting on this machine, `doctor`, `health` or `cluster status` found a problem, a draw or a code is not genuine, a simulated promise was broken, a file cannot be read or written.",
    action: "Read standard error and the log. Let a supervisor start `run` again with the same settings.",
  },
  "2": {
    why: "The command or the settings are not right, or nothing that was given can be read.",
    action: "Correct what standard error names. Starting it again as it is changes nothing.",
  },
} as const satisfies Catalogue;

/** What can be wrong with the settings: of the file, the flags, the environment, or a change at the control address. */
export const SETTING_PROBLEMS = {
  syntax: {
    why: "The file is not well-formed YAML at this place.",
    action:
      "Look at the line shown and the one before it: indentation, a quote or a bracket that is not closed.",
  },
  "duplicate-key": { why: "A setting is written twice.", action: "Keep one of them." },
  "too-large": {
    why: "The file is too long, or there is more of something than is allowed.",
    action: "Keep within the number that the hint names.",
  },
  empty: {
    why: "There are no settings: the file is empty, or there is neither a file nor a flag.",
    action: "Write a `fairgate.yaml`, or give flags such as `--origin` and `--total-active-users`.",
  },
  "unknown-key": {
    why: "There is no setting of that name at this place.",
    action: "Correct the name; the hint has the one that was probably meant, or where it belongs.",
  },
  missing: { why: "A setting that is needed is not there, or is empty.", action: "Add it." },
  invalid: {
    why: "The value has another form, or is out of range.",
    action: "Write what the hint says it should be.",
  },
  conflict: {
    why: "Two settings that are good by themselves do not go together.",
    action: "Change or remove one of the two that are named.",
  },
  "no-limit": {
    why: "A room has no limit at all, so nobody would ever wait.",
    action:
      "Set `totalActiveUsers`, `newUsersPerMinute` or both; or `queueingMethod: passthrough` if that is meant.",
  },
  "no-origin": {
    why: "A room has no origin to send visitors to.",
    action: "Set `origin.addresses` at the top or in the room, or give `--origin`.",
  },
  "no-secret": {
    why: "There is no secret to sign tickets and passes with, and none can be kept.",
    action: "Set `FAIRGATE_SECRET` to what `fairgate keys new` prints, or name a data directory.",
  },
  "no-token": {
    why: "Other machines can reach the control address, and it has no token.",
    action: "Set `FAIRGATE_CONTROL_TOKEN`, or listen on 127.0.0.1.",
  },
  "weak-secret": {
    why: "A secret or token is too short, too long, or easy to guess.",
    action: "Use what `fairgate keys new` prints.",
  },
  unreadable: {
    why: "A file that the settings name cannot be read.",
    action: "Correct the name, or let the user that runs Fairgate read it.",
  },
  flag: {
    why: "A flag does not fit the file or the other flags, or its value cannot be read.",
    action: "Correct the flag, or say it in the file.",
  },
  caution: {
    why: "A warning. Fairgate starts, but the setting probably does not do what was meant.",
    action: "Read the message and decide; nothing has to be changed.",
  },
} as const satisfies Catalogue;

/** The small pages that visitors see in place of the site or the line; `kind` in the JSON version. */
export const PAGES = {
  originAway: {
    status: [502, 503],
    why: "No address of the origin accepts the request.",
    action: "Find the page's id in the log; the line has one of the codes of the proxy.",
  },
  originSlow: {
    status: 504,
    why: "The origin did not connect or answer in time.",
    action: "Find the page's id in the log. Make the origin faster, admit fewer, or raise the timeout.",
  },
  tooLarge: {
    status: 413,
    why: "The request body is larger than `limits.bodyBytes`.",
    action: "Raise the limit if such uploads are meant.",
  },
  tooSlow: {
    status: 408,
    why: "The visitor sent or read more slowly than `limits.bodyPace` or `answerPace`.",
    action: "Nothing, unless many see it: then lower the pace.",
  },
  badRequest: {
    status: [400, 408],
    why: "The request cannot be passed to the origin, or the visitor aborted it.",
    action: "Nothing; the fault is in the program that sent it.",
  },
  tooManyRequests: {
    status: 429,
    why: "One visitor or address has more requests under way than `limits.requestsPerVisitorMax` or `requestsPerAddressMax`.",
    action: "If the address is a proxy of yours, name it in `trustedProxies`.",
  },
  engineAway: {
    status: 503,
    why: "The engine cannot be reached, and `engineFailure` is `closed`. No place is lost.",
    action: "Look at the log, and at Redis or the cluster; `fairgate doctor` says what is wrong with them.",
  },
  notFound: {
    status: 404,
    why: "No room covers this address, and there is no origin outside of rooms.",
    action: "Add the address to a room, or set `origin.addresses` at the top.",
  },
  ended: {
    status: 503,
    why: "The room is closed and no event is planned.",
    action: "Set `closed: false`, or plan an event, to open it.",
  },
  opensLater: {
    status: 503,
    why: "The room is closed until the event that the page names.",
    action: "Nothing; the page continues automatically at the opening.",
  },
  rejected: {
    status: [429, 503],
    why: "The room is full and has `queueingMethod: reject`, or the request cannot wait.",
    action: "Use `fifo` or `random` to have a line.",
  },
  notPrivileged: {
    status: 403,
    why: "`privilegedOnly` is on, and the visitor belongs to no lane with `privileged: true`.",
    action: "Give them a code or a JWT for such a lane.",
  },
  inviteUsed: {
    status: 403,
    why: "The code is valid for one place and has been used.",
    action: "The place is in the browser that used the code. If that was not the visitor's, make a new code.",
  },
  codeBad: {
    status: 403,
    why: "The code has run out, is mistyped, or was made with another secret or for another room.",
    action: "`fairgate codes check` says which.",
  },
  visitsUsed: {
    status: 403,
    why: "The visitor has had as many visits as `visitsMax` allows in `visitsWindow`.",
    action: "Nothing; the page says when they may come again.",
  },
  tooManyJoins: {
    status: 429,
    why: "An address or network has asked for more places than `abuse.joinsPerMinutePerAddress` or `joinsPerMinutePerNetwork`.",
    action: "Raise the limit if the people are real, such as a school behind one address.",
  },
  checking: {
    status: [200, 202, 429],
    why: "A place is given at the second contact (`abuse.entryDelay`).",
    action: "Nothing; the page reloads automatically.",
  },
  proofOfWork: {
    status: [200, 202, 429],
    why: "A place costs a small task (`abuse.proofOfWork`).",
    action: "Nothing; the page solves it. Programs do as docs/programs.md says.",
  },
  wrongBrowser: {
    status: 403,
    why: "The token is bound to another browser or network (`abuse.bindTickets`).",
    action: "The visitor joins again. If many see it, set `none`.",
  },
} as const satisfies Catalogue;

/** Why a request or an upgrade got no answer from the origin, or not all of it. In the log beside the visitor's id. */
export const PROXY_ERRORS = {
  ORIGIN_UNREACHABLE: {
    status: 502,
    why: "Nothing listens at the origin's address, or its name is not known.",
    action: "Start the origin, or correct `origin.addresses`.",
  },
  ORIGIN_CONNECT_TIMEOUT: {
    status: 504,
    why: "The address did not take a connection within `origin.connectTimeout`.",
    action: "Look at the origin's machine, the network and its firewalls.",
  },
  ORIGIN_HEADERS_TIMEOUT: {
    status: 504,
    why: "The answer did not begin within `origin.headersTimeout`.",
    action: "Admit fewer visitors, or raise the timeout if such answers take that long.",
  },
  ORIGIN_IDLE_TIMEOUT: {
    status: 504,
    why: "The answer paused for longer than `origin.idleTimeout`.",
    action: "Have streams send something now and then, or raise the timeout.",
  },
  ORIGIN_BROKEN: {
    status: 502,
    why: "The origin closed the connection, or what it sent is not HTTP. `cause` and `error` say more.",
    action: "Look at the origin's own log at that time.",
  },
  ORIGIN_BUSY: {
    status: 503,
    why: "All of the origin's connections stayed taken (`origin.connectionsMax`).",
    action: "Admit fewer visitors, or raise the number if the origin can take it.",
  },
  BODY_TOO_LARGE: {
    status: 413,
    why: "The body is larger than `limits.bodyBytes`.",
    action: "Raise the limit if such uploads are meant.",
  },
  BODY_TOO_SLOW: {
    status: 408,
    why: "The body came more slowly than `limits.bodyPace`.",
    action: "Nothing, unless there are many: then lower the pace.",
  },
  READER_TOO_SLOW: {
    status: 408,
    why: "The answer was read more slowly than `limits.answerPace`.",
    action: "Nothing, unless there are many: then lower the pace.",
  },
  REQUEST_MALFORMED: {
    status: 400,
    why: "The request has something in it that cannot be sent on.",
    action: "Nothing; the fault is in the program that sent it.",
  },
  VISITOR_LEFT: {
    status: [400, 408],
    why: "The visitor closed the connection before everything had been sent.",
    action: "Nothing.",
  },
  OUT_OF_FILES: {
    status: 503,
    why: "The process has no file handle left for a connection. Also at new visitors' connections, which are then closed.",
    action: "Raise the limit on open files; docs/operating.md says how.",
  },
} as const satisfies Catalogue;

/** The other codes in the log. A line without a code says all there is in its message. */
export const LOG_CODES = {
  ORIGIN_DOWN: {
    why: "An origin address cannot be connected to. It is tried in the background, and visitors go to the others.",
    action: "Start it, or correct the address.",
  },
  ORIGIN_UP: { why: "The address can be connected to again.", action: "Nothing." },
  ORIGIN_FAILING: {
    why: "An origin address fails requests, such as three in a row, and rests.",
    action: "Look at that server.",
  },
  ORIGIN_ANSWERS: { why: "The address has passed its trial.", action: "Nothing." },
  ORIGIN_UNWELL: {
    why: "An origin address fails `origin.healthCheck`; `error` says how.",
    action: "Look at that server, or at the path that is checked.",
  },
  ORIGIN_WELL: { why: "The address passes its check again.", action: "Nothing." },
  PROBLEM_NOT_SENT: {
    why: "A visitor could not be sent the page that says what failed.",
    action: "Report it, with the line of the log: it is a bug.",
  },
  TOO_MANY_REQUESTS: {
    why: "Requests were refused because one visitor or address has too many under way.",
    action: "If the address is a proxy of yours, name it in `trustedProxies`.",
  },
  REQUEST_REFUSED: {
    why: "A request was malformed or ambiguous: `reason` is what the client was told. Logged at `debug`.",
    action: "Nothing; for a program of yours, correct what it sends.",
  },
  CONNECTIONS_FULL: {
    why: "New connections were refused: all that the process may have are taken and none is idle.",
    action: "Raise the limit on open files or `limits.connectionsMax`.",
  },
  ADDRESS_FULL: {
    why: "New connections were refused: their address has as many as it may.",
    action: "Raise `limits.connectionsPerAddressMax` if the people are real.",
  },
  IDLE_CLOSED: {
    why: "Idle connections were closed to make room for new ones.",
    action: "Nothing; raise the limit on open files if it lasts.",
  },
  ACCEPT_FAILED: {
    why: "The system could not take new connections; `error` says why.",
    action: "Look at the machine's memory and network settings.",
  },
  PROXY_HEADER: {
    why: "A trusted proxy's connection had no PROXY header, or a malformed one.",
    action: "Make the proxy send it, or turn `proxyProtocol` off.",
  },
  FEW_FILES: {
    why: "The process may open few files, so few visitors can be connected.",
    action: "Raise the limit on open files; docs/operating.md says how.",
  },
  NOTHING_KEPT: {
    why: "There is no data directory, so a crash forgets who left and which passes were revoked.",
    action: "Give `--data DIR` if that matters.",
  },
  TOKEN_EXPOSED: {
    why: "Other users of the machine could read the kept control token. Its file is for its owner alone again.",
    action: "Delete the file and start again if one of them may have read it.",
  },
  LINE_FORMED: {
    why: "People wait in a room's line; `limit` is the setting that keeps them there. At most one line a minute tells of each room.",
    action: "Nothing; `fairgate watch` shows it.",
  },
  LINE_DOUBLED: {
    why: "The line is twice as long as when it was told of before.",
    action: "Let more in if the site can bear it (`fairgate set totalActiveUsers=…`).",
  },
  LINE_PEAK: {
    why: "The line is getting shorter; `peak` is the most who waited at once.",
    action: "Nothing.",
  },
  LINE_CLEARED: {
    why: "Nobody waits any more. How long it lasted, how many were let in, and the longest wait.",
    action: "Nothing.",
  },
  ACCESS_LOG: {
    why: "The access log cannot be written, is written again, or lost lines.",
    action: "Look at the disk, the directory's rights, or the program that reads the log.",
  },
  CALL_GIVEN_UP: {
    why: "A call that must be made (a capture, a void or a refund at the payment provider, or a webhook to you) failed too often, or was refused for good; `problem` says how it ended.",
    action:
      "Put right what `problem` names, then have it sent again. For a payment look at the provider's own records first.",
  },
  CALL_DROPPED: {
    why: "More calls were given up than are kept, so the oldest of them is gone.",
    action: "Put right why they fail. What was not told is in the export of the orders.",
  },
  LOG_DROPPED: {
    why: "Lines of the log were dropped: nobody read standard output fast enough.",
    action: "Look at what collects the log.",
  },
} as const satisfies Catalogue;

/** A data directory that cannot do what was asked: `code` of a `StoreProblem`. */
export const STORE_PROBLEMS = {
  locked: {
    why: "Another process uses the directory.",
    action: "Stop that process, or give this one a directory of its own.",
  },
  newer: {
    why: "A later version of Fairgate wrote the store.",
    action: "Run that version, or a later one.",
  },
  damaged: {
    why: "The files are not what was written.",
    action:
      "Stop Fairgate, move the directory away and start with an empty one: those who wait come back by their tickets.",
  },
  "disk-full": {
    why: "The disk is full. Nothing of the failed write was stored.",
    action: "Free some space; writing then resumes automatically.",
  },
  "disk-error": {
    why: "The disk or the directory cannot be read or written.",
    action: "Look at the disk and the directory's rights.",
  },
  broken: {
    why: "The disk did not confirm a write, so nobody knows what is on it. The process ends.",
    action: "Look at the disk, then start Fairgate again: it goes on with what is really there.",
  },
  restarted: {
    why: "An object lost a write and was started anew; the old one may do nothing more.",
    action: "Get the object from the host again, and repeat.",
  },
  closed: { why: "The store was closed.", action: "Open it again to use it." },
} as const satisfies Catalogue;

/** What is wrong with Redis: `kind` of a `RedisProblem`. Its message names the server and what to do there. */
export const REDIS_PROBLEMS = {
  away: { why: "There is no connection.", action: "Start Redis, or correct address, network or TLS." },
  slow: {
    why: "No reply came in time, too many calls are waiting, or a script blocks the server.",
    action: "Look at the server's load, and at scripts of others on it.",
  },
  readOnly: {
    why: "It accepts no writes: it is a replica, has too few replicas, or cannot write to its disk.",
    action: "Give the primary's address, or fix what the message names.",
  },
  outOfMemory: {
    why: "It is out of memory.",
    action: "Raise its `maxmemory`, or remove other data from it.",
  },
  failover: {
    why: "There is no primary at the moment, or it has just changed.",
    action: "Wait; it usually ends without intervention. If not, bring the missing nodes back.",
  },
  password: {
    why: "The password is missing or wrong, or the user may not do what is needed.",
    action: "Correct the password, or give the user the rights that the message lists.",
  },
  tooOld: { why: "It is too old.", action: "Use Redis 7.0 or later, or Valkey." },
  noFunctions: {
    why: "It does not know or allow functions, or loses them.",
    action: "Allow `FUNCTION` and `FCALL` for this user; let nobody run `FUNCTION FLUSH`.",
  },
  loading: { why: "It is still reading its data from the disk.", action: "Wait." },
  other: {
    why: "Something else; the message quotes it. Often a cluster's node or a sentinel in place of a server.",
    action: "Do as the message says; `fairgate doctor` says more.",
  },
} as const satisfies Catalogue;

/** What `fairgate/relaxed` throws beside a `RedisProblem`: the `name` of the error. */
export const RELAXED_ERRORS = {
  RelaxedProblem: {
    why: "Redis could not serve some of the items. `items` has the outcome of each: `done`, `refused` (not done) or `unknown`.",
    action:
      "Repeat what was refused; what is unknown may be repeated with the same ids and does not make two.",
  },
  ShardsMismatch: {
    why: "Producers and consumers of a queue name different numbers of shards.",
    action: "Give all of them the same number, or empty the queue before it gets another.",
  },
} as const satisfies Catalogue;

/** How the control address says no: `error.code` in its JSON. */
export const CONTROL_REFUSALS = {
  bad_request: {
    status: 400,
    why: "The address, the Host header or the body cannot be read.",
    action: "Send well-formed JSON.",
  },
  bad_id: { status: 400, why: "The id is not 32 lower-case hexadecimal digits.", action: "Correct the id." },
  token_missing: {
    status: 401,
    why: "There is no bearer token.",
    action: "Send `Authorization: Bearer` and the token.",
  },
  token_wrong: {
    status: 401,
    why: "The token is not the right one.",
    action:
      "Send what `FAIRGATE_CONTROL_TOKEN` is there, or what `control-token` in its data directory holds.",
  },
  no_token_set: {
    status: 403,
    why: "Fairgate has no token, so everything but health is closed.",
    action: "Start it with `FAIRGATE_CONTROL_TOKEN`.",
  },
  password_for_page: {
    status: 403,
    why: "The token came as a password, which a browser also sends where another site's page causes a request.",
    action: "Send it as `Authorization: Bearer`. As a password it opens the page at `/`, and nothing else.",
  },
  wrong_host: {
    status: 403,
    why: "The Host header names another host, as when a web page tries to reach the address.",
    action: "Use localhost or the configured address.",
  },
  not_found: { status: 404, why: "There is nothing at this path.", action: "See `/openapi.json`." },
  no_such_room: {
    status: 404,
    why: "There is no room of that name.",
    action: "Use a name from the message.",
  },
  no_such_event: {
    status: 404,
    why: "The room has no event of that name.",
    action: "Use a name from the message.",
  },
  no_such_shop: {
    status: 404,
    why: "There is no shop of that name.",
    action: "Use a name from the message.",
  },
  no_catalogue: {
    status: 404,
    why: "The shop has no catalogue yet.",
    action: "Set one: `PUT /shops/{shop}` with `If-None-Match: *`.",
  },
  no_such_product: {
    status: 404,
    why: "The shop's catalogue has no product of that id.",
    action: "See `GET /shops/{shop}/stock`.",
  },
  no_such_order: {
    status: 404,
    why: "The shop has no order, or the order no ticket, of that id.",
    action: "See `GET /shops/{shop}/orders`.",
  },
  stock_held: {
    status: 409,
    why: "The change would leave less than is held and sold, or less than nothing; or the stock is without end.",
    action: "Change it by less, or send `shortfall: record` if more was promised than there is.",
  },
  version_mismatch: {
    status: 412,
    why: "The catalogue was changed since: `If-Match` is not its version.",
    action: "Get it again, make the change in what it is now, and send that.",
  },
  no_draw: {
    status: 404,
    why: "The event has no draw, is suspended, or its draw is not known any more.",
    action: "Set `shuffleAtEventStart` for an event that is to have one.",
  },
  no_cluster: {
    status: 404,
    why: "This process is no node of a cluster.",
    action: "Ask a node, or start it with `--cluster`.",
  },
  not_lost: {
    status: 404,
    why: "No node of that name is lost.",
    action: "Use a name from the message; a node that is alive cannot be forgotten.",
  },
  not_on_site: {
    status: 404,
    why: "Nobody with that id is on the site.",
    action: "Nothing: the visit is over, or never began.",
  },
  wrong_method: {
    status: 405,
    why: "The path does not know this method.",
    action: "Use one that the `Allow` header names.",
  },
  too_large: { status: 413, why: "The body is larger than 4 MB.", action: "Send less." },
  not_json: {
    status: 415,
    why: "The body is not marked as JSON.",
    action: "Send `Content-Type: application/json`.",
  },
  bad_change: {
    status: 422,
    why: "The change does not pass the checks of the settings file. Nothing was changed.",
    action: "Correct what `problems` lists.",
  },
  bad_catalogue: {
    status: 422,
    why: "The catalogue does not pass its checks. Nothing was changed.",
    action: "Correct what `problems` lists.",
  },
  precondition_needed: {
    status: 428,
    why: "The catalogue is replaced whole, so the request must say which version it replaces.",
    action: "Send `If-Match` with the `ETag` of `GET /shops/{shop}`, or `If-None-Match: *` for the first.",
  },
  too_many_attempts: {
    status: 429,
    why: "Too many wrong tokens came from this address.",
    action: "Wait as `Retry-After` says; the right token is taken at once.",
  },
  failed: {
    status: 500,
    why: "An unexpected error. The log has it under the id in the message.",
    action: "Report it, with the line of the log: it is a bug.",
  },
  engine_away: {
    status: 503,
    why: "The engine did not answer.",
    action: "Try again; look at Redis or the cluster.",
  },
  shop_away: {
    status: 503,
    why: "The shop's ledger cannot be read, written or reached; the message says why.",
    action:
      "With Redis try again after some seconds: another gateway takes over. Else look at the disk and the log.",
  },
  not_kept: {
    status: 503,
    why: "The change could not be kept on disk or in Redis, so nothing was changed.",
    action: "The log says why; try again after that is put right.",
  },
} as const satisfies Catalogue;
