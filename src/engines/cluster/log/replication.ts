/**
 * Replicates logs, so that all nodes know the same. Each node writes one log. Logs travel along the tree: in each period a node
 * sends its neighbours the entries it wrote and those it got from the others. So a period takes two messages for each edge, not
 * one for each pair of nodes.
 *
 *        A           what B writes goes to A and to D; A sends it on to C
 *      ↗   ↘
 *     B     C        urgent entries go at once from their writer to its buddies, neighbours first
 *      ↘
 *       D
 *
 * When owners have left or died, the remaining nodes first exchange those owners' logs until all have the same entries (a node is
 * then `settled` in its view). After that takeover.ts gives their places new owners.
 */

import { treeOf } from "../membership/tree.ts";
import { idOf, type View } from "../membership/view.ts";
import type { RoomBooks } from "../visitors/room-books.ts";
import { shape } from "../wire/shapes.ts";
import type { Entry, Written } from "./entries.ts";
import { BLOCK_ENTRIES_MAX, type Block, blockOf, entriesIn } from "./entry-blocks.ts";
import { type EntriesBody, type Head, type HeadsBody, OwnerLog, type ReadBody, Reader } from "./logs.ts";
import { takeOver } from "./takeover.ts";

const { pair, whole } = shape;

const HEADS_AGAIN_MS = 200;
const CONFIRM_MAX_MS = 1_500;
const ORIGINS_MAX = 100_000;
/** Urgent entries go to this many nodes: one acknowledgement is enough, so a slow node delays nobody. */
const BUDDIES = 2;
/** Urgent entries are sent at once, but not more often than this, apart from a few in a row. */
const URGENT_EVERY_MS = 25;
const URGENT_IN_A_ROW = 5;
/** A neighbour that acknowledged nothing for this long may be dead: the nodes beyond it are asked to read from here. */
const STUCK_MS = 600;
/** Without any other message to a peer, an acknowledgement is sent after this long. */
const READ_AFTER_MS = 100;

const NO_ENTRIES = { kind: "entries", blocks: [], isUrgent: true, copy: null } as const;

export type ReplicationBody = EntriesBody | ReadBody | HeadsBody;

interface Confirmation {
  readonly head: number;
  readonly by: number;
  readonly done: () => void;
}

export class Replication {
  readonly #rooms: ReadonlyMap<string, RoomBooks>;
  readonly #own: OwnerLog;
  readonly #logs = new Map<string, OwnerLog>();
  readonly #periodMs: number;
  #view: View | null = null;
  #peers: string[] = [];
  /** For each of them, the neighbour on the way there. */
  #towards: ReadonlyMap<string, string> = new Map();
  #buddies: readonly string[] = [];
  #known: ReadonlySet<string> = new Set();
  /** Logs of owners that are neither members nor lost, until their places are taken over. */
  readonly #departed = new Set<string>();
  readonly #readers = new Map<string, Map<string, Reader>>();
  /** How far each peer said in this view that it has read the logs of gone owners. */
  readonly #heard = new Map<string, ReadonlyMap<string, number>>();
  /** The length of each peer's own log when it first told it in this view. */
  readonly #aims = new Map<string, number>();
  /** While a neighbour is stuck: nodes beyond it that have told how far they are, and when they were asked. */
  readonly #direct = new Set<string>();
  #askedAt = Number.NEGATIVE_INFINITY;
  /** Acknowledgements to be sent: for each peer, which logs, and since when. */
  readonly #unread = new Map<string, { readonly since: number; readonly logs: Set<string> }>();
  #isSettled = false;
  /** A room was opened, and some logs must be read again. */
  #isCopyWanted = false;
  #toldAt = Number.NEGATIVE_INFINITY;
  #nextSendAt = Number.NEGATIVE_INFINITY;
  /** How much of this node's log was sent to all neighbours, and when the next send is due. */
  #sentHead = 0;
  #dueAt = Number.NEGATIVE_INFINITY;
  #confirmations: Confirmation[] = [];
  #urgent = false;
  /** Urgent messages are paid for up to this instant (a leaky bucket). */
  #urgentUntil = Number.NEGATIVE_INFINITY;
  #outbox: { to: string; body: ReplicationBody }[] = [];

