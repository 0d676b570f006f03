/**
 * Changes made to rooms at run time: kept, and put on top of what the settings file says.
 *
 *   change ─▶ on top of what is kept ─▶ check ─▶ build ─▶ keep ─▶ put in force
 *   start, or another gateway's change ─▶ what is kept ─▶ check ─▶ build ─▶ what fits is put in force
 *
 * Nothing is kept that cannot be used. What is kept all the same and cannot be used here (by another version, by a hand, or
 * since the file says something else now) is put aside room by room and setting by setting; the rest is used. A store
 * that is this process's own is cleared of it: it is moved to where an operator can see it. In one that is shared it
 * stays, since others may be able to use it.
 */

import { lineKindOf } from "../config/capability-check.ts";
import { formatPath, type Problem } from "../config/problem.ts";
import { checkRoomChange, type RoomContext } from "../config/room-change.ts";
import type { RoomSettings, Settings } from "../config/schema.ts";
import { ownWords, writtenRoom } from "../config/written.ts";
import type { World } from "../core/world.ts";
import type { AsideChange, UnusedChange } from "../office/desk.ts";
import { asideOf, asideText, type ChangeStore, keptIn, meaningOf } from "./change-store.ts";
import {
  changeOnTop,
  type Fitting,
  fitChange,
  isAbout,
  isMapping,
  type Mapping,
  partOf,
  type Tried,
  type Unused,
} from "./fitting-change.ts";

/** Others may change the same room at the same moment; so often it is tried on top of theirs. */
const TRIES_MAX = 10;
/** Reasons of one room that are told; more help nobody. */
const REASONS_MAX = 5;

/** The store did not take it, so nothing was changed. */
export class KeepFailed extends Error {
  constructor(cause: unknown) {
    super("the change could not be kept", { cause });
    this.name = "KeepFailed";
  }
}

/** It could not be put in force, so it is not kept either. */
export class NotInForce extends Error {
  constructor(cause: unknown) {
    super("the change could not be put in force", { cause });
    this.name = "NotInForce";
  }
}

export type ChangeResult =
  | { readonly ok: true; readonly room: RoomSettings }
  | { readonly ok: false; readonly problems: readonly Pick<Problem, "path" | "message" | "hint">[] };

/** What the gateway does in a change. */
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

/** One kept text, read against the file. */
interface Understood {
  readonly fitting: Fitting | null;
  /** What is kept on, in the store; null: it says nothing that can be built on. */
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

  /** What is kept and not in force here, as of the last time it was read. */
  get unused(): readonly UnusedChange[] {
    return this.#unused;
  }

  async aside(): Promise<AsideChange[]> {
    const kept = await this.#store.readAside();
    return [...kept].flatMap(([room, text]) => asideOf(room, text) ?? []);
  }

  /** The file's settings with what is kept in them. Null while that cannot be read. */
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
   * Makes a change: checks it, builds all of it, keeps it, and puts it in force. Whatever fails, nothing is changed.
   * Throws `KeepFailed` and `NotInForce`.
   */
  async make<Built>(wanted: WantedChange, building: Building<Built>): Promise<ChangeResult> {
    const { file, inForce, room } = wanted;
    if (!Object.hasOwn(inForce.rooms, room) || !Object.hasOwn(file.rooms, room))
      return refused(`there is no room "${room}"`);
    // What is wrong with it by itself is told best against what is in force.
    const alone = checkRoomChange(inForce.rooms[room]!, wanted.change, this.#context(file));
    if (!alone.ok) return alone;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const answer = await this.#tryOnce(wanted, building);
      if (answer !== "others were faster") return answer;
    }
    throw new KeepFailed(new Error(`room "${room}" is being changed by others all the time`));
  }

  /** The file was read again, and says it all. */
  async forget(): Promise<void> {
    await this.#store.forget();
    this.#unused = [];
  }

  async #tryOnce<Built>(
    { file, inForce, room, change }: WantedChange,
    building: Building<Built>,
  ): Promise<ChangeResult | "others were faster"> {
    const before = await this.#readOne(room);
    const understood = before === null ? NOTHING_KEPT : this.#understand(file, room, before, building);
    const onTop = changeOnTop(understood.base ?? {}, change as Mapping);
    const fileRoom = file.rooms[room]!;
    const fitting = fitChange(fileRoom, onTop, this.#tryIn(file, room, building));
    // Settings that were of no use before stay, for those who can use them. No others may be.
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
    if (kept === null) throw new KeepFailed(new Error("what is kept cannot be read now"));
    return kept.get(room) ?? null;
  }

  async #keep(
    room: string,
    before: string | null,
    text: string,
    { base, unused }: Understood,
  ): Promise<boolean> {
    return keeping(async () => {
      // What cannot be built on is replaced, and must not be lost by that.
      if (before !== null && base === null) await this.#putAside(aboutUnused(room, unused), before);
      return this.#store.replace(room, before, text);
    });
  }

  /** Puts in force what was kept. When that fails it is not kept either. */
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
        const message = "a change is kept that could not be put in force, and holds from the next start on";
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
    if (!kept) return unusable("it cannot be read; another version, or a hand, may have written it");
    if (!this.#isAbout(kept.file, fileRoom))
      return unusable("the settings file says something else about the room now");
    const fitting = fitChange(fileRoom, kept.change, this.#tryIn(file, room, building));
    const isNoChange = fitting.unused.some(({ path }) => path.length === 0);
    return { fitting, base: isNoChange ? null : kept.change, unused: fitting.unused };
  }

  /** Checks a change to a room of the file, and builds the room. */
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
    return { trustedProxies: file.trustedProxies, place: lineKindOf(file), checkPage: this.#checkPage };
  }

  #markOf(room: RoomSettings): string {
    return this.#store.mark(ownWords(writtenRoom(room)));
  }

  /** Whether what is kept of a file's words fits what the file says now. Earlier versions kept the defaults too. */
  #isAbout(mark: string, room: RoomSettings): boolean {
    if (mark === this.#markOf(room)) return true;
    const words = meaningOf(mark);
    return isMapping(words) && ownWords(words) === ownWords(writtenRoom(room));
  }

  /** Takes what cannot be used out of a store that nobody else reads. */
  async #moveAside(about: UnusedChange, text: string, { fitting, base, unused }: Understood): Promise<void> {
    const paths = unused.map(({ path }) => path);
    await this.#putAside(about, base ? partOf(base, paths) : text);
    const kept = keptIn(text);
    const hasRest = fitting !== null && kept !== null && Object.keys(fitting.used).length > 0;
    const rest = hasRest ? JSON.stringify({ file: kept.file, change: fitting.used }) : null;
    await this.#store.replace(about.room, text, rest);
  }

  /** `change`: the part that is not used, or the whole text where it could not be read. */
  async #putAside({ room, settings, reason }: UnusedChange, change: Mapping | string): Promise<void> {
    const at = this.#world.clock.now();
    const known = typeof change === "string" ? (keptIn(change)?.change ?? change) : change;
    await this.#store.putAside(room, asideText({ at, settings, reason, change: known }));
  }

  /** Says once what is not used, however often it is met. */
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

function refused(message: string): ChangeResult {
  return { ok: false, problems: [{ path: "", message, hint: "" }] };
}

function tooLong(room: string, length: number, max: number): ChangeResult {
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
    throw new KeepFailed(cause);
  }
}
