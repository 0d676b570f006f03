/**
 * Places that are over: visits that ended, and places that were given up. A node has far more of them than of any other kind,
 * since each is remembered until no ticket for it can be valid. So each is a row of typed arrays and not an object: a hash table
 * by key, with linear probing.
 *
 * A place that is over stays over, in whatever order entries arrive, so it needs no owner. But one log must carry it to nodes that
 * join later: of the logs that have it, the one with the latest view, and between equals the one with the first name. So nodes
 * that have read the same entries agree.
 */
export interface OverPlace {
  readonly key: number;
  readonly lane: number;
  /** Index of the log that tells of it. */
  readonly origin: number;
  /** The view version in which an owner said so for another; 0: it was the owner's own place. */
  readonly epoch: number;
  /** May be forgotten some time after that. */
  readonly until: number;
  /** The id of the visit that ended; empty when there was none. */
  readonly id: string;
}

const CAPACITY_MIN = 16;

export class OverPlaces {
  /** A key is in the row of its hash or in a later one, with no empty row in between. */
  #keys = emptyKeys(CAPACITY_MIN);
  #untils = new Float64Array(CAPACITY_MIN);
  #lanes = new Uint32Array(CAPACITY_MIN);
  #origins = new Int32Array(CAPACITY_MIN);
  #epochs = new Float64Array(CAPACITY_MIN);
  #ids = noIds(CAPACITY_MIN);
  #size = 0;
  readonly #owners: string[] = [];

  get size(): number {
    return this.#size;
  }

  has(key: number): boolean {
    return this.#keys[this.#rowOf(key)] === key;
  }

  get(key: number): OverPlace | undefined {
    const row = this.#rowOf(key);
    return this.#keys[row] === key ? this.#at(row) : undefined;
  }

  /** Notes that a place is over, as that owner says. */
  tell(place: OverPlace, owner: string): void {
    this.#owners[place.origin] = owner;
    const known = this.get(place.key);
    this.#set(known ? this.#merged(known, place) : place);
  }

  /** Moves the places at `from` to the same indexes of `to`. Returns those that were there, as they are now. */
  move(from: Float64Array, to: Float64Array): OverPlace[] {
    const moved: OverPlace[] = [];
    for (const [index, key] of from.entries()) {
      const place = this.get(key);
      if (place) moved.push({ ...place, key: to[index]! });
    }
    for (const key of from) this.delete(key);
    for (const place of moved) this.#set(place);
    return moved;
  }

  /** One row for what several owners told. */
  #merged(known: OverPlace, told: OverPlace): OverPlace {
    const isFirst = this.#owners[told.origin]! < this.#owners[known.origin]!;
    const isTeller = told.epoch > known.epoch || (told.epoch === known.epoch && isFirst);
    const { origin, epoch } = isTeller ? told : known;
    return { ...known, origin, epoch, until: Math.max(known.until, told.until), id: known.id || told.id };
  }

  #set({ key, lane, origin, epoch, until, id }: OverPlace): void {
    if (2 * (this.#size + 1) > this.#keys.length) this.#grow();
    const row = this.#rowOf(key);
    if (this.#keys[row] !== key) this.#size++;
    this.#keys[row] = key;
    this.#lanes[row] = lane;
    this.#origins[row] = origin;
    this.#epochs[row] = epoch;
    this.#untils[row] = until;
    this.#ids[row] = id;
  }

  delete(key: number): boolean {
    let hole = this.#rowOf(key);
    if (this.#keys[hole] !== key) return false;
    this.#size--;
    const last = this.#keys.length - 1;
    // Rows behind the hole that could not be found past it move up.
    for (let row = (hole + 1) & last; !Number.isNaN(this.#keys[row]); row = (row + 1) & last) {
      const distance = (row - hashOf(this.#keys[row]!)) & last;
      if (distance < ((row - hole) & last)) continue;
      this.#move(row, hole);
      hole = row;
    }
    this.#keys[hole] = Number.NaN;
    this.#ids[hole] = "";
    return true;
  }

  /** Logs that tell of any place here. */
  origins(): Set<number> {
    const origins = new Set<number>();
    for (let row = 0; row < this.#keys.length; row++)
      if (!Number.isNaN(this.#keys[row])) origins.add(this.#origins[row]!);
    return origins;
  }

  /** The places that one log tells of. */
  *of(origin: number): Generator<OverPlace> {
    for (let row = 0; row < this.#keys.length; row++)
      if (this.#origins[row] === origin && !Number.isNaN(this.#keys[row])) yield this.#at(row);
  }

  /** The row of a key, or the empty row where it would be. */
  #rowOf(key: number): number {
    const last = this.#keys.length - 1;
    let row = hashOf(key) & last;
    while (this.#keys[row] !== key && !Number.isNaN(this.#keys[row])) row = (row + 1) & last;
    return row;
  }

  #at(row: number): OverPlace {
    return {
      key: this.#keys[row]!,
      lane: this.#lanes[row]!,
      origin: this.#origins[row]!,
      epoch: this.#epochs[row]!,
      until: this.#untils[row]!,
      id: this.#ids[row]!,
    };
  }

  #move(from: number, to: number): void {
    this.#keys[to] = this.#keys[from]!;
    this.#untils[to] = this.#untils[from]!;
    this.#lanes[to] = this.#lanes[from]!;
    this.#origins[to] = this.#origins[from]!;
    this.#epochs[to] = this.#epochs[from]!;
    this.#ids[to] = this.#ids[from]!;
  }

  #grow(): void {
    const [keys, ids] = [this.#keys, this.#ids];
    const [untils, lanes] = [this.#untils, this.#lanes];
    const [origins, epochs] = [this.#origins, this.#epochs];
    const capacity = 2 * keys.length;
    this.#keys = emptyKeys(capacity);
    this.#untils = new Float64Array(capacity);
    this.#lanes = new Uint32Array(capacity);
    this.#origins = new Int32Array(capacity);
    this.#epochs = new Float64Array(capacity);
    this.#ids = noIds(capacity);
    for (let from = 0; from < keys.length; from++) {
      if (Number.isNaN(keys[from])) continue;
      const row = this.#rowOf(keys[from]!);
      this.#keys[row] = keys[from]!;
      this.#untils[row] = untils[from]!;
      this.#lanes[row] = lanes[from]!;
      this.#origins[row] = origins[from]!;
      this.#epochs[row] = epochs[from]!;
      this.#ids[row] = ids[from]!;
    }
  }
}

function emptyKeys(capacity: number): Float64Array {
  return new Float64Array(capacity).fill(Number.NaN);
}

function noIds(capacity: number): string[] {
  return new Array<string>(capacity).fill("");
}

/** Keys of one time are close together, so all bits count, also those beyond the first 32. */
function hashOf(key: number): number {
  let hash = (key | 0) ^ Math.imul(Math.floor(key / 4_294_967_296) | 0, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
