/**
 * What an attack is. Each has a file of its own in this folder and is listed in `attacks.ts`. `npm test` runs it small
 * (`NAME.test.ts`), `npm run bench -- hostile` in full, against the same gateway: a `fairgate run` of its own (`siege.ts`), with
 * honest visitors on the site and in the line all the while.
 *
 * An attack is a process of its own, so that its work is not mistaken for the gateway's. It knows only the gateway's addresses,
 * and comes from 127.0.0.1; honest visitors come from 127.0.1.x.
 */
import type { RoomInput, SettingsInput } from "../../src/config/schema.ts";

/** `small` takes a few seconds at most; `full` is what an attacker with one machine would do. */
export type Scale = "small" | "full";

export interface Attack {
  /** A few words, for the table. */
  readonly name: string;
  /** What the attacker wants, in one sentence. */
  readonly about: string;
  /** Settings of the attacked room, added to or replacing those of `siege.ts`. */
  readonly room?: RoomInput;
  /** Other rooms. */
  readonly otherRooms?: Readonly<Record<string, RoomInput>>;
  /** Other settings. */
  readonly settings?: Partial<SettingsInput>;
  /** Settings that depend on the scale: with lower limits, a smaller attack is enough. */
  readonly scaled?: Readonly<Record<Scale, Scaled>>;
  /** Limit of open files for the gateway's process, as `ulimit -n` sets it. */
  readonly filesMax?: Readonly<Record<Scale, number>>;
  /** How long an honest visitor looks at a page before the next; 20 by default. A long attack has enough pages anyway. */
  readonly thinkMs?: number;
  /** Starts the site behind the gateway; `site.ts` by default. Its pages contain `SITE_WORDS` at the room's path. */
  openSite?(): Promise<{ readonly port: number } & AsyncDisposable>;
  run(target: Target, scale: Scale): Promise<Gain>;
}

export interface Scaled {
  readonly origin?: Omit<NonNullable<SettingsInput["origin"]>, "addresses">;
  readonly limits?: SettingsInput["limits"];
  /** The rooms besides the attacked one. */
  readonly rooms?: Readonly<Record<string, RoomInput>>;
}

/** The attacked gateway's address. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** It uses https, with a certificate that need not be trusted. */
  readonly tls: { readonly rejectUnauthorized: false } | null;
  readonly control: { readonly host: string; readonly port: number };
}

/** The result of an attack. */
export interface Gain {
  /** How many requests, connections or spellings were tried; the attack chooses the unit. */
  readonly attempts: number;
  /** How many of them got what the attacker wants. */
  readonly through: number;
  /** The first of these, for debugging. */
  readonly examples?: readonly string[];
}
