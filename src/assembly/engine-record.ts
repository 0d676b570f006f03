/**
 * What the product needs from an engine. The checklist for a new one:
 *
 *   1. core/capabilities.ts   a row: what it can do. What it cannot is refused by the settings check from then on.
 *   2. engines/NAME/          the engine, and a test that runs every suite of `engines/` with that row.
 *   3. assembly/engines.ts    its record: how it opens, and with that what it keeps and what its node tells.
 *   4. config/                its settings, `lineKindOf`, and words for what it cannot do (capability-check.ts).
 *   5. docs/engines.md        a chapter; `npm run generate` puts it into the table.
 */
import type { Settings } from "../config/schema.ts";
import type { Capabilities } from "../core/capabilities.ts";
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import type { NodeDesk } from "./cluster-desk.ts";
import type { Data } from "./data.ts";
import type { Ledgers, LedgersParts } from "./shop-ledgers.ts";

/** The settings that an engine may look at. */
export type EngineSettings = Pick<Settings, "data" | "redis" | "cluster" | "secret" | "rooms" | "budgets">;

export interface EngineRecord {
  readonly capabilities: Capabilities;
  open(settings: EngineSettings, world: World): Promise<OpenEngine>;
}

export interface OpenEngine {
  readonly engine: Engine;
  /** Data that outlives this process or is shared with others: changes made at run time, and the key ring. */
  readonly keeps: Data;
  /** The world with the line's clock. */
  readonly world: World;
  /** The cluster node's desk; no visitors may be served before it has joined. Null for other engines. */
  readonly node: Pick<NodeDesk, "joined" | "isJoined" | "note" | "report" | "forget"> | null;
  /** The ledgers of shops, where several gateways share them; null: they are in the data directory, if there is one. */
  readonly openLedgers: ((parts: LedgersParts) => Ledgers) | null;
  /** Closes the engine, then what it uses. */
  close(): Promise<void>;
}
