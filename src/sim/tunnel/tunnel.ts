/**
 * The wind tunnel: a whole cluster on one thread, driven by one seed. It holds the event loop, the network, the stations with
 * their nodes, the visitors, and the checks that look on from outside. It does nothing by itself: its caller adds nodes and
 * visitors, starts faults, and lets time pass.
 *
 * Every event goes into the log, whose hash is the same for the same seed on any machine. The first complaint of a check ends the
 * run.
 */
import type { RoomRules } from "../../core/rules.ts";
import { SimCrowd } from "./crowd.ts";
import { type Dice, diceOf, oneOf, type Range } from "./dice.ts";
import { EventLog } from "./event-log.ts";
import { EventLoop } from "./event-loop.ts";
import { MessageCount } from "./figures.ts";
import { SimGateway } from "./gateway.ts";
import { copyOfMessage } from "./message-copy.ts";
import {
  type MessageFate,
  type MessageFlight,
  Network,
  STATIONS_MAX,
  type Way,
  type Weather,
} from "./network.ts";
import type { Check, Notice } from "./notice.ts";
import {
  type MakeNode,
  NODE_SETTINGS,
  type SimNodeEvent,
  type SimNodeStatus,
  type SimOutgoing,
} from "./sim-node.ts";
import { Station, type StationEars } from "./station.ts";
import type { VisitorWorld } from "./visitor.ts";
import { VisitorLink } from "./visitor-link.ts";

export const TUNNEL_ROOM = "main";
const LOOK_EVERY_MS = 500;
const EVENTS_MAX = 50_000_000;

export interface TunnelOptions {
  readonly seed: number;
  readonly makeNode: MakeNode;
  readonly rules: RoomRules;
  readonly node?: Partial<typeof NODE_SETTINGS>;
  readonly weather: Weather;
  /** The time between a visitor and a gateway, in each direction. */
  readonly visitorDelayMs: Range;
  readonly checks?: readonly Check[];
  /** Messages are passed on as they are, or copied as by a wire. */
  readonly messages?: "shared" | "copied";
  readonly print?: ((line: string) => void) | null;
  /** A run in which more happens goes round in circles. */
  readonly eventsMax?: number;
}

export interface Failure {
  readonly check: string;
  readonly at: number;
  readonly text: string;
}

export class Tunnel {
  readonly loop = new EventLoop();
  readonly stations: Station[] = [];
  readonly messages = new MessageCount();
  readonly network: Network;
  readonly crowd: SimCrowd;
  readonly gateway: SimGateway;
  readonly link: VisitorLink;
  /** The first complaint, or null. */
  failure: Failure | null = null;
  readonly #options: TunnelOptions;
  readonly #log: EventLog;
  readonly #checks: readonly Check[];
  readonly #byAddress = new Map<string, number>();
  #rules: RoomRules;
  #isSplit = false;

