/** What the gateway tells the proxy about a request, and what the parts of a proxy share. */
import type { OriginSettings } from "../../config/schema.ts";
import type { World } from "../../core/world.ts";
import type { Relief } from "../../sockets/relief.ts";
import type { PacedLog } from "../paced-log.ts";
import type { ErrorPage } from "../page/problem.ts";
import type { Origin } from "./origin.ts";
import type { OwnLinks } from "./own-links.ts";
import type { SlowVisitors } from "./slow-visitors.ts";
import type { Client } from "./trust.ts";

/** Makes the page for a request that failed, in the form and the language that it asks for. */
export type RenderProblem = (
  request: { readonly headers: Readonly<Record<string, string | string[] | undefined>> },
  page: Pick<ErrorPage, "status" | "id" | "kind">,
) => { readonly headers: readonly string[]; readonly body: Buffer };

/** What one request carries besides itself. */
export interface Forward {
  /** In logs and on error pages, and the origin's X-Request-Id unless a trusted proxy gave one. */
  readonly id: string;
  /** Flat list of `Fairgate-*` headers for the origin. */
  readonly requestHeaders: readonly string[];
  /** Flat list of headers for the visitor, such as our Set-Cookie. */
  readonly responseHeaders: readonly string[];
  /** Behind a line: the answer is for this visitor alone, whatever the origin says to shared caches. */
  readonly isPersonal: boolean;
  /** Of a visitor with a pass: the last of the origin's connections are kept for these. */
  readonly isOnSite: boolean;
  /** Who sent it, as far as it can be believed. */
  readonly sender: Client;
  /** The client in whose share its connection to the origin counts: an address, or with IPv6 its /64. Null where not known. */
  readonly client: string | null;
  /** Requests with one key go to the same address of a sticky origin. Null: to any. */
  readonly stickyKey: string | null;
  /** The visitor sent `Expect: 100-continue` and waits for our 100 before sending the body. */
  readonly isContinueExpected: boolean;
  /** Told how the origin does; null where that is not wanted. */
  readonly watch: Watch | null;
  /** Counts the bytes that pass, where the visitor's socket does not; null where that is not wanted. */
  readonly connection: { moved: number } | null;
}

/** Hears how requests to the origin end. One for all requests of a room. */
export interface Watch {
  asked(): void;
  /** The origin began its answer, so long after it was asked. */
  answered(status: number, tookMs: number): void;
  /** No answer came. */
  failed(): void;
  /** It is over, one way or another; called once for each `asked`. */
  done(): void;
  /**
   * The origin's answer had a command in it. Returns the headers for the visitor in place of `responseHeaders`; null leaves
   * those.
   */
  commanded(forward: Forward, command: string): readonly string[] | null;
}

/** How an exchange ended: the status sent (499: the visitor left first) and how long it took. */
export interface ExchangeOutcome {
  readonly status: number;
  readonly tookMs: number;
}

/** What was too slow: a request body, the reading of an answer, or that of an upgraded connection. */
export type SlowKind = "body" | "answer" | "upgraded";

/** What an exchange knows of the proxy it belongs to. */
export interface ProxyContext {
  readonly settings: OriginSettings;
  readonly origin: Origin;
  readonly slow: SlowVisitors;
  readonly world: World;
  /** For what visitors can cause. */
  readonly log: PacedLog;
  readonly relief: Relief;
  readonly renderProblem: RenderProblem;
  readonly onDone: ((outcome: ExchangeOutcome) => void) | undefined;
  readonly onCut: ((what: SlowKind) => void) | undefined;
  /** The Host the origin gets; null for that of the address. */
  hostFor(client: Client): string | null;
  /** What becomes of the origin's links to itself; null leaves them. */
  readonly ownLinks: OwnLinks | null;
}
