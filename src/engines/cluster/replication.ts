/**
 * How nodes come to know the same: each sends its log to all others, and together they see to it that the logs of
 * those who are gone were read equally far by everyone (then a node is `settled` in its view).
 *
 * Then places whose owner is gone are taken over, each by the member that `homeOf` says, which is the same for all. A part
 * without the majority takes over nothing of those who may still be there. What is taken over from them is theirs as
 * far as slots go: visits are borrowed, and turns begin anew as places in the line.
 */
import { ADOPT, type AdoptEntry, AS_BEFORE, type Entry, WAIT, type Written } from "./entries.ts";
import {
  ENTRIES_MAX,
  type EntriesBody,
  fromRuns,
  type HeadsBody,
  inRuns,
  Log,
  type ReadBody,
  Reader,
} from "./logs.ts";
import { ADMITTED, type Claim, claimOf, ON_SITE, type Place, WAITING } from "./place.ts";
import { type Origin, type RoomBooks, SELF, standingOf, voidsOf } from "./room-books.ts";
import { idOf, type View } from "./view.ts";

/** Heads are told again in a view that is not settled after this long. */
const HEADS_AGAIN_MS = 200;
/** Whoever waits for a copy to be made elsewhere does not wait longer. */
const CONFIRM_MAX_MS = 1_500;
const ORIGINS_MAX = 100_000;
/** So many are sent what somebody waits for; with more, one that is slow holds nobody up. */
const BUDDIES = 3;

export type ReplicationBody = EntriesBody | ReadBody | HeadsBody;

/** The member that a key is for when its owner is gone: the one with the highest hash of both. */
export function homeOf(key: number, view: View): string {
  let best = "";
  let bestHash = -1;
  for (const { slot, name, life } of view.members) {
    const hash = mixed(key, slot);
    if (hash <= bestHash) continue;
    best = idOf({ name, life });
    bestHash = hash;
  }
  return best;
}

interface Confirmation {
  readonly head: number;
  readonly by: number;
  readonly done: () => void;
}

export class Replication {
  readonly #rooms: ReadonlyMap<string, RoomBooks>;
  readonly #own: Log;
  readonly #logs = new Map<string, Log>();
  readonly #origins: string[] = [];
  readonly #periodMs: number;
  #view: View | null = null;
  /** Members besides this node. */
  #peers: string[] = [];
  /** Logs of owners that are neither members nor lost any more, until their places are taken over. */
  readonly #departed = new Set<string>();
  readonly #readers = new Map<string, Map<string, Reader>>();
  /** How far each peer said in this view that it is with logs of those who are gone. */
  readonly #heard = new Map<string, ReadonlyMap<string, number>>();
  /** How far each peer's own log was when it first told so in this view. */
  readonly #aims = new Map<string, number>();
  /** Who is to be told how far which log was read. */
  readonly #unread = new Set<string>();
  #isSettled = false;
  /** A room was opened, and some logs have yet to be read anew. */
  #isCopyWanted = false;
  /** Breaks the rule that a part without the majority takes nothing over. */
  #isBold = false;
  #toldAt = Number.NEGATIVE_INFINITY;
  #nextSendAt = Number.NEGATIVE_INFINITY;
  /** How much of the own log was sent to everyone, and when something is to be sent again. */
  #sentHead = 0;
  #dueAt = Number.NEGATIVE_INFINITY;
  #confirmations: Confirmation[] = [];
  #urgent = false;
  #outbox: { to: string; body: ReplicationBody }[] = [];

  constructor(self: string, rooms: ReadonlyMap<string, RoomBooks>, periodMs: number) {
    this.#rooms = rooms;
    this.#periodMs = periodMs;
    this.#own = this.#logOf(self);
  }

