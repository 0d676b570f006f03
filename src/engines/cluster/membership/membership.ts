/**
 * Membership of one node: joining through any node, leaving, losing members and merging with them again.
 *
 * Views are made by the coordinator, the member with the lowest node number among those not known to be dead; all others take the
 * latest view that includes them. When two nodes make views at once (a cut, or a coordinator that was only thought dead), the
 * higher version wins, then the higher maker; nodes left out come back as separated parts do.
 *
 *   new node ──join me──▶ any member ──▶ coordinator ──view──▶ all members
 *   part ──knock──▶ other part ──met (with the knock's number)──▶ the leading part makes one view of both
 *
 * Parts merge only after a knock was answered, so that a cut in one direction does not make views that half of the members never
 * hear of. Pure: told the time, with an outbox.
 */
import { Founding } from "./founding.ts";
import {
  foundingView,
  idOf,
  isView,
  leads,
  type Member,
  merged,
  type View,
  viewNumber,
  withMember,
  withoutDead,
  withoutLost,
} from "./view.ts";

const JOIN_PERIOD_MS = 500;
/** A node that has not answered for this long is reported as silent. */
const SILENT_MS = 3_000;
const KNOCK_PERIOD_MS = 1_000;
/** An answer to an older knock proves nothing. */
const KNOCK_GOOD_MS = 3_000;
const VIEW_AGAIN_MS = 100;
const GOODBYE_PERIOD_MS = 200;
/** A leaving node without peers says goodbye to lost members for this long. */
const GOODBYE_ALONE_MS = 1_000;
/** After refusing connections for this long, with no longer pause than the next constant, the node at an address is dead. */
const REFUSED_FOR_MS = 3_000;
const REFUSED_PAUSE_MS = 2_500;

export type MembershipBody =
  | { readonly kind: "joinMe"; readonly member: Omit<Member, "number"> }
  | { readonly kind: "notYet"; readonly why: string }
  | { readonly kind: "view"; readonly view: View }
  | { readonly kind: "hello" }
  | { readonly kind: "knock"; readonly number: number; readonly view: View }
  | { readonly kind: "met"; readonly number: number; readonly view: View }
  | { readonly kind: "bye"; readonly id: string };

export interface MembershipSettings {
  readonly name: string;
  readonly life: number;
  readonly address: string;
  /** Addresses of the nodes to join; empty: create a cluster at once. */
  readonly join: readonly string[];
  /** After this long the slots of a lost member are given out again. null: never. */
  readonly reclaimAfterMs: number | null;
}

export class Membership {
  readonly #settings: MembershipSettings;
  readonly #self: Omit<Member, "number">;
  readonly #startedAt: number;
  #join: readonly string[];
  #view: View | null = null;
  #isNewView = false;
  readonly #dead = new Set<string>();
  /** How long each lost member has been missing, by ticks of this node. */
  readonly #lostFor = new Map<string, number>();
  /** When a message last came from the address of a member or a lost one. */
  readonly #heardAt = new Map<string, number>();
  readonly #refusals = new Map<string, { readonly since: number; lastAt: number }>();
  readonly #founding: Founding;
  readonly #knocks = new Map<number, number>();
  readonly #toldAt = new Map<string, { number: number; at: number }>();
  #knockNumber = 0;
  #nextAt: number;
  #tickedAt: number;
  #heardAnybodyAt = Number.NEGATIVE_INFINITY;
  #leavingSince: number | null = null;
  #isGone = false;
  #problem: string | null = null;
  #outbox: { to: string; body: MembershipBody }[] = [];

  constructor(settings: MembershipSettings, now: number) {
    const { name, life, address } = settings;
    this.#settings = settings;
    this.#self = { name, life, address };
    this.#join = settings.join;
    this.#founding = new Founding(address);
    this.#startedAt = now;
    this.#tickedAt = now;
    this.#nextAt = now;
    if (settings.join.length === 0) this.#install(foundingView(this.#self));
  }

  get view(): View | null {
    return this.#view;
  }

