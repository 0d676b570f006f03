/**
 * One node's part in counting rounds: it passes the count on, adds up the reports, and splits an announcement between itself and
 * the subtrees behind it. The root does the same, with no parent.
 */
import {
  type AnnounceBody,
  type Asks,
  addReports,
  type CountBody,
  type Cut,
  type LaneReport,
  type ReportBody,
  type RoomReport,
  type RoomReports,
  type RoomShare,
  splitByLot,
  splitByWeight,
} from "./counting.ts";

const RESEND_MS = 150;

export type CountingBody = CountBody | ReportBody | AnnounceBody;

/** What a counter asks of its node. */
export interface CountedNode {
  /** What the node has: everything (pass 0), or only how many wait up to the given pivots. */
  report(body: CountBody): Pick<ReportBody, "rooms" | "heads" | "memo" | "dropped">;
  /** Carries out the node's part of an announcement; `counts` are its own up to each pivot, by pass. */
  apply(body: AnnounceBody, counts: OwnCounts): void;
  readonly dice: () => number;
}

/** How many wait at this node up to the pivots of each pass, and the pivots. */
export class OwnCounts {
  readonly #passes: { asks: Asks; rooms: RoomReports }[] = [];

  add(pass: number, asks: Asks, rooms: RoomReports): void {
    this.#passes[pass] = { asks, rooms };
  }

  get first(): RoomReports {
    return this.#passes[0]?.rooms ?? [];
  }

  /** A pivot's key, and how many wait here up to it. */
  upTo(
    room: string,
    [lane, pass, pivot]: Extract<Cut, readonly [number, number, number]>,
  ): { key: number; count: number } {
    const asked = this.#passes[pass];
    const pivots = asked?.asks.find(([name]) => name === room)?.[1].find(([of]) => of === lane);
    return { key: pivots?.[pivot + 1] ?? 0, count: countUpTo(asked?.rooms ?? [], room, lane, pivot) };
  }
}

interface Part {
  readonly seq: number;
  /** Towards the root; null at the root. */
  readonly parent: number | null;
  readonly children: readonly number[];
  readonly counts: OwnCounts;
  pass: number;
  count: CountBody;
  own: ReportBody;
  /** Reports of the current pass, by child. */
  reports: Map<number, ReportBody>;
  /** Reports of the first pass: announcements are split by them. */
  first: ReadonlyMap<number, ReportBody>;
  sum: ReportBody | null;
  sentAt: number;
}

export class Counter {
  readonly #node: CountedNode;
  #neighbours: readonly number[] = [];
  #part: Part | null = null;
  #announcedSeq = -1;
  /** The last announcement to each neighbour, which may have missed it. */
  readonly #told = new Map<number, AnnounceBody>();
  #outbox: { to: number; body: CountingBody }[] = [];

  constructor(node: CountedNode) {
    this.#node = node;
  }

  /** A new tree: rounds under way are void. */
  start(neighbours: readonly number[]): void {
    this.#neighbours = neighbours;
    this.#part = null;
    this.#announcedSeq = -1;
    this.#told.clear();
    this.#outbox = [];
  }

  /** At the root: begins a round, or another pass of it. */
  ask(body: Omit<CountBody, "kind" | "last">, now: number): void {
    this.#count({ kind: "count", ...body, last: null }, null, now);
  }

  /** At the root: the sum of this pass, once it is complete. */
  takeSum(): ReportBody | null {
    const part = this.#part;
    if (!part || part.parent !== null || !part.sum) return null;
    const { sum } = part;
    part.sum = null;
    return sum;
  }

  /** At the root: announces what the round decided. */
  announce(body: Omit<AnnounceBody, "kind">): void {
    this.#announce({ kind: "announce", ...body });
  }

  /** The node number of the last one to count in this tree. */
  get root(): number | null {
    return this.#part?.count.root ?? null;
  }

  /** The last round that this node reported to. */
  get round(): number {
    return this.#part?.seq ?? 0;
  }

  /** True between the report and the announcement of a round. */
  get isOpen(): boolean {
    return this.#part !== null && this.#part.seq > this.#announcedSeq;
  }

  receive(from: number, body: CountingBody, now: number): void {
    if (body.kind === "count") this.#hearCount(from, body, now);
    else if (body.kind === "report") this.#hearReport(from, body);
    else if (from === this.#part?.parent) this.#announce(body);
  }

  tick(now: number): void {
    const part = this.#part;
    if (!part || now - part.sentAt < RESEND_MS || part.reports.size === part.children.length) return;
    this.#sendCount(part, now);
  }

  nextAt(): number {
    const part = this.#part;
    const isWaiting = part !== null && part.reports.size < part.children.length;
    return isWaiting ? part.sentAt + RESEND_MS : Number.POSITIVE_INFINITY;
  }

  takeOutbox(): { to: number; body: CountingBody }[] {
    const outbox = this.#outbox;
    this.#outbox = [];
    return outbox;
  }

  #hearCount(from: number, body: CountBody, now: number): void {
    const part = this.#part;
    if (body.last && part?.parent === from) this.#announce(body.last);
    const isOld = part && (body.seq < part.seq || (body.seq === part.seq && body.pass < part.pass));
    if (isOld || body.seq <= this.#announcedSeq) return;
    if (part?.seq === body.seq && part.pass === body.pass) {
      if (part.parent === from && part.reports.size === part.children.length) this.#reportUp(part);
      return;
    }
    this.#count(body, from, now);
  }

  #count(body: CountBody, parent: number | null, now: number): void {
    const known = this.#part?.seq === body.seq && this.#part.parent === parent ? this.#part : null;
    if (!known && body.pass > 0) return;
    const own: ReportBody = {
      kind: "report",
      ...{ seq: body.seq, pass: body.pass },
      ...this.#node.report(body),
    };
    const children = this.#neighbours.filter((neighbour) => neighbour !== parent);
    const reports = new Map<number, ReportBody>();
    const part: Part = known ?? {
      ...{ seq: body.seq, parent, children, counts: new OwnCounts(), pass: 0, count: body, own },
      ...{ reports, first: reports, sum: null, sentAt: now },
    };
    part.pass = body.pass;
    part.count = body;
    part.own = own;
    part.reports = reports;
    part.counts.add(body.pass, body.asks, own.rooms);
    this.#part = part;
    this.#sendCount(part, now);
    if (children.length === 0) this.#complete(part);
  }

