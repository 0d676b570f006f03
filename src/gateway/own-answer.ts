/** The answer at one of our own addresses, and what every verdict carries for the access log. */
import type { Decision } from "./access-log/line.ts";

/** For the access log. */
export interface Noted {
  readonly decision: Decision;
  /** The room's name; null: none. */
  readonly room: string | null;
  /** The id of the place or visit; null where there is none, or it is not known. */
  readonly visitor: string | null;
}

/** One of our own addresses answers. */
export interface OwnAnswer extends Noted {
  readonly kind: "answer";
  readonly status: number;
  /** Flat list, with the body's length in it. */
  readonly headers: readonly string[];
  /** A text is ASCII. */
  readonly body: string | Uint8Array;
  /** Requested again and again by waiting visitors: no line in the access log unless it fails. */
  readonly isPoll: boolean;
}
