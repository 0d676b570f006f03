/**
 * Changes made to rooms at run time: stored, and applied on top of the settings file.
 *
 *   change ─▶ on top of the stored one ─▶ check ─▶ build ─▶ store ─▶ put in force
 *   start, or another gateway's change ─▶ read ─▶ check ─▶ build ─▶ put in force what fits
 *
 * A change that cannot be used is not stored. A stored change that cannot be used here (written by another version or by
 * hand, or the file has changed) is put aside room by room and setting by setting; the rest is used. In a store of this
 * process alone it is moved to where an operator can see it. In a shared store it stays, since others may be able to use it.
 */
import { lineKindOf } from "../config/capability-check.ts";
import { formatPath, type Problem } from "../config/problem.ts";
import { checkRoomChange, type RoomContext } from "../config/room-change.ts";
import { isRecord } from "../config/salvage.ts";
import type { RoomSettings, Settings } from "../config/schema.ts";
import { ownWords, writtenRoom } from "../config/written.ts";
import type { World } from "../core/world.ts";
import { type AsideChange, type ChangeAnswer, NotKept, type UnusedChange } from "../office/desk.ts";
import { asideOf, asideText, type ChangeStore, keptIn, meaningOf } from "./change-store.ts";
import {
  changeOnTop,
  type Fitting,
  fitChange,
  isAbout,
  type Mapping,
  partOf,
  type Tried,
  type Unused,
} from "./fitting-change.ts";

/** How often a change is retried when others change the same room at the same moment. */
const TRIES_MAX = 10;
/** The most reasons that are reported for one room. */
const REASONS_MAX = 5;

/** The change could not be put in force, so it is not stored either. */
export class NotInForce extends Error {
  constructor(cause: unknown) {
    super("the change could not be put in force", { cause });
    this.name = "NotInForce";
  }
}

/** The gateway's part in a change. */
export interface Building<Built> {
  /** Why a room cannot be built; null when it can. */
  problemOf(settings: Settings, room: string): string | null;
  prepare(settings: Settings): Built;
  discard(built: Built): void;
  putInForce(built: Built): Promise<void>;
}

export interface WantedChange {
  readonly file: Settings;
  readonly inForce: Settings;
  readonly room: string;
  readonly change: unknown;
}

/** A stored text, compared with the file. */
interface Understood {
  readonly fitting: Fitting | null;
  /** The stored change that a new one is put on top of; null: the text cannot be used. */
  readonly base: Mapping | null;
  readonly unused: readonly Unused[];
}

export class RoomChanges {
  readonly #store: ChangeStore;
  readonly #world: World;
  readonly #checkPage: RoomContext["checkPage"];
  #unused: readonly UnusedChange[] = [];

  constructor(parts: { store: ChangeStore; world: World; checkPage: RoomContext["checkPage"] }) {
    this.#store = parts.store;
    this.#world = parts.world;
    this.#checkPage = parts.checkPage;
  }

  /** Stored changes not in force here, as of the last read. */
  get unused(): readonly UnusedChange[] {
    return this.#unused;
  }

  async aside(): Promise<AsideChange[]> {
    const kept = await this.#store.readAside();
    return [...kept].flatMap(([room, text]) => asideOf(room, text) ?? []);
  }

