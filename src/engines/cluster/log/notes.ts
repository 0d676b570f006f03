/**
 * Small values that nodes keep together, such as changes made by an operator at run time. The last writer wins, by the writers'
 * hybrid clocks, then by their names. A note is sent to everyone when it is written, and all notes are sent to one other node
 * every two seconds, so that missed ones arrive as well.
 */
import { type Shape, shape } from "../wire/shapes.ts";

const { number, record } = shape;

const TELL_PERIOD_MS = 2_000;
const NOTES_MAX = 10_000;

/** A value that can be sent. */
export interface Note {
  readonly name: string;
  readonly value: unknown;
  /** The writer's clock. */
  readonly at: number;
  readonly by: string;
}

export interface NotesBody {
  readonly kind: "notes";
  readonly notes: readonly Note[];
}

export class Notes {
  readonly #self: string;
  readonly #notes = new Map<string, Note>();
  #peers: readonly string[] = [];
  #turn = 0;
  #nextAt = Number.POSITIVE_INFINITY;
  #changed: string[] = [];
  #outbox: { to: string; body: NotesBody }[] = [];

  constructor(self: string) {
    this.#self = self;
  }

  get all(): ReadonlyMap<string, Note> {
    return this.#notes;
  }

  keep(name: string, value: unknown, at: number): void {
    const note = { name, value, at, by: this.#self };
    if (this.#take(note))
      for (const to of this.#peers) this.#outbox.push({ to, body: { kind: "notes", notes: [note] } });
  }

  /** Sets the other nodes. */
  start(peers: readonly string[], now: number): void {
    this.#peers = peers;
    this.#nextAt = peers.length > 0 ? now + TELL_PERIOD_MS : Number.POSITIVE_INFINITY;
    if (this.#notes.size > 0) for (const to of peers) this.#tell(to);
  }

  receive(body: NotesBody): void {
    if (!Array.isArray(body.notes)) return;
    for (const note of body.notes) if (isNote(note)) this.#take(note);
  }

  tick(now: number): void {
    if (now < this.#nextAt) return;
    this.#nextAt = now + TELL_PERIOD_MS;
    if (this.#notes.size > 0) this.#tell(this.#peers[this.#turn++ % this.#peers.length]!);
  }

  nextAt(): number {
    return this.#nextAt;
  }

  /** Takes the names of notes that have changed. */
  takeChanged(): string[] {
    const changed = this.#changed;
    this.#changed = [];
    return changed;
  }

  takeOutbox(): { to: string; body: NotesBody }[] {
    const outbox = this.#outbox;
    this.#outbox = [];
    return outbox;
  }

  #tell(to: string): void {
    this.#outbox.push({ to, body: { kind: "notes", notes: [...this.#notes.values()] } });
  }

  #take(note: Note): boolean {
    const known = this.#notes.get(note.name);
    const isLater = !known || note.at > known.at || (note.at === known.at && note.by > known.by);
    if (!isLater || (!known && this.#notes.size >= NOTES_MAX)) return false;
    this.#notes.set(note.name, note);
    this.#changed.push(note.name);
    return true;
  }
}

const anyText: Shape = (value) => typeof value === "string";
const isNote = record({ name: anyText, at: number, by: anyText }) as (value: unknown) => value is Note;
