/**
 * What an attack is. Each one lives in a file of its own beside this one and is listed in `attacks.ts`. `npm test` runs
 * it small (`NAME.test.ts`), `npm run bench -- hostile` in full, against the same gateway: a `fairgate run` of its own
 * (`siege.ts`), with honest visitors on the site and in the line all the while.
 *
 * An attack runs in a process of its own, so that its work is not mistaken for the gateway's. It knows the gateway's
 * addresses and nothing else, and it comes from 127.0.0.1; honest visitors come from 127.0.1.x.
 */
import type { RoomInput, SettingsInput } from "../../src/config/schema.ts";

/** `small` takes a few seconds at most; `full` is what an attacker with one machine would really try. */
export type Scale = "small" | "full";

export interface Attack {
  /** In a few words, as the table has it. */
  readonly name: string;
  /** What the attacker wants, in one sentence. */
  readonly about: string;
  /** The attacked room, beside or instead of what `siege.ts` says. */
  readonly room?: RoomInput;
  /** Rooms beside it. */
  readonly otherRooms?: Readonly<Record<string, RoomInput>>;
  /** Settings beside them. */
  readonly settings?: Partial<SettingsInput>;
  /** Settings that go with the scale: where there is less of everything, a smaller attack is enough. */
  readonly scaled?: Readonly<Record<Scale, Scaled>>;
  /** The most files the gateway's process may open, as `ulimit -n` sets it. */
  readonly filesMax?: Readonly<Record<Scale, number>>;
  /** How long an honest visitor looks at a page before the next; 20 when left out. A long attack has enough pages anyway. */
  readonly thinkMs?: number;
  /** Starts the site behind the gateway; `site.ts` when left out. Its pages say `SITE_WORDS` at the room's path. */
  openSite?(): Promise<{ readonly port: number } & AsyncDisposable>;
  run(target: Target, scale: Scale): Promise<Gain>;
}

export interface Scaled {
  readonly origin?: Omit<NonNullable<SettingsInput["origin"]>, "addresses">;
  readonly limits?: SettingsInput["limits"];
  /** Rooms beside the attacked one. */
  readonly rooms?: Readonly<Record<string, RoomInput>>;
}

/** Where the attacked gateway is. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** It speaks https then, with a certificate that nobody need believe. */
  readonly tls: { readonly rejectUnauthorized: false } | null;
  readonly control: { readonly host: string; readonly port: number };
}

/** What an attack came to. */
export interface Gain {
  /** Requests, connections or spellings tried: the unit is the attack's own. */
  readonly attempts: number;
  /** How many of them got what the attacker wants. */
  readonly through: number;
  /** The first of these, for debugging. */
  readonly examples?: readonly string[];
}
