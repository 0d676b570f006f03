/**
 * Starts and ends faults in a tunnel. Every incident ends by itself; `heal` ends all of them at once.
 *
 * To be fair to the cluster, a process dies only while at least half of all others have been members for a while, and for good
 * only while more than half have. So what the cluster knows never dies with one node, except in `restartAll`.
 */

import { SPREAD_MS } from "./checks/disturbances.ts";
import { between, type Dice, diceOf, oneOf } from "./dice.ts";
import type { Incident } from "./incidents.ts";
import { STATIONS_MAX, type Way } from "./network.ts";
import type { Station } from "./station.ts";
import type { Tunnel } from "./tunnel.ts";

/** A slow process runs this long between two stalls. */
const AWAKE_MS = 15;

type Undo = () => void;

export class Faults {
  readonly #tunnel: Tunnel;
  readonly #seed: number;
  readonly #under = new Map<string, Undo>();
  readonly #clockOf: (index: number) => { skewMs: number; driftPpm: number };

  constructor(
    tunnel: Tunnel,
    options: { seed: number; clockOf: (index: number) => { skewMs: number; driftPpm: number } },
  ) {
    this.#tunnel = tunnel;
    this.#seed = options.seed;
    this.#clockOf = options.clockOf;
  }

  /** Starts an incident. */
  begin(incident: Incident): void {
    const dice = diceOf(this.#seed, "whom", incident.kind, incident.number);
    const undo = this.#apply(incident, dice);
    this.#tunnel.note("fault", incident.number, undo === null ? 0 : 1, incident.name);
    if (undo === null) return;
    this.#under.set(incident.name, undo);
    this.#tunnel.loop.after(incident.forMs, () => this.#end(incident.name));
  }

  /** Ends all incidents. */
  heal(): void {
    for (const name of [...this.#under.keys()]) this.#end(name);
  }

  #end(name: string): void {
    const undo = this.#under.get(name);
    if (!undo) return;
    this.#under.delete(name);
    this.#tunnel.note("end of fault", 0, 0, name);
    undo();
  }

  #apply(incident: Incident, dice: Dice): Undo | null {
    switch (incident.kind) {
      case "partition":
        return this.#partition(dice);
      case "oneWay":
        return this.#oneWay(dice);
      case "clog":
        return this.#clog(dice);
      case "spike":
        return this.#spike(dice, incident.sizeMs);
      case "slow":
        return this.#slow(dice, incident.sizeMs);
      case "jump":
        return this.#jump(dice, incident.sizeMs);
      case "crash":
        return this.#crash(dice);
      case "crashForGood":
        return this.#crashForGood(dice);
      case "restartAll":
        return this.#restartAll();
      case "add":
        return this.#add();
      case "leave":
        return this.#leave(dice);
    }
  }

  #partition(dice: Dice): Undo | null {
    const all = this.#places();
    if (all.length < 2) return null;
    const share = between(dice, { from: 0.2, to: 0.8 });
    const one = all.filter(() => dice() < share);
    const other = all.filter((index) => !one.includes(index));
    // If all fell on one side, the first of them is alone.
    if (one.length === 0) one.push(other.shift()!);
    else if (other.length === 0) other.push(one.shift()!);
    const ways = one.flatMap((a) => other.flatMap((b) => bothWays(a, b)));
    this.#tunnel.cut(ways, [one, other]);
    return () => this.#tunnel.mend(ways);
  }