  /** True when everything of those who are gone is known here, as far as any member knows it. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  get self(): Origin {
    return { index: SELF, owner: this.#own.id };
  }

  /** True when a place that is not known here is not known to any member either, but for what happened just now. */
  get isCaughtUp(): boolean {
    return this.#peers.every((peer) => {
      const [log, aim] = [this.#logs.get(peer), this.#aims.get(peer)];
      return aim !== undefined && (aim === 0 || (log !== undefined && log.copyPart === 0 && log.head >= aim));
    });
  }

  /** How far this node's own log is. */
  get head(): number {
    return this.#own.head;
  }

  /** How far it has read a log. */
  headOf(id: string): number {
    return this.#logs.get(id)?.head ?? 0;
  }

  ownerAt(index: number): string {
    return this.#origins[index]!;
  }

  /** Gives the entry's number. */
  write(room: string, entry: Entry): number {
    this.#own.add({ room, entry });
    return this.#own.head - 1;
  }

  /** Calls back once a peer has this node's log as it is now, or there is nobody to wait for. */
  whenCopied(done: () => void, now: number): void {
    if (this.#peers.length === 0 || this.#copied() >= this.#own.head) return done();
    this.#urgent = true;
    this.#confirmations.push({ head: this.#own.head, by: now + CONFIRM_MAX_MS, done });
  }

  /** Another view: what was said in the last one counts no more. */
  start(view: View, now: number, isBoldInMinority = false): void {
    this.#isBold = isBoldInMinority;
    const before = this.#view;
    this.#view = view;
    const self = this.#own.id;
    this.#peers = view.members.map(idOf).filter((id) => id !== self);
    const known = new Set([...view.members, ...view.lost].map(idOf));
    for (const member of [...(before?.members ?? []), ...(before?.lost ?? [])])
      if (!known.has(idOf(member))) this.#departed.add(idOf(member));
    for (const id of known) this.#departed.delete(id);
    for (const peer of this.#readers.keys()) if (!this.#peers.includes(peer)) this.#readers.delete(peer);
    this.#stopReadingOut();
    this.#heard.clear();
    this.#aims.clear();
    this.#dueAt = Number.NEGATIVE_INFINITY;
    this.#isSettled = false;
    this.#toldAt = Number.NEGATIVE_INFINITY;
    this.#confirm(now, this.#peers.length === 0);
    this.#settle(now);
  }

  /** Everyone has settled in this view: nobody needs to hear of those who left before it. */
  everyoneSettled(): void {
    for (const id of this.#departed) this.#logs.get(id)?.drop();
    this.#departed.clear();
    this.#stopReadingOut();
  }

  /** Nobody reads logs of others from this node any more; in another view they may again. */
  #stopReadingOut(): void {
    for (const readers of this.#readers.values())
      for (const id of readers.keys()) if (id !== this.#own.id) readers.delete(id);
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
      for (const peer of this.#peers) this.#send(peer, now);
      this.#sayRead();
      this.#plan();
    }
    this.flush(now);
  }

  nextAt(): number {
    if (this.#peers.length === 0) return Number.POSITIVE_INFINITY;
    if (this.#urgent) return Number.NEGATIVE_INFINITY;
    const isAsking = !this.#isSettled || this.#isCopyWanted;
    const askAt = isAsking ? this.#toldAt + HEADS_AGAIN_MS : Number.POSITIVE_INFINITY;
    const isNews = this.#own.head > this.#sentHead || this.#unread.size > 0;
    return Math.min(askAt, Math.max(this.#nextSendAt, isNews ? Number.NEGATIVE_INFINITY : this.#dueAt));
  }

  /** Sends what somebody waits for. */
  flush(now: number): void {
    if (!this.#urgent || this.#peers.length === 0) return;
    this.#urgent = false;
    for (const peer of this.#buddies()) this.#send(peer, now, true);
  }

  takeOutbox(): { to: string; body: ReplicationBody }[] {
    const outbox = this.#outbox;
    this.#outbox = [];
    return outbox;
  }

  /** How far each log is that everyone must have read before a draw. */
  heads(): (readonly [string, number])[] {
    return [[this.#own.id, this.#own.head]];
  }

  #send(peer: string, now: number, isUrgent = false): void {
    for (const [id, reader] of this.#readersOf(peer)) {
      const log = this.#logs.get(id)!;
      if (!reader.isDue(log, now)) continue;
      const body = reader.take(log, now, () => this.#copyOf(log));
      if (body) this.#outbox.push({ to: peer, body: isUrgent ? { ...body, isUrgent } : body });
    }
  }

  /** When there is something to send again; asked for after every letter, so it is worked out once. */
  #plan(): void {
    this.#sentHead = this.#own.head;
    this.#dueAt = Number.POSITIVE_INFINITY;
    for (const peer of this.#peers)
      for (const [id, reader] of this.#readersOf(peer))
        this.#dueAt = Math.min(this.#dueAt, reader.nextAt(this.#logs.get(id)!));
  }

  #sayRead(): void {
    for (const one of this.#unread) {
      const [to, id] = one.split("\n") as [string, string];
      const log = this.#logs.get(id)!;
      const head = log.copyPart < 0 ? -1 : log.head;
      this.#outbox.push({ to, body: { kind: "read", log: id, head, part: Math.max(0, log.copyPart) } });
    }
    this.#unread.clear();
  }

  /** What a peer reads from this node: its log, and those of the gone that it has more of. */
  #readersOf(peer: string): Map<string, Reader> {
    let readers = this.#readers.get(peer);
    if (!readers) {
      readers = new Map([[this.#own.id, new Reader()]]);
      this.#readers.set(peer, readers);
    }
    return readers;
  }

  /** The members after this one, which get what is urgent: the first of them to have it is enough. */
  #buddies(): string[] {
    const ids = this.#view!.members.map(idOf);
    const from = ids.indexOf(this.#own.id) + 1;
    return [...ids.slice(from), ...ids.slice(0, from - 1)].slice(0, BUDDIES);
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
    const heads: [string, number, number][] = [];
    for (const log of this.#logs.values())
      if (this.#isKnown(log.id))
        heads.push([log.id, log.copyPart < 0 ? -1 : log.head, Math.max(0, log.copyPart)]);
    return heads;
  }

  /** A log that is somebody's in this view, or of someone whose places are still to be taken over. */
  #isKnown(id: string): boolean {
    const { members, lost } = this.#view!;
    return [...members, ...lost].some((member) => idOf(member) === id) || this.#departed.has(id);
  }

  #isGone(id: string): boolean {
    return !this.#view!.members.some((member) => idOf(member) === id);
  }

  #hearHeads(from: string, body: HeadsBody, now: number): void {
    const { heads } = body;
    if (!Array.isArray(heads) || !this.#peers.includes(from)) return;
    const gone = new Map<string, number>();
    const readers = this.#readersOf(from);
    for (const head of heads) {
      const [id, count, part] = head as HeadsBody["heads"][number];
      if (typeof id !== "string" || !Number.isSafeInteger(count) || !Number.isSafeInteger(part)) return;
      // Someone who left before this node came, and whose places are still to be taken over.
      if (!this.#isKnown(id) && count > 0) this.#departed.add(id);
      if (!this.#isKnown(id)) continue;
      if (id !== this.#own.id && this.#isGone(id)) gone.set(id, count);
      if (id === from && !this.#aims.has(from)) this.#aims.set(from, count);
      this.#hearHead(readers, id, { count, part, now });
    }
    for (const id of this.#goneIds())
      if (!gone.has(id)) this.#hearHead(readers, id, { count: 0, part: 0, now });
    this.#confirm(now, false);
    if (body.isAsking) this.#outbox.push({ to: from, body: this.#heads(false) });
    this.#heard.set(from, gone);
    this.#settle(now);
  }

  #hearRead(from: string, { log, head, part }: ReadBody, now: number): void {
    if (!Number.isSafeInteger(head) || !Number.isSafeInteger(part)) return;
    if (!this.#peers.includes(from)) return;
    this.#hearHead(this.#readersOf(from), log, { count: head, part, now });
    this.#confirm(now, false);
  }

  #hearHead(
    readers: Map<string, Reader>,
    id: string,
    { count, part, now }: { count: number; part: number; now: number },
  ): void {
    const log = this.#logs.get(id);
    if (!log || (id !== this.#own.id && !this.#isGone(id))) return;
    let reader = readers.get(id);
    if (!reader) {
      reader = new Reader(count);
      readers.set(id, reader);
    }
    if (count >= 0) reader.hear(count, part, now);
    else reader.startOver();
    if (reader.head < log.head) this.#dueAt = Math.min(this.#dueAt, reader.nextAt(log));
  }

  #goneIds(): string[] {
    return [...this.#logs.keys()].filter((id) => this.#isKnown(id) && this.#isGone(id));
  }

  /** Everyone has said how far they are with the logs of the gone, and this node is as far as any of them. */
  #settle(now: number): void {
    if (this.#isSettled || !this.#view || this.#peers.some((peer) => !this.#heard.has(peer))) return;
    for (const heads of this.#heard.values())
      for (const [id, head] of heads) if ((this.#logs.get(id)?.head ?? 0) < head) return;
    this.#isSettled = true;
    this.#takeOver(now);
  }

  /** Places whose owner is gone, and which are for this node now. */
  #takeOver(now: number): void {
    const view = this.#view!;
    const members = new Set(view.members.map(idOf));
    const lost = new Set(view.lost.map(idOf));
    for (const books of this.#rooms.values()) {
      const taken: [Place, Claim][] = [];
      for (const place of books.places.values()) {
        if (place.claim.origin === SELF && this.#bury(books, place, members, lost)) continue;
        const { owner, origin } = place.claim;
        const isOwnBorrowed = origin === SELF && place.claim.isBorrowed;
        if (members.has(owner) && !isOwnBorrowed) continue;
        if (lost.has(owner) && !view.isMajority && !this.#isBold) continue;
        if (!isOwnBorrowed && homeOf(place.key, view) !== this.#own.id) continue;
        taken.push([place, place.claim]);
      }
      for (const [place, claim] of taken) this.#adopt(books, place, claim, { lost, now });
    }
  }

  /** Claims to a place of this node's whose owners are gone for good are void, or one could count again some day. */
  #bury(books: RoomBooks, place: Place, members: ReadonlySet<string>, lost: ReadonlySet<string>): boolean {
    const dead = place.others?.filter(({ owner }) => !members.has(owner) && !lost.has(owner)) ?? [];
    if (dead.length === 0) return false;
    const voids = [...voidsOf(place), ...dead.flatMap(({ owner }) => [owner, this.headOf(owner)])];
    const { epoch, isBorrowed } = place.claim;
    books.write([ADOPT, epoch, isBorrowed ? 1 : 0, voids, standingOf(place, place.claim)]);
    return true;
  }

  #adopt(
    books: RoomBooks,
    place: Place,
    claim: Claim,
    { lost, now }: { lost: ReadonlySet<string>; now: number },
  ): void {
    const { version } = this.#view!;
    if (claim.origin === SELF) {
      // Borrowed before; whoever lent it is back, or is known to be dead.
      if (![...lost].some((id) => claimOf(place, this.#indexOf(id)))) this.#settleLoan(books, place, claim);
      return;
    }
    const isLost = lost.has(claim.owner);
    const isTurn = claim.state === ADMITTED && isLost;
    const of: AdoptEntry[4] = isTurn
      ? [WAIT, place.key, place.lane, AS_BEFORE, place.id]
      : standingOf(place, claim);
    const isBorrowed = isLost && claim.state === ON_SITE ? 1 : 0;
    const voids = [...voidsOf(place), claim.owner, this.headOf(claim.owner)];
    books.write([ADOPT, version, isBorrowed, voids, of]);
    const taken = books.places.get(place.key);
    if (taken?.claim.state === WAITING && taken.claim.origin === SELF) books.awaitAnew(taken, now);
  }

  #settleLoan(books: RoomBooks, place: Place, claim: Claim): void {
    books.write([ADOPT, claim.epoch, 0, voidsOf(place), standingOf(place, claim)]);
  }

  #hearEntries(from: string, body: EntriesBody, now: number): void {
    const { log: id, from: start, copy } = body;
    const isOf =
      typeof id === "string" && Number.isSafeInteger(start) && this.#isKnown(id) && id !== this.#own.id;
    const written = isOf ? fromRuns(body.runs) : null;
    if (!written) return;
    const log = this.#logOf(id);
    if (copy) this.#readCopy(log, written, start, copy);
    else if (log.copyPart === 0 && start <= log.head) this.#read(log, written.slice(log.head - start));
    this.#unread.add(`${from}\n${id}`);
    if (body.isUrgent || copy) this.#sayRead();
    if (this.#heard.size === this.#peers.length) this.#settle(now);
  }

  #read(log: Log, written: readonly Written[]): void {
    const origin = { index: log.index, owner: log.id };
    const heard = new Set<RoomBooks>();
    for (const one of written) {
      const books = this.#rooms.get(one.room);
      if (books && !books.isReadyFor(one.entry)) break;
      log.add(one);
      if (!books) continue;
      books.apply(one.entry, origin, log.head - 1);
      heard.add(books);
    }
    for (const books of heard) books.tellTurns();
  }

  #readCopy(
    log: Log,
    written: readonly Written[],
    head: number,
    copy: NonNullable<EntriesBody["copy"]>,
  ): void {
    const expected = Math.max(0, log.copyPart);
    const { part, parts, totals } = copy;
    if (part !== expected || (log.copyPart === 0 && head <= log.head)) return;
    const origin = { index: log.index, owner: log.id };
    if (part === 0) for (const books of this.#rooms.values()) books.forgetOwner(log.index);
    for (const { room, entry } of written) this.#rooms.get(room)?.apply(entry, origin, head - 1);
    log.copyPart = part + 1;
    if (part + 1 < parts) return;
    for (const [room, all] of totals) this.#rooms.get(room)?.totals.set(log.index, { ...all });
    log.startAt(head);
  }

  /** Everything of one owner's as it is now. */
  #copyOf(log: Log): EntriesBody[] {
    const written: Written[] = [];
    for (const [room, books] of this.#rooms)
      for (const entry of books.entriesOf(log.index)) written.push({ room, entry });
    const totals = [...this.#rooms].map(([room, books]) => [room, { ...books.totalsOf(log.index) }] as const);
    const parts = Math.max(1, Math.ceil(written.length / ENTRIES_MAX));
    return Array.from({ length: parts }, (_, part) => ({
      kind: "entries",
      ...{ log: log.id, from: log.head },
      runs: inRuns(written.slice(part * ENTRIES_MAX, (part + 1) * ENTRIES_MAX)),
      isUrgent: true,
      copy: { part, parts, totals: part === parts - 1 ? totals : [] },
    }));
  }

  /** Those whose log was copied are told. */
  #confirm(now: number, isEverybody: boolean): void {
    if (this.#confirmations.length === 0) return;
    const copied = isEverybody ? Number.POSITIVE_INFINITY : this.#copied();
    const isDone = ({ head, by }: Confirmation) => head <= copied || by <= now;
    const done = this.#confirmations.filter(isDone);
    if (done.length === 0) return;
    this.#confirmations = this.#confirmations.filter((one) => !isDone(one));
    for (const one of done) one.done();
  }

  /** How much of the own log some peer is known to have. */
  #copied(): number {
    let head = -1;
    for (const peer of this.#peers)
      head = Math.max(head, this.#readers.get(peer)?.get(this.#own.id)?.head ?? -1);
    return head;
  }

  #indexOf(id: string): number {
    return this.#logs.get(id)?.index ?? ORIGINS_MAX;
  }

  #logOf(id: string): Log {
    let log = this.#logs.get(id);
    if (!log) {
      log = new Log(id, this.#origins.length);
      this.#origins.push(id);
      this.#logs.set(id, log);
    }
    return log;
  }
}

/** A number from 0 to 2^32 - 1 that looks like nothing of what it was made from. */
function mixed(key: number, slot: number): number {
  const high = Math.floor(key / 4_294_967_296);
  let hash =
    Math.imul((key >>> 0) ^ Math.imul(high + 1, 0x9e3779b1), 0x85ebca6b) ^ Math.imul(slot + 1, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}
