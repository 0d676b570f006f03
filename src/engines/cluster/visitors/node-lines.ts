/** The lines of a room at one node, whose keys come from all nodes. */
import { LaneLines } from "../../../core/lane-lines.ts";
import { BlockLine } from "./block-line.ts";

export class NodeLines extends LaneLines<BlockLine> {
  constructor() {
    super(() => new BlockLine());
  }

  /** How many in a lane are at or before this key. */
  countUpTo(lane: number, key: number): number {
    return this.find(lane)?.countUpTo(key) ?? 0;
  }
}