  constructor(self: string, rooms: ReadonlyMap<string, RoomBooks>, periodMs: number) {
    this.#rooms = rooms;
    this.#periodMs = periodMs;
    this.#own = this.#logOf(self);
  }

  /** True when this node has every entry of gone owners that any member has. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** True when a place unknown here is unknown to every member, apart from the last moments. */
  get isCaughtUp(): boolean {
    return this.#peers.every((peer) => {
      const [log, aim] = [this.#logs.get(peer), this.#aims.get(peer)];
      return aim !== undefined && (aim === 0 || (log !== undefined && log.copyPart === 0 && log.head >= aim));
    });
  }

  /** How far a log has been read. */
  headOf(id: string): number {
    return this.#logs.get(id)?.head ?? 0;
  }

  /** Writes an entry and returns its index. */
  write(room: string, entry: Entry): number {
    this.#own.add({ room, entry });
    return this.#own.head - 1;
  }

  /** Calls back once a peer has this node's log as it is now, or when there is no peer. */
  whenCopied(done: () => void, now: number): void {
    if (this.#peers.length === 0 || this.#copied() >= this.#own.head) return done();
    this.#urgent = true;
    this.#confirmations.push({ head: this.#own.head, by: now + CONFIRM_MAX_MS, done });
  }

  /** Starts a new view: whatever peers reported in the last one no longer counts. */
  start(view: View, now: number): void {
    const before = this.#view;
    this.#view = view;
    const self = this.#own.id;
    this.#peers = view.members.map(idOf).filter((id) => id !== self);
    this.#towards = waysOf(view, self);
    this.#buddies = buddiesOf(view, self, new Set(this.#towards.values()));
    const known = new Set([...view.members, ...view.lost].map(idOf));
    this.#known = known;
    for (const member of [...(before?.members ?? []), ...(before?.lost ?? [])])
      if (!known.has(idOf(member))) this.#departed.add(idOf(member));
    for (const id of known) this.#departed.delete(id);
    for (const peer of this.#peers) this.#logOf(peer);
    for (const peer of this.#readers.keys()) if (!this.#towards.has(peer)) this.#readers.delete(peer);
    for (const peer of this.#unread.keys()) if (!this.#towards.has(peer)) this.#unread.delete(peer);
    // Routes differ in this view, and heads are told again.
    this.#dropReaders((id) => id !== self);
    this.#heard.clear();
    this.#aims.clear();
    this.#direct.clear();
    this.#dueAt = Number.NEGATIVE_INFINITY;
    this.#isSettled = false;
    this.#toldAt = Number.NEGATIVE_INFINITY;
    this.#confirm(now, this.#peers.length === 0);
    this.#settle(now);
  }

  /**
   * Everyone has settled in this view. Logs of departed owners are dropped once all their places were taken over and that is
   * known here. If the node that took them over dies first, they are taken over again.
   */
  everyoneSettled(): void {
    if (this.#departed.size === 0) return;
    const owners = new Set<number>();
    for (const { places, over } of this.#rooms.values()) {
      for (const { claim } of places.values()) owners.add(claim.origin);
      for (const origin of over.origins()) owners.add(origin);
    }
    for (const id of this.#departed) {
      const log = this.#logs.get(id);
      if (log && owners.has(log.index)) continue;
      log?.drop();
      this.#departed.delete(id);
    }
    this.#dropReaders((id) => this.#isGone(id) && !this.#isKnown(id));
  }

  #dropReaders(isOver: (log: string) => boolean): void {
    for (const readers of this.#readers.values())
      for (const id of readers.keys()) if (isOver(id)) readers.delete(id);
  }

  /** A room was opened here that others may have had for long: everything is asked for again. */
  openRoom(now: number): void {
    for (const log of this.#logs.values()) if (log !== this.#own) log.copyPart = -1;
    this.#isCopyWanted = true;
    this.#toldAt = Number.NEGATIVE_INFINITY;
    this.tick(now);
  }

  receive(from: string, body: ReplicationBody, now: number): void {
    if (body.kind === "entries") this.#hearEntries(from, body, now);
    else if (body.kind === "read") this.#hearRead(from, body, now);
    else this.#hearHeads(from, body, now);
  }

  tick(now: number): void {
    this.#confirm(now, false);
    if (this.#peers.length === 0) return;
    const isAsking = !this.#isSettled || this.#isCopyWanted;
    if (isAsking && now - this.#toldAt >= HEADS_AGAIN_MS) this.#tellHeads(now);
    if (now >= this.#nextSendAt) {
      this.#nextSendAt = now + this.#periodMs;
      this.#sendUrgent(now);
      this.#goAround(now);
      for (const [peer, readers] of this.#readers)
        for (const [id, reader] of readers)
          if (this.#isReadBy(peer, id)) this.#send(peer, this.#logs.get(id)!, reader, now);
      this.#sayRead(now);
      this.#plan();
    }
    this.flush(now);
  }

  nextAt(): number {
    if (this.#peers.length === 0) return Number.POSITIVE_INFINITY;
    const isAsking = !this.#isSettled || this.#isCopyWanted;
    const askAt = isAsking ? this.#toldAt + HEADS_AGAIN_MS : Number.POSITIVE_INFINITY;
    const urgentAt = this.#urgent ? this.#urgentAt() : Number.POSITIVE_INFINITY;
    return Math.min(askAt, urgentAt, Math.max(this.#nextSendAt, this.#newsAt()));
  }

  #newsAt(): number {
    if (this.#own.head > this.#sentHead) return Number.NEGATIVE_INFINITY;
    let at = this.#dueAt;
    for (const { since } of this.#unread.values()) at = Math.min(at, since + READ_AFTER_MS);
    return at;
  }

  flush(now: number): void {
    if (this.#urgent && this.#urgentAt() <= now) this.#sendUrgent(now);
  }

  #urgentAt(): number {
    return this.#urgentUntil - (URGENT_IN_A_ROW - 1) * URGENT_EVERY_MS;
  }

  takeOutbox(): { to: string; body: ReplicationBody }[] {
    const outbox = this.#outbox;
    this.#outbox = [];
    return outbox;
  }

  /** The log that everyone must have read before a draw, with its length. */
  heads(): (readonly [string, number])[] {
    return [[this.#own.id, this.#own.head]];
  }

  /** A log that is itself being copied is sent on only if its owner is gone for good. */
  #send(peer: string, log: OwnerLog, reader: Reader, now: number, isUrgent = false): void {
    if (!reader.isDue(log, now) || (log.copyPart !== 0 && !this.#isGone(log.id))) return;
    const body = reader.take(log, now, () => this.#copyOf(log));
    if (body) this.#outbox.push({ to: peer, body: isUrgent ? { ...body, isUrgent } : body });
  }

  /** Buddies acknowledge at once, also what they were sent before. */
  #sendUrgent(now: number): void {
    if (!this.#urgent || this.#peers.length === 0) return;
    this.#urgent = false;
    this.#urgentUntil = Math.max(this.#urgentUntil, now) + URGENT_EVERY_MS;
    const own = this.#own;
    for (const peer of this.#buddies) {
      const reader = this.#readersOf(peer).get(own.id)!;
      if (reader.isDue(own, now)) this.#send(peer, own, reader, now, true);
      else this.#outbox.push({ to: peer, body: { ...NO_ENTRIES, log: own.id, from: reader.sent } });
    }
  }

  /**
   * While a neighbour may be dead, nodes beyond it read from here, or an entry could stay known to this node and one buddy alone.
   */
  #goAround(now: number): void {
    const own = this.#own.id;
    const isStuck = [...new Set(this.#towards.values())].some((peer) =>
      this.#readers.get(peer)?.get(own)?.isStuck(STUCK_MS, now),
    );
    if (!isStuck) return this.#direct.clear();
    if (now - this.#askedAt < STUCK_MS) return;
    this.#askedAt = now;
    for (const to of this.#peers)
      if (!this.#isReadBy(to, own))
        this.#outbox.push({ to, body: { ...NO_ENTRIES, log: own, from: this.#own.head } });
  }

  /** Whether a peer regularly reads that log from this node. */
  #isReadBy(peer: string, id: string): boolean {
    if (id === this.#own.id)
      return this.#isNeighbour(peer) || this.#buddies.includes(peer) || this.#direct.has(peer);
    return this.#isGone(id) || (this.#isNeighbour(peer) && this.#towards.get(id) !== peer);
  }

  #isNeighbour(peer: string): boolean {
    return this.#towards.get(peer) === peer;
  }

  /** When something must be sent again. Asked after every message, so it is computed once. */
  #plan(): void {
    this.#sentHead = this.#own.head;
    this.#dueAt = Number.POSITIVE_INFINITY;
    for (const [peer, readers] of this.#readers)
      for (const [id, reader] of readers)
        if (this.#isReadBy(peer, id)) this.#dueAt = Math.min(this.#dueAt, reader.nextAt(this.#logs.get(id)!));
  }

  /** Acknowledges to peers that get a message anyway, and to those that waited long enough. */
  #sayRead(now: number): void {
    const addressed = new Set(this.#outbox.map(({ to }) => to));
    for (const [to, { since }] of this.#unread)
      if (now - since >= READ_AFTER_MS || addressed.has(to)) this.#sayReadTo(to);
  }

  #sayReadTo(to: string): void {
    const logs = [...this.#unread.get(to)!.logs].map((id) => headIn(this.#logs.get(id)!));
    this.#outbox.push({ to, body: { kind: "read", logs } });
    this.#unread.delete(to);
  }

  #readersOf(peer: string): Map<string, Reader> {
    let readers = this.#readers.get(peer);
    if (!readers) {
      readers = new Map([[this.#own.id, new Reader()]]);
      this.#readers.set(peer, readers);
    }
    return readers;
  }

  #tellHeads(now: number): void {
    this.#toldAt = now;
    this.#isCopyWanted = [...this.#logs.values()].some(
      ({ id, copyPart }) => copyPart < 0 && this.#isKnown(id),
    );
    for (const to of this.#peers) this.#outbox.push({ to, body: this.#heads(true) });
  }

  #heads(isAsking: boolean): HeadsBody {
    return { kind: "heads", heads: this.#headsNow(), isAsking };
  }

  #headsNow(): HeadsBody["heads"] {
    const heads: Head[] = [];
    for (const log of this.#logs.values()) if (this.#isKnown(log.id)) heads.push(headIn(log));
    return heads;
  }

  /** True for a log of a member, of a lost one, or of one whose places are still to be taken over. */
  #isKnown(id: string): boolean {
    return this.#known.has(id) || this.#departed.has(id);
  }

  #isGone(id: string): boolean {
    return id !== this.#own.id && !this.#towards.has(id);
  }

  #hearHeads(from: string, body: HeadsBody, now: number): void {
    const { heads } = body;
    if (!Array.isArray(heads) || !this.#towards.has(from)) return;
    const gone = new Map<string, number>();
    for (const head of heads) {
      if (!isHead(head)) return;
      const [id, count] = head;
      // Its owner left before this node came, and its places are still to be taken over.
      if (!this.#isKnown(id) && count > 0) this.#departed.add(id);
      if (!this.#isKnown(id)) continue;
      if (this.#isGone(id)) gone.set(id, count);
      if (id === from && !this.#aims.has(from)) this.#aims.set(from, count);
    }
    const told = new Map(heads.map((head) => [head[0], head]));
    // It has nothing of the logs it did not mention.
    for (const id of this.#logs.keys())
      if (this.#isKnown(id)) this.#hearHead(from, told.get(id) ?? [id, 0, 0], now);
    this.#confirm(now, false);
    if (body.isAsking) this.#outbox.push({ to: from, body: this.#heads(false) });
    this.#heard.set(from, gone);
    this.#settle(now);
  }

  #hearRead(from: string, { logs }: ReadBody, now: number): void {
    if (!Array.isArray(logs) || !logs.every(isHead) || !this.#towards.has(from)) return;
    for (const head of logs) this.#hearHead(from, head, now);
    if (now - this.#askedAt < STUCK_MS && logs.some(([id]) => id === this.#own.id)) this.#direct.add(from);
    this.#confirm(now, false);
  }

  #hearHead(peer: string, [id, count, part]: Head, now: number): void {
    const log = this.#logs.get(id);
    if (!log || !(id === this.#own.id || this.#isReadBy(peer, id))) return;
    const readers = this.#readersOf(peer);
    let reader = readers.get(id);
    if (!reader) {
      reader = new Reader(count);
      readers.set(id, reader);
    }
    if (count >= 0) reader.hear(count, part, now);
    else reader.startOver();
    if (reader.head < log.head) this.#dueAt = Math.min(this.#dueAt, reader.nextAt(log));
  }

  /** Settles once all peers have said how far they are with the logs of gone owners, and this node is as far as any of them. */
  #settle(now: number): void {
    if (this.#isSettled || !this.#view || this.#peers.some((peer) => !this.#heard.has(peer))) return;
    for (const heads of this.#heard.values())
      for (const [id, head] of heads) if ((this.#logs.get(id)?.head ?? 0) < head) return;
    // What another has already taken over is in that one's log.
    if (!this.isCaughtUp) return;
    this.#isSettled = true;
    takeOver({
      view: this.#view,
      self: this.#own.id,
      rooms: this.#rooms.values(),
      headOf: (id) => this.headOf(id),
      indexOf: (id) => this.#logs.get(id)?.index ?? ORIGINS_MAX,
      now,
    });
  }

  #hearEntries(from: string, body: EntriesBody, now: number): void {
    const { log: id, from: start, blocks, copy } = body;
    if (!this.#isKnown(id) || id === this.#own.id) return;
    const log = this.#logOf(id);
    if (copy) this.#readCopy(log, blocks, start, copy);
    else if (log.copyPart === 0) this.#read(log, blocks, start);
    const unread = this.#unread.get(from);
    if (unread) unread.logs.add(id);
    else this.#unread.set(from, { since: now, logs: new Set([id]) });
    if (body.isUrgent || copy) this.#sayReadTo(from);
    // Others may wait for it.
    this.#dueAt = Number.NEGATIVE_INFINITY;
    if (this.#heard.size === this.#peers.length) this.#settle(now);
  }

  /** Reads the blocks that continue the log, and keeps them for others. Blocks that were read before are not unpacked. */
  #read(log: OwnerLog, blocks: readonly Block[], start: number): void {
    const heard = new Set<RoomBooks>();
    let from = start;
    for (const block of blocks) {
      const end = from + block[0];
      if (from > log.head) break;
      if (end > log.head) {
        const written = entriesIn(block);
        if (!written) break;
        this.#readOn(log, written.slice(log.head - from), heard);
        if (log.head < end) break;
        log.keep(from, block);
      }
      from = end;
    }
    for (const books of heard) books.tellTurns();
  }

  #readOn(log: OwnerLog, written: readonly Written[], heard: Set<RoomBooks>): void {
    const origin = { index: log.index, owner: log.id };
    for (const { room, entry } of written) {
      const books = this.#rooms.get(room);
      if (books && !books.isReadyFor(entry)) return;
      log.head++;
      if (!books) continue;
      books.apply(entry, origin, log.head - 1);
      heard.add(books);
    }
  }

  #readCopy(
    log: OwnerLog,
    blocks: readonly Block[],
    head: number,
    copy: NonNullable<EntriesBody["copy"]>,
  ): void {
    const expected = Math.max(0, log.copyPart);
    const { part, parts, totals } = copy;
    if (part !== expected || (log.copyPart === 0 && head <= log.head)) return;
    const all = blocks.map(entriesIn);
    if (!all.every((written) => written !== null)) return;
    const origin = { index: log.index, owner: log.id };
    if (part === 0) for (const books of this.#rooms.values()) books.forgetOwner(log.index);
    for (const { room, entry } of all.flat()) this.#rooms.get(room)?.apply(entry, origin, head - 1);
    log.copyPart = part + 1;
    if (part + 1 < parts) return;
    for (const [room, sums] of totals) this.#rooms.get(room)?.tallies.setTotals(log.index, sums);
    log.startAt(head);
  }

  #copyOf(log: OwnerLog): EntriesBody[] {
    const written: Written[] = [];
    for (const [room, books] of this.#rooms)
      for (const entry of books.entriesOf(log.index)) written.push({ room, entry });
    const totals = [...this.#rooms].map(
      ([room, books]) => [room, { ...books.tallies.totalsOf(log.index) }] as const,
    );
    const parts = Math.max(1, Math.ceil(written.length / BLOCK_ENTRIES_MAX));
    return Array.from({ length: parts }, (_, part) => ({
      kind: "entries",
      ...{ log: log.id, from: log.head },
      blocks: [blockOf(written.slice(part * BLOCK_ENTRIES_MAX, (part + 1) * BLOCK_ENTRIES_MAX))],
      isUrgent: true,
      copy: { part, parts, totals: part === parts - 1 ? totals : [] },
    }));
  }

  #confirm(now: number, isEverybody: boolean): void {
    if (this.#confirmations.length === 0) return;
    const copied = isEverybody ? Number.POSITIVE_INFINITY : this.#copied();
    const isDone = ({ head, by }: Confirmation) => head <= copied || by <= now;
    const done = this.#confirmations.filter(isDone);
    if (done.length === 0) return;
    this.#confirmations = this.#confirmations.filter((one) => !isDone(one));
    for (const one of done) one.done();
  }

  #copied(): number {
    let head = -1;
    for (const peer of this.#peers)
      head = Math.max(head, this.#readers.get(peer)?.get(this.#own.id)?.head ?? -1);
    return head;
  }

  #logOf(id: string): OwnerLog {
    let log = this.#logs.get(id);
    if (!log) {
      log = new OwnerLog(id, this.#logs.size);
      this.#logs.set(id, log);
    }
    return log;
  }
}

function waysOf(view: View, self: string): Map<string, string> {
  const tree = treeOf(view.members.map(({ number }) => number));
  const ids = new Map(view.members.map((member) => [member.number, idOf(member)]));
  const own = view.members.find((member) => idOf(member) === self)!.number;
  const others = view.members.filter(({ number }) => number !== own);
  return new Map(others.map(({ number }) => [ids.get(number)!, ids.get(tree.towards(own, number))!]));
}

function buddiesOf(view: View, self: string, neighbours: ReadonlySet<string>): string[] {
  const ids = view.members.map(idOf);
  const from = ids.indexOf(self) + 1;
  const others = [...ids.slice(from), ...ids.slice(0, from - 1)];
  return [...new Set([...neighbours, ...others])].slice(0, BUDDIES);
}

function headIn(log: OwnerLog): Head {
  return [log.id, log.copyPart < 0 ? -1 : log.head, Math.max(0, log.copyPart)];
}

const isHead = pair((log) => typeof log === "string", whole, whole) as (head: unknown) => head is Head;
