/** What is logged of connections. Outsiders can cause any of it at any rate, so each is at most one line a second. */
import { LogPace } from "../core/log-pace.ts";
import type { Log } from "../core/world.ts";

export class ConnectionLog {
  readonly #whose: string;
  readonly #log: Log;
  readonly #paces = {
    full: new LogPace(),
    addressFull: new LogPace(),
    wrongHeader: new LogPace(),
    closedIdle: new LogPace(),
    ranOut: new LogPace(),
    failed: new LogPace(),
  };
  /** About the last of each kind. */
  #max = 0;
  #address = "";
  #proxy = "";
  #wrong = "";
  #ranOutBy = "";
  #failure = "";

  constructor(whose: string, log: Log) {
    this.#whose = whose;
    this.#log = log;
  }

  full(max: number, now: number): void {
    this.#max = max;
    this.#tellFull(this.#paces.full.add(now));
  }

  addressFull(address: string, now: number): void {
    this.#address = address;
    this.#tellAddressFull(this.#paces.addressFull.add(now));
  }

  wrongHeader(proxy: string, wrong: string, now: number): void {
    this.#proxy = proxy;
    this.#wrong = wrong;
    this.#tellWrongHeader(this.#paces.wrongHeader.add(now));
  }

  closedIdle(now: number): void {
    this.#tellClosedIdle(this.#paces.closedIdle.add(now));
  }

  ranOut(error: Error, now: number): void {
    this.#ranOutBy = error.message;
    this.#tellRanOut(this.#paces.ranOut.add(now));
  }

  failed(error: Error, now: number): void {
    this.#failure = error.message;
    this.#tellFailed(this.#paces.failed.add(now));
  }

  /** Logs what was counted and not told yet. */
  look(now: number): void {
    const { full, addressFull, wrongHeader, closedIdle, ranOut, failed } = this.#paces;
    this.#tellFull(full.due(now));
    this.#tellAddressFull(addressFull.due(now));
    this.#tellWrongHeader(wrongHeader.due(now));
    this.#tellClosedIdle(closedIdle.due(now));
    this.#tellRanOut(ranOut.due(now));
    this.#tellFailed(failed.due(now));
  }

  #tellFull(count: number): void {
    const fields = { code: "CONNECTIONS_FULL", whose: this.#whose, count, max: this.#max };
    if (count > 0) this.#log.warn(fields, "new connections refused: all are taken and none is idle");
  }

  #tellAddressFull(count: number): void {
    const fields = { code: "ADDRESS_FULL", whose: this.#whose, count, address: this.#address };
    if (count > 0) this.#log.warn(fields, "new connections refused: their address has as many as it may");
  }

  #tellWrongHeader(count: number): void {
    const [whose, address] = [this.#whose, this.#proxy];
    const fields = {
      code: "PROXY_HEADER",
      whose,
      count,
      address,
      problem: `the PROXY header ${this.#wrong}`,
    };
    if (count > 0) this.#log.warn(fields, "connections of a trusted proxy refused for their PROXY header");
  }

  #tellClosedIdle(count: number): void {
    const fields = { code: "IDLE_CLOSED", whose: this.#whose, count };
    if (count > 0) this.#log.info(fields, "idle connections closed to make room for new ones");
  }

  #tellRanOut(count: number): void {
    const fields = { code: "OUT_OF_FILES", whose: this.#whose, count, error: this.#ranOutBy };
    if (count > 0) this.#log.error(fields, "no more file handles; raise the limit on open files");
  }

  #tellFailed(count: number): void {
    const fields = { code: "ACCEPT_FAILED", whose: this.#whose, count, error: this.#failure };
    if (count > 0) this.#log.error(fields, "new connections could not be accepted");
  }
}
