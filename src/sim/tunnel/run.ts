/**
 * One run of a plan, in phases:
 *
 *   forming ─▶ trouble ─▶ mending ─▶ rest ─▶ going on ─▶ end
 *
 * In *trouble* visitors arrive and faults happen; what must always hold is checked all the time. Then every fault is mended, and
 * the cluster must agree on one view. At *rest*, with the room paused and visitors held back, its tree, counts and slots must be
 * right. *Going on*, everyone who wants in must be admitted, with only a bounded time without progress. In the *end* it must be
 * right at rest once more, and the order is judged.
 */
import { Ahead } from "./checks/ahead.ts";
import { Capacity } from "./checks/capacity.ts";
import { Forgery } from "./checks/forgery.ts";
import { LineBook } from "./checks/line-book.ts";
import { Once } from "./checks/once.ts";
import { OneRoot } from "./checks/one-root.ts";
import { Order } from "./checks/order.ts";
import { OwnPart } from "./checks/own-part.ts";
import { PlaceKept } from "./checks/place-kept.ts";
import { type Complaint, type NodeLook, quietComplaint } from "./checks/quiet.ts";
import { Rate } from "./checks/rate.ts";
import { between, diceOf } from "./dice.ts";
import { FAULT_KINDS } from "./fault-kinds.ts";
import { Faults } from "./faults.ts";
import { type Figures, runFigures } from "./figures.ts";
import { incidentsOf } from "./incidents.ts";
import type { Weather } from "./network.ts";
import type { Plan } from "./plan.ts";
import type { MakeNode } from "./sim-node.ts";
import { kindOf, traitsOf } from "./traits.ts";
import { type Failure, TUNNEL_ROOM, Tunnel } from "./tunnel.ts";

/** Before anyone arrives. */
export const FORM_MS = 3_000;
const START_EVERY_MS = 20;
const POLL_MS = 250;
/** A lost member is noticed, and all agree on it, within this time. */
const MEND_MAX_MS = 60_000;
/** Visits that end at rest take a moment to become known; after a session nobody is on the site any more. */
const REST_MAX_MS = 20_000;
/** If nobody was admitted for longer than all deadlines plus this, nobody will be. */
const PROGRESS_SLACK_MS = 60_000;
const RUN_MAX_MS = 4 * 3_600_000;

export interface RunOptions {
  readonly makeNode: MakeNode;
  readonly messages?: "shared" | "copied";
  readonly print?: ((line: string) => void) | null;
  /** The nodes know of each other without messages, as stand-ins do: the check of separate parts is left out. */
  readonly isTelepathic?: boolean;
}

export interface Result {
  /** null: every check passed. */
  readonly failure: Failure | null;
  readonly figures: Figures;
  /** Of all events, in order. */
  readonly hash: string;
}

export function runPlan(plan: Plan, options: RunOptions): Result {
  return new Run(plan, options).result();
}

class Run {
  readonly #plan: Plan;
  readonly #tunnel: Tunnel;
  readonly #faults: Faults;
  readonly #capacity: Capacity;
  readonly #order: Order;
  readonly #line: LineBook;
  readonly #ahead: Ahead;