  /** The file's settings with the stored changes applied. Null while the store cannot be read. */
  async applyTo(file: Settings, building: Pick<Building<unknown>, "problemOf">): Promise<Settings | null> {
    const kept = await this.#store.read();
    if (kept === null) return null;
    const rooms = { ...file.rooms };
    const unused: UnusedChange[] = [];
    for (const [room, text] of kept) {
      const understood = this.#understand(file, room, text, building);
      if (understood.fitting) rooms[room] = understood.fitting.room;
      if (understood.unused.length === 0) continue;
      const about = aboutUnused(room, understood.unused);
      this.#tell(about);
      if (this.#store.isOwn) await this.#moveAside(about, text, understood);
      else unused.push(about);
    }
    this.#unused = unused;
    return { ...file, rooms };
  }

  /**
   * Makes a change: checks it, builds everything, stores it, and puts it in force. If any step fails, nothing is changed.
   * Throws `NotKept` and `NotInForce`.
   */
  async make<Built>(wanted: WantedChange, building: Building<Built>): Promise<ChangeAnswer> {
    const { file, inForce, room } = wanted;
    if (!Object.hasOwn(inForce.rooms, room) || !Object.hasOwn(file.rooms, room))
      return refused(`there is no room "${room}"`);
    // A problem of the change itself is best described against the settings in force.
    const alone = checkRoomChange(inForce.rooms[room]!, wanted.change, this.#context(file));
    if (!alone.ok) return alone;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const answer = await this.#tryOnce(wanted, building);
      if (answer !== "others were faster") return answer;
    }
    throw new NotKept(new Error(`room "${room}" is being changed by others all the time`));
  }

  /** The file was read again and replaces all changes. */
  async forget(): Promise<void> {
    await this.#store.forget();
    this.#unused = [];
  }

  async #tryOnce<Built>(
    { file, inForce, room, change }: WantedChange,
    building: Building<Built>,
  ): Promise<ChangeAnswer | "others were faster"> {
    const before = await this.#readOne(room);
    const understood = before === null ? NOTHING_KEPT : this.#understand(file, room, before, building);
    const onTop = changeOnTop(understood.base ?? {}, change as Mapping);
    const fileRoom = file.rooms[room]!;
    const fitting = fitChange(fileRoom, onTop, this.#tryIn(file, room, building));
    // Settings that were unusable before stay, for gateways that can use them. All others must fit.
    const wasUnused = new Set(understood.unused.map(({ path }) => formatPath(path)));
    const wrong = fitting.unused.filter(
      ({ path }) => !wasUnused.has(formatPath(path)) || isAbout(change as Mapping, path),
    );
    if (wrong.length > 0) return { ok: false, problems: wrong.map(asProblem) };
    const text = JSON.stringify({ file: this.#markOf(fileRoom), change: onTop });
    const { charactersMax } = this.#store;
    if (charactersMax !== null && text.length > charactersMax)
      return tooLong(room, text.length, charactersMax);
    const built = tryBuild(() => building.prepare(withRoom(inForce, room, fitting.room)));
    if ("reason" in built) return refused(built.reason);
    const isKept = await this.#keep(room, before, text, understood).catch((cause: unknown) => {
      building.discard(built.value);
      throw cause;
    });
    if (!isKept) {
      building.discard(built.value);
      return "others were faster";
    }
    await this.#use(building, built.value, { room, before, text });
    const others = this.#unused.filter((one) => one.room !== room);
    this.#unused = fitting.unused.length > 0 ? [...others, aboutUnused(room, fitting.unused)] : others;
    return { ok: true, room: fitting.room };
  }

  async #readOne(room: string): Promise<string | null> {
    const kept = await keeping(() => this.#store.read());
    if (kept === null) throw new NotKept(new Error("the stored changes cannot be read now"));
    return kept.get(room) ?? null;
  }

  async #keep(
    room: string,
    before: string | null,
    text: string,
    { base, unused }: Understood,
  ): Promise<boolean> {
    return keeping(async () => {
      // A text that cannot be used is replaced, and must not be lost.
      if (before !== null && base === null) await this.#putAside(aboutUnused(room, unused), before);
      return this.#store.replace(room, before, text);
    });
  }

