/**
 * The gateway for servers that speak the Fetch API (Hono, Next.js, Bun, Deno): makes facts of a web `Request`, and a `Response`
 * of the verdict. The site is a function of the program. It sees the request as an origin would: the path is the routed one, our
 * cookies and forged headers are removed, and `Fairgate-*` headers describe the visitor.
 *
 * A request counts as under way until the body of its answer has been read, fails, or is given up. When its visit ends earlier,
 * the body fails, and the signal of the request that the site got is aborted.
 *
 * Upgrades (WebSocket) are not seen here: connections that the site upgrades are up to the site.
 */
import { isIP } from "node:net";
import type { World } from "../../core/world.ts";
import type { AccessLog } from "../access-log/access-log.ts";
import type { AccessEntry } from "../access-log/entry.ts";
import { PLAIN, STREAM_HEADERS } from "../answer-headers.ts";
import { BodyIntake } from "../body-intake.ts";
import type { Facts } from "../facts.ts";
import type { Gateway } from "../gateway.ts";
import { COMMAND } from "../headers.ts";
import type { Gone } from "../newcomers.ts";
import type { OwnAnswer } from "../own-answer.ts";
import { plainAddress } from "../proxy/forwarded.ts";
import { isHost, type Refusal } from "../proxy/framing.ts";
import { render } from "../render.ts";
import type { OpenStream, PassOn, Shown, TakeBody, TooManyUnderWay, Verdict } from "../verdict.ts";
import { FetchSink, headersOf, Passage } from "./fetch-answers.ts";
import { headersForSite } from "./in-process-site.ts";

/** The site: the next handler. */
export type Site = (request: Request) => Response | Promise<Response>;

export interface FetchAdapterParts<Context> {
  readonly gateway: Gateway;
  readonly world: World;
  /** The other end of the connection: the visitor, or a proxy. */
  readonly address: (request: Request, context: Context) => string | undefined;
  /** Notes every request. */
  readonly accessLog?: AccessLog;
}

const ENCODER = new TextEncoder();
const NO_CONTENT = 204;
/** The visitor left first; nobody reads it. */
const LEFT = 499;
const VISIT_OVER = "The visit is over.\n";
const GONE: Gone = { kind: "gone" };
const BAD_METHOD: Refusal = { status: 405, reason: "method not allowed" };
const BAD_HOST: Refusal = { status: 400, reason: "malformed Host" };

export class FetchAdapter<Context> {
  readonly #parts: FetchAdapterParts<Context>;

  constructor(parts: FetchAdapterParts<Context>) {
    this.#parts = parts;
  }

  /** Serves one request. Rejects when the site does, and when no address is given. */
  async handle(request: Request, site: Site, context: Context): Promise<Response> {
    const { gateway, world, accessLog, address } = this.#parts;
    const given = address(request, context);
    const remoteAddress = plainAddress(given ?? "");
    if (isIP(remoteAddress) === 0) {
      if (request.signal.aborted) return new Response(null, { status: LEFT });
      // Without addresses all visitors would count as one, and soon reach the limits of a single address.
      throw new TypeError(
        `\`address\` gave ${JSON.stringify(given)}, and should give the visitor's IP address`,
      );
    }
    const facts = new FetchFacts(request, remoteAddress, world.clock.now());
    const entry = accessLog?.beginElsewhere(facts) ?? null;
    const refusal = refusalOf(facts);
    const decided = refusal ? gateway.refuse(refusal) : await gateway.visit(facts);
    const verdict = decided.kind === "takeBody" ? await this.#takeBody(decided, request, facts) : decided;
    return this.#act(verdict, request, site, entry);
  }

