/**
 * What nodes send each other: a message names its writer, with its life, view and time, and carries everything that is to be said
 * to that node at once.
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
import { type Shape, shape } from "./shapes.ts";

const { list, number, orNull, record, whole } = shape;

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
  /** To be forwarded to a node that the writer does not reach directly. */
  | { readonly kind: "relay"; readonly to: string; readonly letter: Message };

export interface Message {
  /** The id of the receiver; null: any process at that address. */
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
const anyText: Shape = (value) => typeof value === "string";

/** True for a well-formed message. Its bodies are checked by those they are for. */
export const isMessage = record({
  to: orNull(anyText),
  name: (value) => anyText(value) && (value as string).length <= NAME_CHARS_MAX,
  ...{ life: whole, clock: number, view: orNull(whole) },
  bodies: list((body) => typeof body === "object" && body !== null),
}) as (value: unknown) => value is Message;
