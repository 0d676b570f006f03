/**
 * The HTTP/2 connections of a listener: closed when they are idle, or when they send little more than control frames.
 *
 * A session is idle while it has no open stream, even if it sends pings. Before its first request it has as long as a header may
 * take, then as long as an idle connection is kept. Node's own timeout would be reset by every ping, and would wait for the
 * client to close its half, which an attacker never does.
 *
 * nghttp2 itself ends a session that resets streams too fast (CVE-2023-44487), sends too many CONTINUATION frames, empty
 * DATA frames or streams over the limit, or does not read the answers to its pings and settings. What it does not limit
 * are pings and settings whose answers are read.
 */
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { World } from "../../core/world.ts";

export interface SessionLimits {
  readonly headersTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

/** How long the other side may take to close, once a session is over. */
const LINGER_MS = 3_000;
/** Pings and settings a session may send between two looks. Browsers send a ping now and then. */
const CONTROL_FRAMES_MAX = 100;
const LOOK_EVERY_MS = 1_000;

interface Seen {
  streams: number;
  hasServed: boolean;
  idleSinceAt: number;
  controlFrames: number;
  /** It is over, and only the other side's half is still open. */
  overSinceAt: number | null;
}

export class Http2Sessions {
  limits: SessionLimits;
  readonly #seen = new Map<ServerHttp2Session, Seen>();
  readonly #cut: (session: ServerHttp2Session) => void;
  readonly #world: World;
  readonly #stop: () => void;
  #isClosing = false;

  /** `cut` closes a session's connection without waiting for the client. */
  constructor(limits: SessionLimits, cut: (session: ServerHttp2Session) => void, world: World) {
    this.limits = limits;
    this.#cut = cut;
    this.#world = world;
    this.#stop = world.timers.every(LOOK_EVERY_MS, () => this.#look());
  }

  watch(session: ServerHttp2Session): void {
    const idleSinceAt = this.#world.clock.now();
    const seen: Seen = { streams: 0, hasServed: false, idleSinceAt, controlFrames: 0, overSinceAt: null };
    const count = () => {
      if (++seen.controlFrames > CONTROL_FRAMES_MAX)
        session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    };
    this.#seen.set(session, seen);
    session.on("ping", count).on("remoteSettings", count);
    session.on("close", () => this.#seen.delete(session));
    if (this.#isClosing) session.close();
  }

  /** A request begins. */
  use(stream: ServerHttp2Stream): void {
    const seen = stream.session && this.#seen.get(stream.session as ServerHttp2Session);
    if (!seen || stream.closed) return;
    seen.streams++;
    seen.hasServed = true;
    stream.once("close", () => {
      seen.streams--;
      seen.idleSinceAt = this.#world.clock.now();
    });
  }

  /** Streams that are open go on for as long as their own limits allow; only new ones need a new connection. */
  closeGently(): void {
    this.#isClosing = true;
    for (const session of this.#seen.keys()) session.close();
  }

  close(): void {
    this.#stop();
  }

  #look(): void {
    const now = this.#world.clock.now();
    for (const [session, seen] of this.#seen) {
      seen.controlFrames = 0;
      if (seen.streams > 0 && !session.destroyed) continue;
      if (session.closed || session.destroyed) this.#lookAtRest(session, seen, now);
      else if (now - seen.idleSinceAt >= this.#maxIdleMs(seen)) session.close();
    }
  }

  #maxIdleMs({ hasServed }: Seen): number {
    return hasServed ? this.limits.keepAliveTimeoutMs : this.limits.headersTimeoutMs;
  }

  /** While the listener closes, its own deadline applies to visitors who are slow to read the end of an answer. */
  #lookAtRest(session: ServerHttp2Session, seen: Seen, now: number): void {
    seen.overSinceAt ??= now;
    if (!this.#isClosing && now - seen.overSinceAt >= LINGER_MS) this.#cut(session);
  }
}