  /** Puts a stored change in force. If that fails, the store is restored. */
  async #use<Built>(
    building: Building<Built>,
    built: Built,
    { room, before, text }: { room: string; before: string | null; text: string },
  ): Promise<void> {
    try {
      await building.putInForce(built);
    } catch (cause) {
      try {
        await this.#store.replace(room, text, before);
      } catch (again) {
        const message = "a change is stored that could not be put in force, and holds from the next start on";
        this.#world.log.error({ err: again, room }, message);
      }
      throw new NotInForce(cause);
    }
  }

  #understand(
    file: Settings,
    room: string,
    text: string,
    building: Pick<Building<unknown>, "problemOf">,
  ): Understood {
    const fileRoom = Object.hasOwn(file.rooms, room) ? file.rooms[room] : undefined;
    if (!fileRoom) return unusable("the settings file has no such room");
    const kept = keptIn(text);
    if (!kept) return unusable("it cannot be read; it may have been written by another version or by hand");
    if (!this.#isAbout(kept.file, fileRoom)) return unusable("the settings file has changed for this room");
    const fitting = fitChange(fileRoom, kept.change, this.#tryIn(file, room, building));
    const isNoChange = fitting.unused.some(({ path }) => path.length === 0);
    return { fitting, base: isNoChange ? null : kept.change, unused: fitting.unused };
  }

  /** Tries changes to a room of the file: checks them and builds the room. */
  #tryIn(file: Settings, room: string, building: Pick<Building<unknown>, "problemOf">) {
    const context = this.#context(file);
    return (change: Mapping): Tried => {
      const checked = checkRoomChange(file.rooms[room]!, change, context);
      if (!checked.ok) return { ok: false, reason: reasonIn(checked.problems) };
      const reason = building.problemOf(withRoom(file, room, checked.room), room);
      return reason === null ? checked : { ok: false, reason };
    };
  }

  #context(file: Settings): RoomContext {
    return { trustedProxies: file.trustedProxies, lineKind: lineKindOf(file), checkPage: this.#checkPage };
  }

  #markOf(room: RoomSettings): string {
    return this.#store.mark(ownWords(writtenRoom(room)));
  }

  /** True if the mark is of the room as the file has it now. Earlier versions included the defaults. */
  #isAbout(mark: string, room: RoomSettings): boolean {
    if (mark === this.#markOf(room)) return true;
    const words = meaningOf(mark);
    return isRecord(words) && ownWords(words) === ownWords(writtenRoom(room));
  }

  /** Removes what cannot be used from a store that no other process reads. */
  async #moveAside(about: UnusedChange, text: string, { fitting, base, unused }: Understood): Promise<void> {
    const paths = unused.map(({ path }) => path);
    await this.#putAside(about, base ? partOf(base, paths) : text);
    const kept = keptIn(text);
    const hasRest = fitting !== null && kept !== null && Object.keys(fitting.used).length > 0;
    const rest = hasRest ? JSON.stringify({ file: kept.file, change: fitting.used }) : null;
    await this.#store.replace(about.room, text, rest);
  }

  /** `change`: the unused part, or the whole text if it could not be read. */
  async #putAside({ room, settings, reason }: UnusedChange, change: Mapping | string): Promise<void> {
    const at = this.#world.clock.now();
    const known = typeof change === "string" ? (keptIn(change)?.change ?? change) : change;
    await this.#store.putAside(room, asideText({ at, settings, reason, change: known }));
  }

  /** Logs an unused change, once. */
  #tell(about: UnusedChange): void {
    const isKnown = this.#unused.some(({ room, reason }) => room === about.room && reason === about.reason);
    if (isKnown) return;
    const { room, settings, reason } = about;
    const rest = settings.length > 0 ? "the rest of it is used" : "the settings file holds";
    this.#world.log.warn(
      { room, settings, reason },
      `a change made at run time cannot be used here; ${rest}`,
    );
  }
}

const NOTHING_KEPT: Understood = { fitting: null, base: {}, unused: [] };

function unusable(reason: string): Understood {
  return { fitting: null, base: null, unused: [{ path: [], reason }] };
}

function aboutUnused(room: string, unused: readonly Unused[]): UnusedChange {
  const settings = unused.filter(({ path }) => path.length > 0).map(({ path }) => formatPath(path));
  const reasons = [...new Set(unused.map(({ reason }) => reason))];
  const more = reasons.length > REASONS_MAX ? [`and ${reasons.length - REASONS_MAX} more`] : [];
  return { room, settings, reason: [...reasons.slice(0, REASONS_MAX), ...more].join("; ") };
}

function asProblem({ path, reason }: Unused): Pick<Problem, "path" | "message" | "hint"> {
  return { path: formatPath(path), message: reason, hint: "" };
}

function refused(message: string): ChangeAnswer {
  return { ok: false, problems: [{ path: "", message, hint: "" }] };
}

function tooLong(room: string, length: number, max: number): ChangeAnswer {
  const message = `the changes to room "${room}" have ${length} characters, and at most ${max} can be kept`;
  return { ok: false, problems: [{ path: "", message, hint: "Write them into the settings file." }] };
}

function reasonIn(problems: readonly Problem[]): string {
  return problems.map(({ message }) => message).join("; ");
}

function withRoom(settings: Settings, name: string, room: RoomSettings): Settings {
  return { ...settings, rooms: { ...settings.rooms, [name]: room } };
}

function tryBuild<Built>(build: () => Built): { value: Built } | { reason: string } {
  try {
    return { value: build() };
  } catch (cause) {
    return { reason: (cause as Error).message };
  }
}

async function keeping<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new NotKept(cause);
  }
}