  #oneWay(dice: Dice): Undo | null {
    const ways = this.#someWays(dice);
    if (ways.length === 0) return null;
    this.#tunnel.cut(ways);
    return () => this.#tunnel.mend(ways);
  }

  #clog(dice: Dice): Undo | null {
    const ways = this.#someWays(dice);
    if (ways.length === 0) return null;
    this.#tunnel.clog(ways);
    return () => this.#tunnel.release(ways);
  }

  #spike(dice: Dice, sizeMs: number): Undo | null {
    const isEverywhere = dice() < 0.3;
    const all = this.#places();
    const ways = isEverywhere
      ? all.flatMap((from) => all.filter((to) => to !== from).map((to) => ({ from, to })))
      : this.#someWays(dice);
    if (ways.length === 0) return null;
    this.#tunnel.network.slow(ways, sizeMs);
    return () => this.#tunnel.network.slow(ways, -sizeMs);
  }

  #slow(dice: Dice, sizeMs: number): Undo | null {
    const station = this.#anyUp(dice);
    if (!station) return null;
    let isOver = false;
    const stall = () => {
      if (isOver) return;
      const forMs = between(dice, { from: 0.2, to: 1 }) * sizeMs;
      this.#tunnel.stall(station, forMs);
      this.#tunnel.loop.after(forMs + AWAKE_MS, stall);
    };
    stall();
    return () => {
      isOver = true;
    };
  }

  #jump(dice: Dice, sizeMs: number): Undo | null {
    const station = this.#anyUp(dice);
    if (!station) return null;
    const byMs = Math.round(dice() < 0.5 ? sizeMs : -sizeMs);
    this.#tunnel.jump(station, byMs);
    return () => this.#tunnel.jump(station, -byMs);
  }

  #crash(dice: Dice): Undo | null {
    const station = this.#anyUp(dice);
    if (!station || !this.#mayDie(station, 0.5)) return null;
    this.#tunnel.crash(station);
    return () => {
      if (!station.isUp && !station.isRetired) this.#tunnel.start(station);
    };
  }

  #crashForGood(dice: Dice): Undo | null {
    const station = this.#anyUp(dice);
    if (!station || !this.#mayDie(station, 0.51)) return null;
    station.isRetired = true;
    this.#tunnel.crash(station);
    return () => {};
  }

  #restartAll(): Undo {
    const up = this.#tunnel.stations.filter(({ isUp, isRetired }) => isUp && !isRetired);
    for (const station of this.#tunnel.stations) this.#tunnel.crash(station);
    return () => {
      for (const station of up) if (!station.isUp) this.#tunnel.start(station);
    };
  }

  #add(): Undo | null {
    if (this.#tunnel.stations.length >= STATIONS_MAX) return null;
    this.#tunnel.addNode(this.#clockOf(this.#tunnel.stations.length));
    return () => {};
  }

  #leave(dice: Dice): Undo | null {
    const station = this.#anyUp(dice);
    if (!station || !this.#mayDie(station, 0.51)) return null;
    this.#tunnel.leave(station);
    return () => {};
  }

  /** True when enough others have been members for long enough to know what this one knows. */
  #mayDie(station: Station, share: number): boolean {
    const all = this.#tunnel.stations.filter(({ isRetired }) => !isRetired);
    const knowing = all.filter(
      (other) => other !== station && !other.isLeaving && this.#tunnel.time - other.memberSince >= SPREAD_MS,
    );
    return knowing.length > 0 && knowing.length >= share * all.length;
  }

  #anyUp(dice: Dice): Station | null {
    const throwOf = dice();
    const up = this.#tunnel.stations.filter(({ isUp, isLeaving }) => isUp && !isLeaving);
    return up.length === 0 ? null : oneOf(() => throwOf, up);
  }

  #places(): number[] {
    return this.#tunnel.stations.filter(({ isRetired }) => !isRetired).map(({ index }) => index);
  }

  /** One link in one direction, or all from one station, or all to it. */
  #someWays(dice: Dice): Way[] {
    const all = this.#places();
    const [shape, ...throws] = [dice(), dice(), dice()];
    if (all.length < 2) return [];
    const one = all[Math.floor(throws[0]! * all.length)]!;
    const others = all.filter((index) => index !== one);
    const other = others[Math.floor(throws[1]! * others.length)]!;
    if (shape < 0.4) return [{ from: one, to: other }];
    return others.map((index) => (shape < 0.7 ? { from: one, to: index } : { from: index, to: one }));
  }
}

function bothWays(a: number, b: number): Way[] {
  return [
    { from: a, to: b },
    { from: b, to: a },
  ];
}
