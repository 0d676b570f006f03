/**
 * SWIM failure detection (Das, Gupta, Motivala 2002): which peers are alive, at one probe a period.
 *
 * Every period one peer is pinged. Without an ack in time it is pinged again, and a few others are asked to ping it (`pingReq`);
 * the ack then comes back through them. A peer from which nothing at all was heard by the end of the period is suspect, and dead
 * if that is not refuted in time. Koopmans 2024 (section 4.6) has only the ping, and takes a peer without an ack for dead. We
 * keep what it left out: a lost message or a cut path must not cost a member.
 *
 * Beyond SWIM: a suspect is probed again every period, directly and through another; peers that send to it tell it of the
 * suspicion; and any word from it clears the suspicion here, while others need its refutation or a word of their own.
 *
 * Bound: with n peers watched, one that falls silent is dead here within 2n periods (the longest until it is probed) plus
 * `suspicionMs`, which is suspicionPeriods × max(1, log2(n + 1) / 2) periods: news takes longer among many. This assumes that
 * `tick` comes when `nextAt` says. After a delay of more than a period no peer is blamed for it: the probe starts again and
 * suspicions are prolonged.
 *
 * Invariant: a peer is dead here only after it was suspect, here or at the peer that said so, for `suspicionMs` without a break.
 */
import { ProbeRound } from "./probe-round.ts";
import { INCARNATION_MAX, isSwimBody, type SwimBody, type SwimNews, type SwimState } from "./swim-body.ts";
import { Gossip } from "./swim-gossip.ts";
import { SwimPeer } from "./swim-peer.ts";
import { Relays } from "./swim-relays.ts";

export type { SwimBody, SwimNews, SwimState } from "./swim-body.ts";

/** How often news is told, times log2 of the members. */
const TOLD_FACTOR = 3;
const SUSPECTS_ASKED_MAX = 8;
/** The most unsent messages; further ones are lost, as on any network. */
const OUTBOX_MAX = 4_096;

export interface SwimSettings {
  /** One peer is probed in each period. */
  readonly periodMs: number;
  /** After this, others are asked to ping a peer that has not answered. Shorter than the period. */
  readonly ackTimeoutMs: number;
  readonly indirectProbes: number;
  /** How many periods a suspect has to refute it, in a small cluster. */
  readonly suspicionPeriods: number;
}

interface Probe {
  readonly peer: SwimPeer;
  /** When others are asked. */
  readonly askAt: number;
  endsAt: number;
  hasAsked: boolean;
  /** The probe was answered, by the peer itself or through another. */
  isAcked: boolean;
  /** Something else was heard from the peer. */
  isHeard: boolean;
}

type Unsent<Body> = Body extends SwimBody ? Omit<Body, "news"> : never;

export class Swim {
  readonly #self: string;
  readonly #settings: SwimSettings;
  readonly #dice: () => number;
  readonly #round: ProbeRound;
  readonly #peers = new Map<string, SwimPeer>();
  readonly #gossip = new Gossip();
  readonly #relays = new Relays();
  #outbox: { to: string; body: SwimBody }[] = [];
  #probe: Probe | null = null;
  /** Without a probe: when the next one begins. */
  #startAt = Number.POSITIVE_INFINITY;
  #incarnation = 0;
  #seq = 0;

  constructor(self: string, settings: SwimSettings, dice: () => number) {
    const { ackTimeoutMs, periodMs } = settings;
    if (!(ackTimeoutMs > 0 && ackTimeoutMs < periodMs))
      throw new RangeError(
        `ackTimeoutMs is ${ackTimeoutMs}, and should be between 0 and periodMs, ${periodMs}`,
      );
    this.#self = self;
    this.#settings = settings;
    this.#dice = dice;
    this.#round = new ProbeRound(dice);
  }

