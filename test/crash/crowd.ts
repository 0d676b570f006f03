/**
 * The visitors of the crash test. They arrive at a steady rate, each with random habits; one reader of the board tells those who
 * read it. Visitors who are gone show what is over once more after each restart.
 */
import { Asker, Askers, type Asks, pause } from "./ask.ts";
import type { Books } from "./books.ts";
import { Guest, type Manner } from "./guest.ts";

const CONNECTIONS_MAX = 256;
const BOARD_EVERY_MS = 200;
/** Gone visitors who show their old pass and ticket again after a restart. */
const SHOWN_AGAIN_MAX = 30;

export interface CrowdOptions {
  /** The gateways; each request goes to a random one. */
  readonly addresses: readonly string[];
  /** After this long without an answer, another gateway is asked. */
  readonly patienceMs?: number;
  readonly books: Books;
  readonly sessionMs: number;
  /** How long gateways may take to learn of each other's visitors; 0 for a single one. */
  readonly spreadMs?: number;
  readonly arrivalsPerSecond: number;
  /** Nobody arrives while this many visitors are about. */
  readonly atOnceMax: number;
  readonly fraction: () => number;
}

export class Crowd {
  readonly #options: CrowdOptions;
  readonly #asker: Asks;
  readonly #about = new Map<Guest, Promise<void>>();
  readonly #gone: Guest[] = [];
  readonly #failures: unknown[] = [];
  #isArriving = true;
  #isOpen = true;
  #arrived = 0;
  #admittedOnBoard = 0;
  readonly #loops: Promise<void>[];

  constructor(options: CrowdOptions) {
    this.#options = options;
    const { addresses, patienceMs, fraction } = options;
    const askers = addresses.map((address) => new Asker(address, CONNECTIONS_MAX, patienceMs));
    this.#asker = new Askers(askers, fraction);
    this.#loops = [this.#arrive(), this.#readBoard()];
  }

  /** Visitors who are on the site and known there. */
  onSite(): Guest[] {
    return [...this.#about.keys()].filter((guest) => guest.isOnSite && guest.visitor !== null);
  }

  get about(): number {
    return this.#about.size;
  }

  /** How many visitors are gone. */
  get gone(): number {
    return this.#gone.length;
  }

  /** Some of the visitors who are gone show what is over. */
  async showAgain(): Promise<void> {
    const some = this.#gone.slice(-SHOWN_AGAIN_MAX);
    await Promise.all(some.map((guest) => guest.showAgain()));
  }

  /** Nobody new arrives; resolves when everyone is gone, and fails when that takes too long. */
  async drain(giveUpMs: number): Promise<void> {
    this.#isArriving = false;
    const endAt = Date.now() + giveUpMs;
    while (this.#about.size > 0) {
      if (Date.now() > endAt)
        throw new Error(`${this.#about.size} visitors are not through after ${giveUpMs} ms`);
      await pause(BOARD_EVERY_MS);
    }
  }

  /** Failures of visitors that are no violations in the books. */
  get failures(): readonly unknown[] {
    return this.#failures;
  }

  async close(): Promise<void> {
    this.#isArriving = this.#isOpen = false;
    await Promise.all([...this.#loops, ...this.#about.values()]);
    this.#asker.close();
  }

  async #arrive(): Promise<void> {
    const { arrivalsPerSecond, atOnceMax, fraction } = this.#options;
    while (this.#isArriving) {
      if (this.#about.size < atOnceMax) this.#come();
      await pause((2_000 / arrivalsPerSecond) * fraction());
    }
  }

  #come(): void {
    const { books, sessionMs, spreadMs = 0, fraction } = this.#options;
    const admittedOnBoard = () => this.#admittedOnBoard;
    const isOver = () => !this.#isOpen;
    const around = { asker: this.#asker, books, sessionMs, spreadMs, fraction, admittedOnBoard, isOver };
    const guest = new Guest(++this.#arrived, drawManner(fraction), around);
    const visit = guest.visit().catch((cause) => void this.#failures.push(cause));
    this.#about.set(
      guest,
      visit.then(() => {
        this.#about.delete(guest);
        this.#gone.push(guest);
      }),
    );
  }

  async #readBoard(): Promise<void> {
    while (this.#isOpen) {
      const answer = await this.#asker.ask({ method: "GET", path: "/.fairgate/main/board" });
      const admitted = answer?.json.admitted as number | undefined;
      if (admitted !== undefined) this.#admittedOnBoard = admitted;
      await pause(BOARD_EVERY_MS);
    }
  }
}

function drawManner(fraction: () => number): Manner {
  const ends = fraction();
  return {
    joins: fraction() < 0.4 ? "page" : "endpoint",
    readsBoard: fraction() < 0.7,
    pages: 2 + Math.floor(fraction() * 3),
    pageMs: 100 + fraction() * 700,
    ends: ends < 0.85 ? "leaves" : ends < 0.92 ? "runs out" : "gives up",
  };
}