  #sendCount(part: Part, now: number): void {
    part.sentAt = now;
    for (const child of part.children) {
      if (part.reports.has(child)) continue;
      const last = part.pass === 0 ? (this.#told.get(child) ?? null) : null;
      this.#outbox.push({ to: child, body: { ...part.count, last } });
    }
  }

  #hearReport(from: number, body: ReportBody): void {
    const part = this.#part;
    if (!part || body.seq !== part.seq || body.pass !== part.pass || !part.children.includes(from)) return;
    if (part.reports.has(from)) return;
    part.reports.set(from, body);
    if (part.reports.size === part.children.length) this.#complete(part);
  }

  #complete(part: Part): void {
    if (part.parent !== null) return this.#reportUp(part);
    part.sum = this.#sumOf(part);
  }

  #reportUp(part: Part): void {
    this.#outbox.push({ to: part.parent!, body: this.#sumOf(part) });
  }

  #sumOf({ own, reports }: Part): ReportBody {
    let { rooms, heads, memo, dropped } = own;
    for (const report of reports.values()) {
      rooms = addReports(rooms, report.rooms);
      heads = [...heads, ...report.heads];
      dropped = [...dropped, ...report.dropped];
      if (report.memo && (!memo || isLater(report.memo, memo))) memo = report.memo;
    }
    return { ...own, rooms, heads, memo, dropped };
  }

  #announce(body: AnnounceBody): void {
    const part = this.#part;
    if (!part || body.seq !== part.seq || body.seq <= this.#announcedSeq) return;
    this.#announcedSeq = body.seq;
    const behind = part.children.map((child) => part.first.get(child)?.rooms ?? []);
    const reports = [part.counts.first, ...behind];
    const shares = splitShares(body, reports, this.#node.dice);
    for (const [index, child] of part.children.entries()) {
      const told = { ...body, shares: shares[index + 1]! };
      this.#told.set(child, told);
      this.#outbox.push({ to: child, body: told });
    }
    this.#node.apply({ ...body, shares: shares[0]! }, part.counts);
  }
}

function splitShares(
  { shares }: AnnounceBody,
  groups: readonly RoomReports[],
  dice: () => number,
): AnnounceBody["shares"][] {
  const parts: [string, RoomShare][][] = groups.map(() => []);
  for (const [room, share] of shares) {
    const reports = groups.map((group) => group.find(([name]) => name === room)?.[1]);
    const split = (total: number, by: "arrivals" | "owed" | "turns") =>
      splitByWeight(
        total,
        reports.map((report) => report?.[by] ?? 0),
      );
    const [slots, leave] = [split(share.slots, "arrivals"), split(share.leave, "arrivals")];
    const [paid, entries] = [split(share.paid, "owed"), split(share.entries ?? 0, "turns")];
    const cuts = splitCuts(share.cuts, reports, dice);
    for (const [index, part] of parts.entries()) {
      const own = { cuts: cuts[index]!, slots: slots[index]!, leave: leave[index]!, paid: paid[index]! };
      part.push([room, { ...share, ...own, entries: share.entries === null ? null : entries[index]! }]);
    }
  }
  return parts;
}

function splitCuts(
  cuts: readonly Cut[],
  reports: readonly (RoomReport | undefined)[],
  dice: () => number,
): Cut[][] {
  const parts: Cut[][] = reports.map(() => []);
  for (const cut of cuts) {
    if (cut.length === 3) for (const part of parts) part.push(cut);
    else {
      const sizes = reports.map((report) => waitingIn(report?.lanes ?? [], cut[0]));
      const counts = splitByLot(cut[1], sizes, dice);
      for (const [index, part] of parts.entries()) part.push([cut[0], counts[index]!]);
    }
  }
  return parts;
}

export function waitingIn(lanes: readonly LaneReport[], lane: number): number {
  return lanes.find(([of]) => of === lane)?.[1] ?? 0;
}

function countUpTo(rooms: RoomReports, room: string, lane: number, pivot: number): number {
  const lanes = rooms.find(([name]) => name === room)?.[1].lanes;
  return lanes?.find(([of]) => of === lane)?.[pivot + 2] ?? 0;
}

export function isLater(a: { view: number; seq: number }, b: { view: number; seq: number }): boolean {
  return a.view > b.view || (a.view === b.view && a.seq > b.seq);
}