  constructor(options: TunnelOptions) {
    const { seed, weather, rules, visitorDelayMs: delayMs } = options;
    const { loop } = this;
    this.#options = options;
    this.#rules = rules;
    this.#checks = options.checks ?? [];
    this.#log = new EventLog(options.print ?? null);
    const notice = (seen: Notice) => this.notice(seen);
    this.network = new Network({
      loop,
      weather,
      diceFor: ({ from, to }) => diceOf(seed, "link", from, to),
      deliver: (flight) => this.#deliver(flight),
      lose: (flight, fate) => this.#lose(flight, fate),
    });
    this.gateway = new SimGateway({ loop, room: TUNNEL_ROOM, sessionMs: rules.sessionDurationMs, notice });
    this.link = new VisitorLink({
      loop,
      gateway: this.gateway,
      delayMs,
      station: (index) => this.stations[index]!,
    });
    this.crowd = new SimCrowd({ seed, loop, delayMs, world: this.#visitorWorld() });
    loop.after(LOOK_EVERY_MS, () => this.#lookAgain());
  }

  get time(): number {
    return this.loop.time;
  }

  get hash(): string {
    return this.#log.hash;
  }

  get rules(): RoomRules {
    return this.#rules;
  }

  /** Lets time pass up to an instant, or until a check complains. */
  runUntil(time: number, isOver: () => boolean = () => false): void {
    if (this.failure) return;
    this.loop.runUntil(time, () => this.failure !== null || isOver());
    const { eventsMax = EVENTS_MAX } = this.#options;
    if (this.loop.done > eventsMax) this.fail("end", `more than ${eventsMax} things happened`);
  }

  /** Adds a node at a new address: the first creates a cluster, the others ask to join. */
  addNode({ skewMs = 0, driftPpm = 0 }: { skewMs?: number; driftPpm?: number } = {}): Station {
    const { seed, makeNode, node } = this.#options;
    const index = this.stations.length;
    if (index >= STATIONS_MAX) throw new RangeError(`a tunnel has ${STATIONS_MAX} stations`);
    const station = new Station({
      index,
      name: `node-${index}`,
      address: `10.0.0.${index}:7100`,
      skewMs,
      driftPpm,
      loop: this.loop,
      makeNode,
      settings: { ...NODE_SETTINGS, ...node },
      diceFor: (life) => diceOf(seed, "node", index, life),
      ears: this.#ears,
    });
    this.stations.push(station);
    this.#byAddress.set(station.address, index);
    this.start(station);
    return station;
  }

  /** Starts a process at a station without one. */
  start(station: Station): void {
    // The very first creates a cluster at once. After that all have the same list, as operators write it.
    const list = this.stations.filter(({ isRetired }) => !isRetired).map(({ address }) => address);
    const join = list.length === 1 && station.life === 0 ? [] : list;
    station.start(join, { name: TUNNEL_ROOM, rules: this.#rules });
    const { index, life } = station;
    this.note("start", index, life);
    this.notice({ kind: "started", at: this.time, station: index, life });
  }

  /** Ends the process at a station, without a word. */
  crash(station: Station): void {
    if (!station.isUp) return;
    const { index, life } = station;
    const isLast = this.stations.every(
      (other) => other === station || other.memberSince === Number.POSITIVE_INFINITY,
    );
    station.stop();
    this.network.forget(index);
    this.note("stop", index, life);
    this.notice({ kind: "stopped", at: this.time, station: index, life, isLast });
  }

  /** Makes a node leave its cluster; when that is done its process ends for good. */
  leave(station: Station): void {
    station.isLeaving = true;
    station.isRetired = true;
    station.call((node, now) => node.leaveCluster(now));
  }

  /** A process does nothing for that long, and then everything at once. */
  stall(station: Station, forMs: number): void {
    station.stalledUntil = Math.max(station.stalledUntil, this.time + forMs);
  }

  jump(station: Station, byMs: number): void {
    station.clock.jump(byMs);
    station.call(() => {});
  }

  /** Cuts links; `parts` if that cuts the cluster into parts. */
  cut(ways: readonly Way[], parts: readonly (readonly number[])[] | null = null): void {
    this.notice({ kind: "parted", at: this.time, parts });
    this.network.cut(ways);
    this.#noticeSplit();
  }

  mend(ways: readonly Way[]): void {
    this.notice({ kind: "parted", at: this.time, parts: null });
    this.network.mend(ways);
    this.#noticeSplit();
  }

  clog(ways: readonly Way[]): void {
    this.notice({ kind: "parted", at: this.time, parts: null });
    this.network.clog(ways);
    this.#noticeSplit();
  }

  release(ways: readonly Way[]): void {
    this.network.release(ways);
    this.#noticeSplit();
  }

  configure(rules: RoomRules): void {
    this.#rules = rules;
    for (const station of this.stations) station.call((node, now) => node.configure(TUNNEL_ROOM, rules, now));
  }

  /** What every node that is up says of itself. */
  statuses(): SimNodeStatus[] {
    return this.stations.map((station) => station.status()).filter((status) => status !== undefined);
  }

  /** Notes a failure. Only the first counts. */
  fail(check: string, text: string): void {
    this.failure ??= { check, at: this.time, text };
  }

  /** Shows a notice to the checks. */
  notice(notice: Notice): void {
    if (notice.kind === "answered") this.note("reply", notice.visitor, notice.station, notice.answer);
    for (const check of this.#checks) {
      const complaint = check.see(notice);
      if (complaint !== null) this.fail(check.name, complaint);
    }
  }

  note(what: Parameters<EventLog["add"]>[0], a: number, b: number, detail?: unknown): void {
    this.#log.add(what, this.loop.time, { a, b }, detail);
  }

  readonly #ears: StationEars = {
    onOutbox: (station, messages) => this.#send(station, messages),
    onEvents: (station, events) => this.#hear(station, events),
    onGone: (station) => this.crash(station),
    onThrow: (station, error) => this.fail("no exception", `${station.name} threw ${wordsOf(error)}`),
  };

  #send(station: Station, messages: readonly SimOutgoing[]): void {
    const isCopied = this.#options.messages === "copied";
    for (const { to, message } of messages) {
      this.messages.send(message);
      const target = this.#byAddress.get(to) ?? STATIONS_MAX;
      const flight = {
        from: station.index,
        to: target,
        message: isCopied ? copyOfMessage(message) : message,
      };
      if (target === station.index) this.fail("no exception", `${station.name} wrote a message to itself`);
      else if (target === STATIONS_MAX) this.#lose(flight, "nobody there");
      else this.network.send(flight);
    }
  }

  #hear(station: Station, events: readonly SimNodeEvent[]): void {
    for (const event of events) {
      if (event.kind === "revoked") this.gateway.end(station, event.id);
      if (event.kind !== "turns") continue;
      const { sequences } = event;
      for (const sequence of sequences) this.note("turn", station.index, sequence);
      this.notice({ kind: "turns", at: this.time, station: station.index, sequences });
      this.crowd.hearTurns(station.index, sequences);
    }
  }

  #deliver(flight: MessageFlight): void {
    const station = this.stations[flight.to]!;
    if (!station.isUp) {
      const { address } = station;
      this.stations[flight.from]!.call((node, now) => node.refused?.(address, now));
      return this.#lose(flight, "nobody there");
    }
    station.whenAwake(() => {
      this.note("message", flight.from, flight.to, flight.message);
      this.messages.arrive();
      const { address } = this.stations[flight.from]!;
      station.call((node, now) => node.receive(address, flight.message, now));
    });
  }

  #lose(flight: MessageFlight, fate: MessageFate): void {
    this.note("lost message", flight.from, flight.to, fate);
    this.messages.lose(fate);
  }

