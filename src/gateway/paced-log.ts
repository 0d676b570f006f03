/**
 * Log lines that outsiders can cause at any rate, such as about requests that the origin does not answer. The first of each kind
 * is logged at once, then at most one a second, after ten in a row one every ten seconds, with a count. Ids shown to visitors
 * rise, so an id that is in no line lies between the `id` and the `lastId` of one.
 */
import { LOG_EVERY_MS, LogPace } from "../core/log-pace.ts";
import type { Log, World } from "../core/world.ts";

/** The most kinds that are counted apart; there are a few for each address of an origin. */
const KINDS_MAX = 1_000;
const ABOUT_CHARACTERS_MAX = 200;

export interface PacedLine {
  readonly level: keyof Log;
  /** What distinguishes lines with the same message, such as the origin's address or the failure. */
  readonly about: string;
  /** `id`, where there is one, is what the visitor was shown. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

interface Kind {
  readonly pace: LogPace;
  /** The first and the last line that were held back. */
  first: PacedLine | null;
  last: PacedLine | null;
}

export class PacedLog {
  readonly #world: Pick<World, "clock" | "timers" | "log">;
  readonly #kinds = new Map<string, Kind>();

  constructor(world: Pick<World, "clock" | "timers" | "log">) {
    this.#world = world;
  }

  add(line: PacedLine): void {
    const key = `${line.level} ${line.message} ${line.about.slice(0, ABOUT_CHARACTERS_MAX)}`;
    const kind = this.#kinds.get(key) ?? this.#newKind(key);
    const isWaiting = kind.first !== null;
    kind.first ??= line;
    kind.last = line;
    this.#tell(kind, kind.pace.add(this.#world.clock.now()));
    if (kind.first !== null && !isWaiting) this.#tellLater(kind);
  }

  #tellLater(kind: Kind): void {
    this.#world.timers.after(LOG_EVERY_MS, () => {
      this.#tell(kind, kind.pace.due(this.#world.clock.now()));
      // A timer may be a moment early.
      if (kind.first !== null) this.#tellLater(kind);
    });
  }

  #newKind(key: string): Kind {
    if (this.#kinds.size >= KINDS_MAX) this.#kinds.clear();
    const kind: Kind = { pace: new LogPace(), first: null, last: null };
    this.#kinds.set(key, kind);
    return kind;
  }

  #tell(kind: Kind, count: number): void {
    const { first, last } = kind;
    if (count === 0 || first === null) return;
    kind.first = null;
    kind.last = null;
    const { id } = last!.fields;
    const more = count === 1 ? {} : { count, ...(id === undefined ? {} : { lastId: id }) };
    this.#world.log[first.level]({ ...first.fields, ...more }, first.message);
  }
}
