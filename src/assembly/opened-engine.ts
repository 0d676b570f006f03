/** An engine that is open, and what it stands on. */
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import type { NodeDesk } from "./cluster-desk.ts";
import type { Data } from "./data.ts";

export interface OpenEngine {
  readonly engine: Engine;
  readonly data: Data;
  /** The world by the line's own clock. */
  readonly world: World;
  /** What a node of a cluster has besides; no visitors may be taken before it has joined. */
  readonly cluster: Pick<NodeDesk, "joined" | "isJoined" | "note" | "report" | "forget"> | null;
  /** Closes the engine, then what it stands on. */
  close(): Promise<void>;
}
