/**
 * What an ordinary request and an upgrade have in common: each takes a connection to one of the origin's addresses, or waits
 * for one, and goes on to another address as long as that can save it. Nothing was sent before there was a connection, so any
 * method may then be tried elsewhere; after that only a request that may be repeated.
 */
import type { IncomingMessage } from "node:http";
import { isOutOfHandles } from "../../sockets/relief.ts";
import type { AccessEntry } from "../access-log/entry.ts";
import type { ConnectionWaiter, OriginAddress, Use } from "./address.ts";
import type { RequestPhase } from "./address-health.ts";
import type { Seeker } from "./choice.ts";
import type { Forward, ProxyContext } from "./forward.ts";

const NONE_TRIED: readonly OriginAddress[] = [];

/** No connection could be had. */
export class OriginBusy extends Error {
  readonly code = "ORIGIN_BUSY";
}

export abstract class OriginRequest implements Seeker, ConnectionWaiter {
  phase: RequestPhase = null;
  tried: readonly OriginAddress[] = NONE_TRIED;
  repeats = 0;
  protected readonly proxy: ProxyContext;
  protected readonly request: IncomingMessage;
  protected readonly forward: Forward;
  protected readonly entry: AccessEntry | null;
  protected address: OriginAddress | null = null;
  protected isWaiting = false;
  /** Nothing is to be answered any more. */
  protected isOver = false;
  private isRelieved = false;
  private stopTimer: (() => void) | null = null;

  abstract readonly use: Use;
  abstract readonly isComing: boolean;
  abstract readonly isRepeatable: boolean;
  abstract carriedPace(now: number): number;
  abstract cut(): void;
  /** Sends the request over the connection that it has taken. */
  protected abstract send(address: OriginAddress): void;
  protected abstract fail(error: Error, address: OriginAddress | null): void;

  constructor(proxy: ProxyContext, request: IncomingMessage, forward: Forward, entry: AccessEntry | null) {
    this.proxy = proxy;
    this.request = request;
    this.forward = forward;
    this.entry = entry;
  }

  get isOnSite(): boolean {
    return this.forward.isOnSite;
  }

  get client(): string | null {
    return this.forward.client;
  }

  get stickyKey(): string | null {
    return this.forward.stickyKey;
  }

  protected ask(): void {
    const { origin } = this.proxy;
    const address = origin.pick(this);
    this.address = address;
    if (address === null) this.fail(new OriginBusy("no address left to try"), null);
    else if (origin.take(address, this)) this.go();
    else this.wait(address);
  }

  private wait(address: OriginAddress): void {
    const { origin, settings, slow } = this.proxy;
    const line = origin.wait(address, this);
    if (line === null) {
      this.address = null;
      this.fail(new OriginBusy("every connection is taken"), address);
      return;
    }
    this.isWaiting = true;
    this.limit(settings.connectTimeout, () => {
      this.leaveAddress();
      this.fail(new OriginBusy("no connection came free"), address);
    });
    if (line === "onSite" || line === "outside") slow.press(address);
  }

  /** There is a connection. */
  go(): void {
    this.isWaiting = false;
    this.clearTimer();
    if (this.isOver) {
      this.leaveAddress();
      return;
    }
    const address = this.address!;
    if (this.entry !== null) this.entry.origin = address.name;
    this.proxy.origin.begin(address, this);
    this.send(address);
  }

  /** After an error without an answer: asks another address or this one again, where that may help. */
  protected retry(address: OriginAddress, error: Error, wasConnected: boolean): void {
    const { origin, relief } = this.proxy;
    let canAsk: boolean;
    if (wasConnected) {
      const where = origin.repeat(address, this, error);
      canAsk = where !== null;
      if (canAsk) this.repeats++;
      if (where === "elsewhere") this.tried = [...this.tried, address];
    } else if (isOutOfHandles(error)) {
      // We have no handle to connect with, which is not the origin's fault: once more, if one can be freed.
      canAsk = relief.ask(error) && !this.isRelieved;
      this.isRelieved = true;
    } else {
      this.tried = [...this.tried, address];
      canAsk = this.tried.length < origin.addresses.length;
    }
    // Not from inside the HTTP client's own closing of the connection.
    if (canAsk) process.nextTick(askAgain, this);
    else this.fail(error, address);
  }

  askAgain(): void {
    if (!this.isOver) this.ask();
  }

  protected leaveAddress(): void {
    const { address } = this;
    this.address = null;
    if (address === null) return;
    if (this.isWaiting) this.proxy.origin.giveUp(address, this);
    else this.proxy.origin.release(address, this);
    this.isWaiting = false;
  }

  protected limit(timeoutMs: number, onOver: () => void): void {
    this.clearTimer();
    this.stopTimer = this.proxy.world.timers.after(timeoutMs, onOver);
  }

  protected clearTimer(): void {
    this.stopTimer?.();
    this.stopTimer = null;
  }
}

function askAgain(request: OriginRequest): void {
  request.askAgain();
}