  /** The view, if it changed since the last call. */
  takeView(): View | null {
    if (!this.#isNewView) return null;
    this.#isNewView = false;
    return this.#view;
  }

  get selfId(): string {
    return idOf(this.#self);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Why this node is not, or no longer, part of a cluster. */
  get problem(): string | null {
    return this.#problem;
  }

  get nodeNumber(): number | null {
    const id = this.selfId;
    return this.#view?.members.find((member) => idOf(member) === id)?.number ?? null;
  }

  get isLeaving(): boolean {
    return this.#leavingSince !== null;
  }

  /** Sets the addresses to join, when a name resolves to other ones now. */
  setJoin(addresses: readonly string[]): void {
    this.#join = addresses;
  }

  commit(view: View): void {
    if (this.#view && viewNumber(this.#view) === viewNumber(view)) this.#view = view;
  }

  died(id: string, now: number): void {
    if (!this.#view?.members.some((member) => idOf(member) === id)) return;
    this.#dead.add(id);
    this.#removeDead(now);
  }

  lives(id: string): void {
    this.#dead.delete(id);
  }

  /** The machine at that address refused a connection: nothing listens there. */
  refused(address: string, now: number): void {
    const known = this.#refusals.get(address);
    if (!known || now - known.lastAt > REFUSED_PAUSE_MS)
      this.#refusals.set(address, { since: now, lastAt: now });
    else known.lastAt = now;
    this.#founding.refused(address, now);
    const view = this.#view;
    if (!view || view.lost.length === 0 || this.#coordinator(view) !== this.nodeNumber) return;
    const since = this.#refusals.get(address)!.since;
    const dead = view.lost.filter((member) => member.address === address && now - since >= REFUSED_FOR_MS);
    if (dead.length > 0) this.#make(withoutDead(view, dead.map(idOf), this.nodeNumber!), now);
  }

  heard(address: string, now: number): void {
    this.#refusals.delete(address);
    this.#heardAt.set(address, now);
  }

  /** Takes an operator's word that a lost member is dead. False when no lost member has that name. */
  forget(name: string, now: number): boolean {
    const gone = this.#view?.lost.filter((member) => member.name === name) ?? [];
    if (gone.length === 0) return false;
    this.#make(withoutDead(this.#view!, gone.map(idOf), this.nodeNumber!), now);
    return true;
  }

  /** Says goodbye; `isGone` once the others have a view without this node. */
  leave(now: number): void {
    this.#leavingSince ??= now;
    this.#nextAt = now;
    if (!this.#view || (this.#view.members.length === 1 && this.#view.lost.length === 0)) this.#isGone = true;
  }

  receive(from: string, body: MembershipBody, now: number): void {
    // Nodes that only want to join are no reason not to create a cluster.
    if (body.kind !== "joinMe") {
      this.#heardAnybodyAt = now;
      this.#founding.answered(from);
    } else if (body.member.address === from) this.#founding.looked(from, now);
    switch (body.kind) {
      case "joinMe":
        return this.#takeIn(from, body.member, now);
      case "view":
        return isView(body.view) ? this.#hearView(from, body.view, now) : undefined;
      case "knock":
        return isView(body.view) ? this.#hearKnock(from, body.number, body.view, now) : undefined;
      case "met":
        return isView(body.view) ? this.#meet(from, body.number, body.view, now) : undefined;
      case "bye":
        return this.#hearGoodbye(from, body.id, now);
      case "notYet":
        this.#problem = body.why;
        return;
      case "hello":
    }
  }

  /** A message came from a node with that view: one of the two may be behind. */
  compare(from: { address: string }, theirs: number, now: number): void {
    const view = this.#view;
    if (!view || theirs === viewNumber(view)) return;
    // A node that was removed without hearing of it gets the view too.
    if (theirs < viewNumber(view)) this.#tellView(from.address, now);
    else if (theirs > viewNumber(view)) this.#send(from.address, { kind: "hello" });
  }

  tick(now: number): void {
    const steppedMs = Math.min(now - this.#tickedAt, KNOCK_PERIOD_MS * 2);
    this.#tickedAt = now;
    this.#reclaim(steppedMs, now);
    if (now < this.#nextAt) return;
    if (this.isLeaving) this.#sayGoodbye(now);
    else if (this.#view) this.#knock(now);
    else this.#askToJoin(now);
  }

  nextAt(): number {
    return this.#nextAt;
  }

  takeOutbox(): { to: string; body: MembershipBody }[] {
    const outbox = this.#outbox;
    this.#outbox = [];
    return outbox;
  }

  #askToJoin(now: number): void {
    this.#nextAt = now + JOIN_PERIOD_MS;
    const aloneMs = now - Math.max(this.#startedAt, this.#heardAnybodyAt);
    if (this.#founding.isDue(this.#join, aloneMs, now)) return this.#install(foundingView(this.#self));
    const silent = this.#founding.silent(this.#join, now);
    if (aloneMs >= SILENT_MS && silent.length > 0) this.#problem = waitsFor(silent);
    for (const to of this.#join)
      if (to !== this.#self.address) this.#send(to, { kind: "joinMe", member: this.#self });
  }

  /** A node wants to join. Any member may be asked; the coordinator decides. */
  #takeIn(from: string, member: Omit<Member, "number">, now: number): void {
    const view = this.#view;
    if (!view || this.isLeaving || member.name === this.#self.name) return;
    const known = view.members.find(({ name }) => name === member.name);
    if (known?.life === member.life) return this.#tellView(member.address, now);
    if (known && known.life > member.life) return;
    const coordinator = this.#coordinator(view);
    if (coordinator !== this.nodeNumber) {
      const to = view.members.find(({ number }) => number === coordinator)!.address;
      if (to !== from) this.#send(to, { kind: "joinMe", member });
      return;
    }
    const isKnown = known !== undefined || view.lost.some(({ name }) => name === member.name);
    const next = view.isMajority || isKnown ? withMember(view, member, coordinator) : null;
    if (next) this.#make(next, now);
    else this.#send(member.address, { kind: "notYet", why: whyNot(view) });
  }

  #hearView(from: string, theirs: View, now: number): void {
    const view = this.#view;
    const id = this.selfId;
    const hasMe = theirs.members.some((member) => idOf(member) === id);
    const isReplaced = theirs.members.some(
      ({ name, life }) => name === this.#self.name && life > this.#self.life,
    );
    if (isReplaced) {
      this.#problem = `another node called "${this.#self.name}" has joined in place of this one`;
      this.#isGone = true;
      return;
    }
    if (hasMe && (!view || viewNumber(theirs) > viewNumber(view))) return this.#install(theirs);
    if (!view) return;
    if (!hasMe) {
      if (this.isLeaving) this.#isGone = true;
      else this.#forward(theirs, now);
    } else if (theirs.members.some(({ address }) => address === from)) this.#tellView(from, now);
  }

  /** A view without this node: the coordinator of this part finds out whether the two can merge. */
  #forward(theirs: View, now: number): void {
    const view = this.#view!;
    const number = this.#coordinator(view, theirs);
    if (number === this.nodeNumber) {
      if (number !== this.#coordinator(view) || !leads(view, theirs))
        this.#knockAt(theirs.members[0]!.address, now);
      return;
    }
    const coordinator = view.members.find((member) => member.number === number)!;
    this.#send(coordinator.address, { kind: "view", view: theirs });
  }

  #hearKnock(from: string, number: number, theirs: View, now: number): void {
    const view = this.#view;
    if (!view || this.isLeaving || viewNumber(view) === viewNumber(theirs)) return;
    this.#send(from, { kind: "met", number, view });
    const isMember = view.members.some(({ address }) => address === from);
    const hasMe = theirs.members.some((member) => idOf(member) === this.selfId);
    if (hasMe && (isMember || viewNumber(theirs) > viewNumber(view)))
      return this.#hearView(from, theirs, now);
    // Both must hear each other before one of them makes one view of the two.
    const isCoordinator = this.#coordinator(view, theirs) === this.nodeNumber;
    if (isCoordinator && (hasMe || leads(view, theirs))) this.#knockAt(from, now);
  }

  #meet(from: string, number: number, theirs: View, now: number): void {
    const view = this.#view;
    const knockedAt = this.#knocks.get(number);
    if (!view || knockedAt === undefined || now - knockedAt > KNOCK_GOOD_MS || this.isLeaving) return;
    if (this.#coordinator(view, theirs) !== this.nodeNumber) return;
    if (viewNumber(theirs) === viewNumber(view)) return;
    const isBehind = viewNumber(theirs) < viewNumber(view);
    // A part that has not heard of the latest view yet needs no other.
    if (isBehind && theirs.members.every((member) => view.members.some((own) => idOf(own) === idOf(member))))
      return this.#tellView(from, now);
    const hasMe = theirs.members.some((member) => idOf(member) === this.selfId);
    if (hasMe || leads(view, theirs)) this.#make(merged(view, theirs, this.nodeNumber!), now);
  }

  #hearGoodbye(from: string, id: string, now: number): void {
    const view = this.#view;
    if (!view || id === this.selfId) return;
    if (view.members.some((member) => idOf(member) === id)) {
      this.#dead.add(id);
      const isCoordinator = this.#coordinator(view) === this.nodeNumber;
      this.#dead.delete(id);
      if (!isCoordinator) return;
      this.#make(withoutDead(view, [id], this.nodeNumber!), now);
    }
    // A leaving node may stop once it sees a view without itself.
    this.#tellView(from, now);
  }

  #sayGoodbye(now: number): void {
    this.#nextAt = now + GOODBYE_PERIOD_MS;
    const peers = this.#peers();
    for (const { address } of [...peers, ...(this.#view?.lost ?? [])])
      this.#send(address, { kind: "bye", id: this.selfId });
    if (peers.length === 0 && now - this.#leavingSince! >= GOODBYE_ALONE_MS) this.#isGone = true;
  }

  #knock(now: number): void {
    this.#nextAt = now + KNOCK_PERIOD_MS;
    const view = this.#view!;
    for (const [number, at] of this.#knocks) if (now - at > KNOCK_GOOD_MS) this.#knocks.delete(number);
    if (this.#coordinator(view) !== this.nodeNumber) return;
    const members = new Set(view.members.map(({ address }) => address));
    const others = new Set([...view.lost.map(({ address }) => address), ...this.#join]);
    for (const to of others) if (!members.has(to)) this.#knockAt(to, now);
  }

  #knockAt(to: string, now: number): void {
    const number = ++this.#knockNumber;
    this.#knocks.set(number, now);
    this.#send(to, { kind: "knock", number, view: this.#view! });
  }

  #removeDead(now: number): void {
    const view = this.#view!;
    const dead = new Set(view.members.map(idOf).filter((id) => this.#dead.has(id)));
    if (dead.size === 0 || this.#coordinator(view) !== this.nodeNumber) return;
    const next = withoutLost(view, dead, this.nodeNumber!);
    const isTrusted = this.#settings.reclaimAfterMs === 0;
    this.#make(isTrusted ? withoutDead(next, [...dead], this.nodeNumber!) : next, now);
  }

  /** Declares members dead that were lost for long enough, if this part may do so. */
  #reclaim(steppedMs: number, now: number): void {
    const view = this.#view;
    const { reclaimAfterMs } = this.#settings;
    if (!view || view.lost.length === 0) return this.#lostFor.clear();
    const over: string[] = [];
    for (const id of view.lost.map(idOf)) {
      const forMs = (this.#lostFor.get(id) ?? 0) + steppedMs;
      this.#lostFor.set(id, forMs);
      if (reclaimAfterMs !== null && forMs >= reclaimAfterMs) over.push(id);
    }
    const isAgreed = view.isMajority && view.bases.length === 1;
    if (over.length > 0 && isAgreed && this.#coordinator(view) === this.nodeNumber)
      this.#make(withoutDead(view, over, this.nodeNumber!), now);
  }

  /**
   * How long this part may have been without the members it lost, at the most: by its ticks and by the last message from them, so
   * that it is never less than their time without this part.
   */
  lostForMs(now: number): number {
    const silent = this.#view!.lost.map(({ address }) => now - (this.#heardAt.get(address) ?? now));
    return Math.max(0, ...this.#lostFor.values(), ...silent);
  }

  #make(view: View, now: number): void {
    this.#install(view);
    for (const { address } of this.#peers()) this.#tellView(address, now);
  }

  #install(view: View): void {
    this.#view = view;
    this.#isNewView = true;
    this.#problem = null;
    const lost = new Set(view.lost.map(idOf));
    const known = new Set([...view.members, ...view.lost].map(({ address }) => address));
    for (const kept of [this.#heardAt, this.#refusals, this.#toldAt])
      for (const address of kept.keys()) if (!known.has(address)) kept.delete(address);
    for (const id of this.#lostFor.keys()) if (!lost.has(id)) this.#lostFor.delete(id);
    for (const id of this.#dead)
      if (!view.members.some((member) => idOf(member) === id)) this.#dead.delete(id);
  }

  /** The lowest node number among members that are not dead and have not moved on to the later view that was met. */
  #coordinator(view: View, met: View | null = null): number {
    const movedOn = met && viewNumber(met) > viewNumber(view) ? new Set(met.members.map(idOf)) : null;
    const isHere = (id: string) => id === this.selfId || !(this.#dead.has(id) || movedOn?.has(id));
    return view.members.find((member) => isHere(idOf(member)))!.number;
  }

  #peers(): Member[] {
    const id = this.selfId;
    return this.#view?.members.filter((member) => idOf(member) !== id) ?? [];
  }

  #tellView(to: string, now: number): void {
    const number = viewNumber(this.#view!);
    const told = this.#toldAt.get(to);
    if (told?.number === number && now - told.at < VIEW_AGAIN_MS) return;
    this.#toldAt.set(to, { number, at: now });
    this.#send(to, { kind: "view", view: this.#view! });
  }

  #send(to: string, body: MembershipBody): void {
    if (to !== this.#self.address) this.#outbox.push({ to, body });
  }
}

function whyNot({ members, lost }: View): string {
  const missing = lost.map(({ name }) => name).join(", ");
  return `${members.length} of ${members.length + lost.length} nodes can be reached, which is too few to take in new ones; missing: ${missing}`;
}

function waitsFor(silent: readonly string[]): string {
  const who = silent.join(" and ");
  return `no answer from ${who}: they may belong to a cluster that cannot be reached. This node goes on once one of them answers; take nodes that are gone for good out of cluster.join`;
}