  /** Watches exactly these, besides oneself. New peers, and those that were dead, start alive. */
  watch(peers: readonly string[], now: number): void {
    const wanted = new Set(peers);
    wanted.delete(this.#self);
    for (const peer of this.#peers.values()) if (!wanted.has(peer.id) || peer.is === "dead") this.#drop(peer);
    for (const id of wanted) if (!this.#peers.has(id)) this.#add(id);
    if (this.#peers.size === 0) this.#startAt = Number.POSITIVE_INFINITY;
    // At a random time in the period, so that peers that start together do not probe together.
    else if (!this.#probe && this.#startAt === Number.POSITIVE_INFINITY)
      this.#startAt = now + this.#dice() * this.#settings.periodMs;
  }

  /** Takes in a message from `from`. Ignores what is no SWIM message, and a stranger's news. */
  receive(from: string, body: SwimBody, now: number): void {
    if (from === this.#self || !isSwimBody(body)) return;
    const peer = this.#living(from);
    if (peer) for (const news of body.news) this.#learn(news, now);
    if (body.kind === "ping") this.#send(from, { kind: "ack", seq: body.seq, of: this.#self });
    if (!peer) return;
    if (body.kind === "ack" && body.of === from) return this.#takeAck(peer, body.seq, now);
    this.#hear(peer);
    if (body.kind === "pingReq") this.#pingFor(from, body, now);
    if (body.kind === "ack") this.#takeAckThrough(from, body);
  }

  /** Any other message came from that peer: it lives. */
  heard(peer: string): void {
    const known = this.#living(peer);
    if (known) this.#hear(known);
  }

  tick(now: number): void {
    const lateMs = now - this.nextAt();
    if (!(lateMs >= 0)) return;
    if (lateMs > this.#settings.periodMs) this.#forgive(lateMs, now);
    for (const peer of this.#peers.values()) if (peer.deadAt <= now) this.#bury(peer);
    const probe = this.#probe;
    if (probe && needsOthers(probe) && now >= probe.askAt) this.#askOthers(probe, now);
    if (now < (probe?.endsAt ?? this.#startAt)) return;
    if (probe) this.#judge(probe, now);
    this.#startPeriod(now);
  }

  /** When `tick` has something to do next; Infinity while no peer is watched. */
  nextAt(): number {
    const probe = this.#probe;
    let at = probe && needsOthers(probe) ? probe.askAt : (probe?.endsAt ?? this.#startAt);
    for (const { deadAt } of this.#peers.values()) at = Math.min(at, deadAt);
    return at;
  }

  /** Takes the messages to send. */
  takeOutbox(): { to: string; body: SwimBody }[] {
    const outbox = this.#outbox;
    this.#outbox = [];
    return outbox;
  }

  /** Takes the peers whose state has changed. New peers are alive without a verdict. */
  takeVerdicts(): { peer: string; is: SwimState }[] {
    const verdicts: { peer: string; is: SwimState }[] = [];
    for (const peer of this.#peers.values()) {
      if (peer.is === peer.verdict) continue;
      peer.verdict = peer.is;
      verdicts.push({ peer: peer.id, is: peer.is });
    }
    return verdicts;
  }

  /** A peer's state; null when it is not watched. */
  state(peer: string): SwimState | null {
    return this.#peers.get(peer)?.is ?? null;
  }

  /**
   * False from when a probe was answered only through another until one is answered directly. Other words of the peer do not
   * count: on a path cut in one direction they arrive while ours do not.
   */
  isDirect(peer: string): boolean {
    return this.#peers.get(peer)?.isDirect ?? false;
  }

  /** A living peer through which the last answer came; null when the peer answered directly. */
  wayTo(peer: string): string | null {
    const ways = this.#living(peer)?.ways ?? [];
    return ways.find((way) => this.state(way) === "alive") ?? null;
  }

  /** How long a suspect has, with as many peers as are watched. */
  get suspicionMs(): number {
    const { suspicionPeriods, periodMs } = this.#settings;
    return suspicionPeriods * periodMs * Math.max(1, Math.log2(this.#peers.size + 1) / 2);
  }

  #add(id: string): void {
    this.#peers.set(id, new SwimPeer(id));
    this.#round.add(id);
  }

  #drop({ id }: SwimPeer): void {
    this.#peers.delete(id);
    this.#round.remove(id);
    this.#gossip.forget(id);
    if (this.#probe?.peer.id !== id) return;
    this.#startAt = this.#probe.endsAt;
    this.#probe = null;
  }

  #living(id: string): SwimPeer | null {
    const peer = this.#peers.get(id);
    return peer && peer.is !== "dead" ? peer : null;
  }

  #startPeriod(now: number): void {
    const id = this.#round.next();
    this.#probe = null;
    this.#startAt = Number.POSITIVE_INFINITY;
    if (id !== null) this.#begin(this.#peers.get(id)!, now);
  }

  #begin(peer: SwimPeer, now: number): void {
    const { ackTimeoutMs, periodMs } = this.#settings;
    const [askAt, endsAt] = [now + ackTimeoutMs, now + periodMs];
    this.#probe = { peer, askAt, endsAt, hasAsked: false, isAcked: false, isHeard: false };
    this.#ping(peer);
    this.#askSuspects();
  }

  /** A suspect should not depend on news alone to be cleared in time. */
  #askSuspects(): void {
    const suspects = [...this.#peers.values()].filter(
      (peer) => peer.is === "suspect" && !this.#isProbed(peer),
    );
    for (const peer of this.#round.pick(suspects, SUSPECTS_ASKED_MAX)) {
      this.#ping(peer);
      this.#pingThrough(peer, 1);
    }
  }

  /** The indirect probe. It gets its full time, even when we are late with it. */
  #askOthers(probe: Probe, now: number): void {
    const { ackTimeoutMs, periodMs, indirectProbes } = this.#settings;
    const { peer } = probe;
    probe.hasAsked = true;
    if (peer.is === "dead") return;
    probe.endsAt = Math.max(probe.endsAt, now + periodMs - ackTimeoutMs);
    this.#send(peer.id, { kind: "ping", seq: peer.asked });
    this.#pingThrough(peer, indirectProbes);
  }

  #ping(peer: SwimPeer): void {
    peer.ask(this.#seq++);
    this.#send(peer.id, { kind: "ping", seq: peer.asked });
  }

  #pingThrough(peer: SwimPeer, count: number): void {
    const others = [...this.#peers.values()].filter((other) => other !== peer && other.is === "alive");
    for (const { id } of this.#round.pick(others, count))
      this.#send(id, { kind: "pingReq", seq: peer.asked, target: peer.id });
  }

  #judge({ peer, isAcked, isHeard }: Probe, now: number): void {
    if (peer.is !== "alive" || isAcked || isHeard) return;
    peer.suspect(now + this.suspicionMs);
    this.#gossip.tell(peer.news);
  }

  #bury(peer: SwimPeer): void {
    peer.bury();
    this.#round.remove(peer.id);
    this.#gossip.tell(peer.news);
  }

  /** This node slept: peers are not to blame for what was due meanwhile. */
  #forgive(lateMs: number, now: number): void {
    const leastAt = now + this.#settings.periodMs;
    for (const peer of this.#peers.values()) peer.spare({ moreMs: lateMs, leastAt });
    if (!this.#probe) return;
    if (this.#probe.isAcked || this.#probe.peer.is === "dead") this.#probe.endsAt = now;
    else this.#begin(this.#probe.peer, now);
  }

  #isProbed(peer: SwimPeer): boolean {
    return this.#probe?.peer === peer;
  }

  #hear(peer: SwimPeer): void {
    peer.clear();
    if (this.#isProbed(peer)) this.#probe!.isHeard = true;
  }

  #takeAck(peer: SwimPeer, seq: number, now: number): void {
    const relay = this.#relays.take(seq, peer.id, now);
    if (relay) this.#send(relay.to, { kind: "ack", seq: relay.seq, of: peer.id });
    // A late ack clears a suspicion, but does not answer a later probe.
    if (!relay && seq !== peer.asked) return peer.clear();
    peer.answer();
    if (this.#isProbed(peer)) this.#probe!.isAcked = true;
  }

  #takeAckThrough(way: string, { seq, of }: { seq: number; of: string }): void {
    const peer = this.#living(of);
    if (peer?.asked !== seq) return;
    peer.answerThrough(way);
    if (this.#isProbed(peer)) this.#probe!.isAcked = true;
  }

  #pingFor(from: string, { seq, target }: { seq: number; target: string }, now: number): void {
    if (!this.#living(target)) return;
    const ownSeq = this.#seq++;
    const endsAt = now + this.#settings.periodMs;
    this.#relays.add(ownSeq, { to: from, seq, target, endsAt }, now);
    this.#send(target, { kind: "ping", seq: ownSeq });
  }

  #learn(news: SwimNews, now: number): void {
    if (news.peer === this.#self) return this.#answerFor(news);
    const peer = this.#living(news.peer);
    if (!peer) return;
    if (news.is === "dead") return this.#bury(peer);
    const isNew =
      news.is === "alive"
        ? peer.learnAlive(news.incarnation)
        : peer.learnSuspect(news.incarnation, now + this.suspicionMs);
    if (isNew) this.#gossip.tell(news);
  }

  /** News of oneself: a suspicion is refuted by a higher incarnation (SWIM, section 4.2). */
  #answerFor({ incarnation, is }: SwimNews): void {
    if (is !== "suspect") return;
    this.#incarnation = Math.min(Math.max(this.#incarnation, incarnation + 1), INCARNATION_MAX);
    this.#gossip.tell({ peer: this.#self, incarnation: this.#incarnation, is: "alive" });
  }

  /** Strangers and dead peers get no news, except that they are held for dead. */
  #send(to: string, body: Unsent<SwimBody>): void {
    if (this.#outbox.length >= OUTBOX_MAX) return;
    const first = this.#peers.get(to)?.ownNews ?? null;
    const timesMax = this.#living(to) ? Math.ceil(TOLD_FACTOR * Math.log2(this.#peers.size + 2)) : 0;
    this.#outbox.push({ to, body: { ...body, news: this.#gossip.take({ first, timesMax }) } });
  }
}

function needsOthers(probe: Probe): boolean {
  return !probe.isAcked && !probe.hasAsked;
}
