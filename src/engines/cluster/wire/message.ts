/**
 * What nodes send each other: a message says who writes, in which life and view and at what time, and holds everything
 * that was to be said to that node at once.
 */
import type { Load, Presence } from "../../../core/engine.ts";
import type { CountingBody } from "../door/counter.ts";
import type { LendingBody } from "../door/lending.ts";
import type { EdgeState } from "../door/qpid.ts";
import type { NotesBody } from "../log/notes.ts";
import type { ReplicationBody } from "../log/replication.ts";
import type { MembershipBody } from "../membership/membership.ts";
import type { SwimBody } from "../membership/swim.ts";
import type { AskBody, ReplyBody } from "../visitors/requests.ts";
import type { Seen } from "../visitors/room-answers.ts";

export type MessageBody =
  | SwimBody
  | MembershipBody
  | EdgeState
  | CountingBody
  | ReplicationBody
  | AskBody
  | ReplyBody
  | LendingBody
  | NotesBody
  /** Visitors who were seen waiting, for the owner of their places. */
  | { readonly kind: "seen"; readonly room: string; readonly list: readonly Seen[] }
  /** Visitors who were seen on the site, for the owner of their visits. */
  | { readonly kind: "touch"; readonly room: string; readonly list: readonly Presence[] }
  | { readonly kind: "load"; readonly room: string; readonly load: Load }
  /** To be passed on to someone whom the writer does not reach directly. */
  | { readonly kind: "relay"; readonly to: string; readonly letter: Message };

export interface Message {
  /** Whom it is for, in which life; null: whoever is there. */
  readonly to: string | null;
  readonly name: string;
  readonly life: number;
  /** The writer's hybrid logical clock. */
  readonly clock: number;
  /** The number of its view; null: it has none yet. */
  readonly view: number | null;
  readonly bodies: readonly MessageBody[];
}

const NAME_CHARS_MAX = 128;

/** True for something that can be a message. What is in its bodies is looked at by those they are for. */
export function isMessage(value: unknown): value is Message {
  if (typeof value !== "object" || value === null) return false;
  const { to, name, life, clock, view, bodies } = value as Message;
  return (
    (to === null || typeof to === "string") &&
    typeof name === "string" &&
    name.length <= NAME_CHARS_MAX &&
    Number.isSafeInteger(life) &&
    Number.isFinite(clock) &&
    (view === null || Number.isSafeInteger(view)) &&
    Array.isArray(bodies) &&
    bodies.every((body) => typeof body === "object" && body !== null)
  );
}