  #act(
    verdict: Exclude<Verdict, TakeBody>,
    request: Request,
    site: Site,
    entry: AccessEntry | null,
  ): Response | Promise<Response> {
    if (verdict.kind === "gone") {
      this.#finish(entry, LEFT);
      return new Response(null, { status: LEFT });
    }
    entry?.note(verdict);
    if (verdict.kind === "stream") return this.#stream(verdict, request, entry);
    return verdict.kind === "passOn"
      ? this.#passOn(verdict, request, site, entry)
      : this.#show(verdict, request, entry);
  }

  /** What is decided once the body is there. */
  async #takeBody(
    verdict: TakeBody,
    request: Request,
    facts: FetchFacts,
  ): Promise<OwnAnswer | Gone | TooManyUnderWay> {
    const { promise, resolve } = Promise.withResolvers<OwnAnswer | Gone>();
    const intake = this.#parts.gateway.receive(verdict, facts, resolve);
    if (!(intake instanceof BodyIntake)) return intake;
    const leave = () => {
      intake.cut();
      resolve(GONE);
    };
    request.signal.addEventListener("abort", leave, { once: true });
    void readInto(intake, request.body).catch(leave);
    return promise.finally(() => request.signal.removeEventListener("abort", leave));
  }

  #show(verdict: Shown, { method }: Request, entry: AccessEntry | null): Response {
    const { status, body, ...shown } =
      verdict.kind === "answer" ? verdict : render(verdict, this.#parts.world);
    const bytes = typeof body === "string" ? ENCODER.encode(body) : body;
    const headers = headersOf(shown.headers);
    if (status !== NO_CONTENT) headers.set("Content-Length", String(bytes.length));
    const content = method === "HEAD" || bytes.length === 0 ? null : (bytes as Uint8Array<ArrayBuffer>);
    entry?.sent(content?.length ?? 0);
    this.#finish(entry, status);
    return new Response(content, { status, headers });
  }

  #stream(verdict: OpenStream, request: Request, entry: AccessEntry | null): Response {
    const sink = new FetchSink();
    const opened = verdict.open(() => sink);
    if (typeof opened !== "function") {
      entry?.note(opened);
      return this.#show(opened, request, entry);
    }
    sink.whenOver(request.signal, (bytes) => {
      opened();
      entry?.sent(bytes);
      this.#finish(entry, 200);
    });
    return new Response(sink.body, { headers: headersOf([...STREAM_HEADERS, ...verdict.headers]) });
  }

  async #passOn(verdict: PassOn, request: Request, site: Site, entry: AccessEntry | null): Promise<Response> {
    const { gateway, world } = this.#parts;
    const passage = new Passage(request.signal);
    const over = gateway.depart(verdict, passage, false);
    if (typeof over !== "function") return this.#act(over, request, site, entry);
    const { watch } = verdict;
    if (entry) {
      entry.id = verdict.id;
      entry.client = verdict.sender;
    }
    let status = LEFT;
    const startedAt = world.clock.now();
    watch?.asked();
    passage.whenOver((isGivenUp) => {
      watch?.done();
      over(isGivenUp);
      entry?.sent(passage.sent);
      this.#finish(entry, status);
    });
    try {
      const answer = await passage.unlessEnded(async () => site(forSite(request, verdict, passage)));
      if (answer === null) return new Response(VISIT_OVER, { status: 503, headers: headersOf(PLAIN) });
      status = answer.status;
      watch?.answered(status, world.clock.now() - startedAt);
      const command = watch ? answer.headers.get(COMMAND) : null;
      const instead = command === null ? null : watch!.commanded(verdict, command);
      const added = instead ?? verdict.responseHeaders;
      return passage.through(request, answer, { added, isPersonal: verdict.isPersonal });
    } catch (cause) {
      status = 500;
      if (!passage.signal.aborted) watch?.failed();
      passage.over(false);
      throw cause;
    }
  }

  #finish(entry: AccessEntry | null, status: number): void {
    if (entry) this.#parts.accessLog!.ended(entry, status);
  }
}

/** Reads a body until it ends or is no longer wanted. */
async function readInto(intake: BodyIntake, body: ReadableStream<Uint8Array> | null): Promise<void> {
  const reader = body?.getReader();
  while (reader && !intake.isOver) {
    const { done, value } = await reader.read();
    if (done) break;
    intake.take(value);
  }
  if (intake.isOver) void reader?.cancel().catch(() => {});
  else intake.end();
}

/** A request as the site gets it. */
function forSite(
  request: Request,
  { target, sender, facts, requestHeaders }: PassOn,
  passage: Passage,
): Request {
  const { kept, added } = headersForSite(facts.rawHeaders, { added: requestHeaders, host: sender.host });
  return new Request(target === facts.url ? request.url : rootOf(request.url) + target, {
    method: request.method,
    headers: headersOf([...kept, ...added]),
    body: request.body && passage.counted(request.body),
    duplex: "half",
    redirect: "manual",
    signal: passage.signal,
  });
}

/** A web `Request` as facts. */
class FetchFacts implements Facts {
  readonly now: number;
  readonly isUpgrade = false;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly socket: Facts["socket"];
  readonly #signal: AbortSignal;

  constructor({ method, url, headers, signal }: Request, remoteAddress: string, now: number) {
    const root = rootOf(url);
    const fields = [...headers];
    if (!headers.has("host")) fields.push(["host", root.slice(root.indexOf("//") + 2)]);
    this.now = now;
    this.method = method;
    this.url = url.slice(root.length).split("#", 1)[0] || "/";
    this.headers = Object.fromEntries(fields);
    this.rawHeaders = fields.flat();
    this.socket = { remoteAddress, encrypted: url.startsWith("https:") };
    this.#signal = signal;
  }

  isGone(): boolean {
    return this.#signal.aborted;
  }
}

/** Why a request is not acted on; null for one that is. */
function refusalOf({ method, headers }: FetchFacts): Refusal | null {
  if (method === "TRACE" || method === "CONNECT") return BAD_METHOD;
  return isHost(headers.host!) ? null : BAD_HOST;
}

/** The part of an address before its path. */
function rootOf(url: string): string {
  const at = url.indexOf("/", url.indexOf("//") + 2);
  return at < 0 ? url : url.slice(0, at);
}