  #noticeSplit(): void {
    const { isSplit } = this.network;
    if (isSplit === this.#isSplit) return;
    this.#isSplit = isSplit;
    this.notice({ kind: "split", at: this.time, isSplit });
  }

  #lookAgain(): void {
    this.notice({ kind: "look", at: this.time, nodes: this.statuses() });
    for (const station of this.stations) void station.memberSince;
    this.loop.after(LOOK_EVERY_MS, () => this.#lookAgain());
  }

  #anyStation(dice: Dice, but: number | null): number {
    const throwOf = dice();
    const open = this.stations.filter(({ isOpen }) => isOpen);
    const others = open.filter(({ index }) => index !== but);
    const choice = others.length > 0 ? others : open.length > 0 ? open : this.stations;
    return oneOf(() => throwOf, choice).index;
  }

  #visitorWorld(): VisitorWorld {
    const { loop } = this;
    const { sessionDurationMs: sessionMs, lapseAfterMs } = this.#rules;
    return {
      get time() {
        return loop.time;
      },
      sessionMs,
      lapseAfterMs,
      after: (delayMs, work) => loop.after(delayMs, work),
      ask: (question) => {
        this.note("ask", question.visitor, question.station, question.request.kind);
        this.link.ask(question);
      },
      anyStation: (dice, but) => this.#anyStation(dice, but),
      notice: (notice) => this.notice(notice),
      waitsAt: (guest, sequence) => this.crowd.waitsAt(guest, sequence),
    };
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
