/** Every attack, in the order of the table. */
import type { Attack } from "./attack.ts";
import { badChanges } from "./bad-changes.ts";
import { controlFlood } from "./control-flood.ts";
import { forgedTokens } from "./forged-tokens.ts";
import { greedyRequests } from "./greedy-requests.ts";
import { http2Floods } from "./http2-floods.ts";
import { idleConnections } from "./idle-connections.ts";
import { missedTurns } from "./missed-turns.ts";
import { oddPaths } from "./odd-paths.ts";
import { outlivingUpgrades } from "./outliving-upgrades.ts";
import { replayedWork } from "./replayed-work.ts";
import { siblingActs } from "./sibling-acts.ts";
import { silentConnections } from "./silent-connections.ts";
import { slowReaders } from "./slow-readers.ts";
import { slowUploads } from "./slow-uploads.ts";
import { streamFlood } from "./stream-flood.ts";
import { wrongTokens } from "./wrong-tokens.ts";

export const ATTACKS: readonly Attack[] = [
  forgedTokens,
  wrongTokens,
  siblingActs,
  badChanges,
  controlFlood,
  idleConnections,
  slowUploads,
  slowReaders,
  greedyRequests,
  silentConnections,
  outlivingUpgrades,
  http2Floods,
  streamFlood,
  replayedWork,
  missedTurns,
  ...oddPaths,
];
