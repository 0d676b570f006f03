/** prototype */
import { Books, type Note } from "../crash/books.ts";

export interface Served { guest: number; joinedAt: number; admittedAt: number; sequence: number | null; leftAt: number | null; placedFirst: number|null; late: number }

export class ClusterBooks extends Books {
  readonly served = new Map<number, Served>();
  readonly seq = new Map<number, number>();
  readonly log: Note[] = [];

  override note(note: Note): void {
    this.log.push(note);
    if (note.kind === "placed") this.seq.set(note.guest, note.sequence);
    if (note.kind === "served" && !this.served.has(note.guest))
      this.served.set(note.guest, { guest: note.guest, joinedAt: note.joinedAt, admittedAt: note.admittedAt, sequence: this.seq.get(note.guest) ?? null, leftAt: null, placedFirst: null, late: 0 });
    if (note.kind === "left") { const s = this.served.get(note.guest); if (s) s.leftAt = note.at; }
    super.note(note);
  }
}
