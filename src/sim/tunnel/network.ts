/**
 * The network between nodes, with failures as its options (modelled on TigerBeetle's packet simulator). Every pair of stations
 * has a link in each direction. A message takes a random time, and messages on one link arrive in order, as over TCP, unless:
 *
 *   loss, duplication, reorder   shares of messages, drawn for each; a reordered one takes longer and is overtaken
 *   cut                          messages on a link are lost, including those on their way
 *   clog                         messages on a link are held, in order, until it is released
 *   slow                         messages on a link take longer
 *
 * Cuts, clogs and slowness are counted, so that faults may overlap. Each link has its own dice, thrown equally often for every
 * message. The number of held messages is limited; the oldest are dropped, as in a real transport.
 */
import { between, type Dice, type Range } from "./dice.ts";
import type { EventLoop } from "./event-loop.ts";

/** Stations of one tunnel, including those that are gone. */
export const STATIONS_MAX = 64;
const HELD_MAX = 10_000;

export interface Weather {
  readonly delayMs: Range;
  readonly loss: number;
  readonly duplication: number;
  readonly reorder: number;
  /** The longest extra time of a reordered message. */
  readonly reorderUpToMs: number;
}

/** From one station to another, by number. */
export interface Way {
  readonly from: number;
  readonly to: number;
}

export interface MessageFlight extends Way {
  readonly message: unknown;
}

export type MessageFate = "loss" | "cut" | "held too long" | "nobody there";

interface Link {
  readonly dice: Dice;
  cuts: number;
  clogs: number;
  extraMs: number;
  held: MessageFlight[];
  /** When the last ordered message arrives. */
  lastAt: number;
}

export interface NetworkOptions {
  readonly loop: EventLoop;
  readonly weather: Weather;
  diceFor(way: Way): Dice;
  deliver(flight: MessageFlight): void;
  lose(flight: MessageFlight, fate: MessageFate): void;
}

export class Network {
  weather: Weather;
  readonly #options: NetworkOptions;
  readonly #links: (Link | undefined)[] = [];
  #broken = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.weather = options.weather;
  }

  /** True while any link is cut or clogged. */
  get isSplit(): boolean {
    return this.#broken > 0;
  }

  send(flight: MessageFlight): void {
    const link = this.#link(flight);
    const { dice } = link;
    const { weather } = this;
    const isLost = dice() < weather.loss;
    const isDoubled = dice() < weather.duplication;
    const isLate = dice() < weather.reorder;
    const delayMs = between(dice, weather.delayMs) + link.extraMs;
    const lateMs = dice() * weather.reorderUpToMs;
    if (link.cuts > 0 || isLost) this.#options.lose(flight, link.cuts > 0 ? "cut" : "loss");
    else this.#carry(link, flight, { delayMs, lateMs: isLate ? lateMs : null });
    if (isDoubled && link.cuts === 0) this.#carry(link, flight, { delayMs, lateMs });
  }

  cut(ways: readonly Way[]): void {
    for (const way of ways) this.#link(way).cuts++;
    this.#broken += ways.length;
  }

  mend(ways: readonly Way[]): void {
    for (const way of ways) this.#link(way).cuts--;
    this.#broken -= ways.length;
  }

  clog(ways: readonly Way[]): void {
    for (const way of ways) this.#link(way).clogs++;
    this.#broken += ways.length;
  }

  /** Releases what was held, in order. */
  release(ways: readonly Way[]): void {
    for (const way of ways) {
      const link = this.#link(way);
      link.clogs--;
      if (link.clogs > 0) continue;
      for (const flight of link.held.splice(0)) this.#arriveAt(link, this.#options.loop.time, flight);
    }
    this.#broken -= ways.length;
  }

  /** Adds to the travel time; a negative number takes it back. */
  slow(ways: readonly Way[], byMs: number): void {
    for (const way of ways) this.#link(way).extraMs += byMs;
  }

  /** Drops what a dead station had not sent yet. */
  forget(station: number): void {
    for (let to = 0; to < STATIONS_MAX; to++) {
      const link = this.#links[station * STATIONS_MAX + to];
      for (const flight of link?.held.splice(0) ?? []) this.#options.lose(flight, "nobody there");
    }
  }

  #carry(
    link: Link,
    flight: MessageFlight,
    { delayMs, lateMs }: { delayMs: number; lateMs: number | null },
  ): void {
    const arrivesAt = this.#options.loop.time + delayMs;
    if (lateMs !== null) return this.#arriveAt(link, arrivesAt + lateMs, flight);
    link.lastAt = Math.max(link.lastAt, arrivesAt);
    this.#arriveAt(link, link.lastAt, flight);
  }

  #arriveAt(link: Link, time: number, flight: MessageFlight): void {
    this.#options.loop.at(time, () => this.#arrive(link, flight));
  }

  #arrive(link: Link, flight: MessageFlight): void {
    if (link.cuts > 0) return this.#options.lose(flight, "cut");
    if (link.clogs === 0) return this.#options.deliver(flight);
    link.held.push(flight);
    if (link.held.length > HELD_MAX) this.#options.lose(link.held.shift()!, "held too long");
  }

  #link(way: Way): Link {
    const index = way.from * STATIONS_MAX + way.to;
    const known = this.#links[index];
    if (known) return known;
    const dice = this.#options.diceFor(way);
    const link: Link = { dice, cuts: 0, clogs: 0, extraMs: 0, held: [], lastAt: 0 };
    this.#links[index] = link;
    return link;
  }
}
