/**
 * Gathers requests that may end in a tie. A request waits until all that arrived before it can be decided have come in. If
 * together they want no more than is left, they are decided at once; else a window opens for what is scarce, and whoever wants it
 * meanwhile joins. At its end all of them are decided together, and nobody hears before that is stored.
 *
 * In quiet times a request finds nobody else and nothing to wait for, so it is answered as fast as any.
 */
import type { Contender, ScarceProduct } from "../rules/book/contests.ts";
import type { BasketAnswer } from "../rules/commands.ts";

/** Requests that may wait at a time; more are refused with an error, like calls of an object that has too many. */
const WAITING_MAX = 100_000;

export type ContestRequest = Omit<Contender, "arrival">;

export interface TieParts {
  /** Resolves after this time, and with 0 once everything has come in that waits to. */
  pause(ms: number): Promise<void>;
  /** Those that want something scarce. `open`: what counts as scarce in any case. */
  sortOut(requests: readonly Contender[], open: ReadonlySet<string>): ReadonlyMap<Contender, ScarceProduct>;
  /** Answers in the order of the requests. */
  decide(requests: readonly Contender[]): readonly BasketAnswer[];
}

interface Waiting {
  readonly request: Contender;
  resolve(answer: BasketAnswer): void;
  reject(error: unknown): void;
}

export class TieWindows {
  readonly #parts: TieParts;
  #arrivals = 0;
  #waiting = 0;
  #arrived: Waiting[] = [];
  /** Who waits for the end of a window, by what is scarce. */
  readonly #windows = new Map<string, Waiting[]>();
  readonly #open = new Set<string>();

  constructor(parts: TieParts) {
    this.#parts = parts;
  }

  /** The products that windows are open for. */
  get open(): ReadonlySet<string> {
    return this.#open;
  }

  ask(request: ContestRequest): Promise<BasketAnswer> {
    if (this.#waiting >= WAITING_MAX)
      return Promise.reject(new RangeError(`${WAITING_MAX} requests wait to be decided; come back later.`));
    this.#waiting++;
    return this.#enter(request).finally(() => {
      this.#waiting--;
    });
  }

  #enter(request: ContestRequest): Promise<BasketAnswer> {
    return new Promise((resolve, reject) => {
      const arrival = this.#arrivals++;
      this.#arrived.push({ request: { ...request, arrival }, resolve, reject });
      if (this.#arrived.length === 1) void this.#look();
    });
  }

  async #look(): Promise<void> {
    let arrived: Waiting[] = [];
    try {
      await this.#parts.pause(0);
      arrived = this.#takeArrived();
      const requests = arrived.map(({ request }) => request);
      const scarce = this.#parts.sortOut(requests, this.#open);
      for (const one of arrived) {
        const product = scarce.get(one.request);
        if (product) this.#gather(one, product);
      }
      this.#decide(arrived.filter(({ request }) => !scarce.has(request)));
    } catch (error) {
      for (const { reject } of [...arrived, ...this.#takeArrived()]) reject(error);
    }
  }

  #gather(one: Waiting, { product, windowMs }: ScarceProduct): void {
    const window = this.#windows.get(product);
    if (window) return void window.push(one);
    this.#windows.set(product, [one]);
    this.#open.add(product);
    void this.#close(product, windowMs);
  }

  async #close(product: string, windowMs: number): Promise<void> {
    const among = this.#windows.get(product)!;
    try {
      await this.#parts.pause(windowMs);
      this.#end(product);
      this.#decide(among);
    } catch (error) {
      this.#end(product);
      for (const { reject } of among) reject(error);
    }
  }

  #end(product: string): void {
    this.#windows.delete(product);
    this.#open.delete(product);
  }

  #decide(waiting: readonly Waiting[]): void {
    if (waiting.length === 0) return;
    const answers = this.#parts.decide(waiting.map(({ request }) => request));
    for (const [i, { resolve }] of waiting.entries()) resolve(answers[i]!);
  }

  #takeArrived(): Waiting[] {
    const arrived = this.#arrived;
    this.#arrived = [];
    return arrived;
  }
}