  constructor(plan: Plan, { makeNode, messages = "shared", print = null, isTelepathic = false }: RunOptions) {
    const { seed, rules } = plan;
    const { totalActiveUsers, sessionDurationMs: sessionMs, lapseAfterMs } = rules;
    this.#plan = plan;
    this.#capacity = new Capacity({ totalActiveUsers, sessionMs, isOverlapStated: plan.kind === "hasty" });
    this.#order = new Order(plan.order);
    this.#line = new LineBook({ lapseAfterMs });
    this.#ahead = new Ahead({ lapseAfterMs });
    this.#tunnel = new Tunnel({
      seed,
      makeNode,
      rules,
      node: { reclaimAfterMs: plan.reclaimAfterMs },
      weather: weatherOf(plan),
      visitorDelayMs: plan.visitorDelayMs,
      checks: [
        this.#capacity,
        this.#order,
        this.#line,
        this.#ahead,
        new Once(),
        new PlaceKept(),
        new OneRoot(),
        new Forgery(),
        // If an unreachable node counts as dead, each part is the whole cluster, with the whole rate.
        ...(plan.kind === "hasty" ? [] : [new Rate(rules)]),
        ...(isTelepathic || plan.kind === "hasty" ? [] : [new OwnPart()]),
      ],
      messages,
      print,
    });
    this.#faults = new Faults(this.#tunnel, { seed, clockOf: (index) => clockOf(plan, index) });
  }

  result(): Result {
    this.#form();
    this.#trouble();
    this.#mend();
    this.#rest();
    this.#goOn();
    this.#rest();
    this.#end();
    const figures = runFigures(this.#tunnel, { capacity: this.#capacity, order: this.#order });
    return { failure: this.#tunnel.failure, figures, hash: this.#tunnel.hash };
  }

  #form(): void {
    const { loop } = this.#tunnel;
    for (let i = 0; i < this.#plan.nodes; i++)
      loop.at(i * START_EVERY_MS, () => this.#tunnel.addNode(clockOf(this.#plan, i)));
    this.#tunnel.runUntil(FORM_MS);
  }

  #trouble(): void {
    const { loop, link } = this.#tunnel;
    const { spanMs, faults } = this.#plan;
    this.#phase(1);
    if (isFaultless(this.#plan)) this.#ahead.begin(this.#tunnel.time);
    link.loss = faults.visitorLoss?.share ?? 0;
    for (let i = 0; i < this.#plan.visitors; i++) this.#invite(i);
    for (const incident of incidentsOf(this.#plan))
      loop.at(FORM_MS + incident.at, () => this.#faults.begin(incident));
    this.#tunnel.runUntil(FORM_MS + spanMs);
  }

  #invite(number: number): void {
    const { seed, crowd, habits, spanMs, isRush } = this.#plan;
    const dice = diceOf(seed, "coming", number);
    const share = dice();
    const kind = kindOf(dice, crowd);
    const at = FORM_MS + (isRush ? share * share : share) * spanMs;
    this.#tunnel.crowd.expect(traitsOf(kind, dice, habits), at);
  }

  #mend(): void {
    const tunnel = this.#tunnel;
    this.#phase(2);
    this.#faults.heal();
    tunnel.network.weather = { ...weatherOf(this.#plan), loss: 0, duplication: 0, reorder: 0 };
    tunnel.link.loss = 0;
    for (const station of tunnel.stations) if (!station.isUp && !station.isRetired) tunnel.start(station);
    this.#awaitQuiet(MEND_MAX_MS, ({ check }) => check === "one view");
  }

  #rest(): void {
    const tunnel = this.#tunnel;
    const { rules } = tunnel;
    this.#phase(3);
    tunnel.link.hold();
    tunnel.configure({ ...rules, paused: true });
    this.#awaitQuiet(REST_MAX_MS, () => true);
    tunnel.configure(rules);
    tunnel.link.release();
  }

  #goOn(): void {
    const tunnel = this.#tunnel;
    const { claimWindowMs, sessionDurationMs, lapseAfterMs } = this.#plan.rules;
    const waitMax = claimWindowMs + sessionDurationMs + lapseAfterMs + (this.#plan.reclaimAfterMs ?? 0);
    this.#phase(4);
    if (!isFaultless(this.#plan)) this.#ahead.begin(tunnel.time);
    let wanting = tunnel.crowd.wanting;
    let progressAt = tunnel.time;
    while (wanting > 0 && !tunnel.failure) {
      tunnel.runUntil(tunnel.time + POLL_MS);
      const left = tunnel.crowd.wanting;
      if (left < wanting) progressAt = tunnel.time;
      wanting = left;
      const isStuck = tunnel.time - progressAt > waitMax + PROGRESS_SLACK_MS || tunnel.time > RUN_MAX_MS;
      if (isStuck) tunnel.fail("everyone in", this.#stuckWords(wanting, tunnel.time - progressAt));
    }
  }

  #stuckWords(wanting: number, forMs: number): string {
    const phases = Map.groupBy(
      this.#tunnel.crowd.all.filter((guest) => guest.isWanting),
      ({ phase }) => phase,
    );
    const words = [...phases].map(([phase, guests]) => `${guests.length} ${phase}`).join(", ");
    return `${wanting} patient visitors are not let in (${words}), and nobody was for ${Math.round(forMs / 1_000)} s`;
  }

  #end(): void {
    const tunnel = this.#tunnel;
    if (!tunnel.failure) tunnel.notice({ kind: "ended", at: tunnel.time });
  }

  /** Lets time pass until the cluster is right at rest; a complaint that lasts too long is a failure. */
  #awaitQuiet(withinMs: number, isMeant: (complaint: Complaint) => boolean): void {
    const tunnel = this.#tunnel;
    const until = tunnel.time + withinMs;
    for (;;) {
      tunnel.runUntil(tunnel.time + POLL_MS);
      const complaint = this.#complaint();
      if (tunnel.failure || complaint === null || !isMeant(complaint)) return;
      if (tunnel.time >= until) return tunnel.fail(complaint.check, complaint.text);
    }
  }

  #complaint(): Complaint | null {
    const { time } = this.#tunnel;
    // If an unreachable node counts as dead, both parts may have filled the site.
    const totalActiveUsers = this.#plan.rules.totalActiveUsers * (this.#plan.kind === "hasty" ? 2 : 1);
    const waiting = this.#line.waiting(time);
    const onSite = this.#line.onSite(time);
    return quietComplaint(this.#looks(), { room: TUNNEL_ROOM, totalActiveUsers, waiting, onSite });
  }

  #looks(): NodeLook[] {
    return this.#tunnel.stations.flatMap((station) => {
      const status = station.status();
      const counted = station.call((node, now) => node.counts(TUNNEL_ROOM, now));
      return status && counted ? [{ ...status, counted }] : [];
    });
  }

  #phase(number: number): void {
    this.#tunnel.note("phase", number, this.#tunnel.crowd.all.length);
  }
}

/** Clocks that differ a little are no fault. */
function isFaultless({ faults }: Plan): boolean {
  return FAULT_KINDS.every((kind) => kind === "skew" || faults[kind] === null);
}

function weatherOf({ delayMs, faults }: Plan): Weather {
  return {
    delayMs,
    loss: faults.loss?.share ?? 0,
    duplication: faults.duplication?.share ?? 0,
    reorder: faults.reorder?.share ?? 0,
    reorderUpToMs: faults.reorder?.sizeMs ?? 0,
  };
}

/** A node's clock: no two differ by more than the skew. */
function clockOf({ seed, faults: { skew } }: Plan, index: number): { skewMs: number; driftPpm: number } {
  const dice = diceOf(seed, "clock", index);
  const skewMs = Math.round(between(dice, { from: -0.5, to: 0.5 }) * (skew?.sizeMs ?? 0));
  const driftPpm = between(dice, { from: -100, to: 100 });
  return skew === null ? { skewMs: 0, driftPpm: 0 } : { skewMs, driftPpm };
}
