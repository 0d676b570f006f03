/** One request to a room, with what it carries. */
import type { Carrier } from "./carrier.ts";
import type { Facts } from "./facts.ts";
import type { RoomFront } from "./room-front.ts";

export interface Call {
  readonly front: RoomFront;
  readonly facts: Facts;
  /** Path and query as they were routed, which is how the site gets them. */
  readonly target: string;
  readonly carrier: Carrier;
}
