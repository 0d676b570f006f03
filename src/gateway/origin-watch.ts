/**
 * Watches the origin's answers: their timing and errors for the room's load, and commands in the `Fairgate-Command` header. The
 * only command, `revoke`, ends the visit of the visitor whose request it was, if settings allow that.
 */
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import type { AskEngine } from "./ask-engine.ts";
import type { Forward, Watch } from "./proxy/proxy.ts";
import type { RoomFront } from "./room-front.ts";
import type { VisitorTokens } from "./tokens/visitor-tokens.ts";
import type { PassOn } from "./verdict.ts";

export interface WatchParts {
  readonly engine: Engine;
  readonly ask: AskEngine;
  readonly tokens: VisitorTokens;
  readonly world: World;
}

/** Null when neither the origin's load nor its commands matter. */
export function createWatch(front: RoomFront, parts: WatchParts): Watch | null {
  const { load, isLoadWatched } = front;
  const hasCommands = front
    .everySettings()
    .some(({ enabledOriginCommands }) => enabledOriginCommands.length > 0);
  if (!isLoadWatched && !hasCommands) return null;
  return {
    asked: () => load.asked(),
    answered: (status, tookMs) => load.answered(status, tookMs),
    failed: () => load.failed(),
    done: () => load.done(),
    commanded: (forward, command) => obey(front, parts, forward, command),
  };
}

function obey(
  front: RoomFront,
  { engine, ask, tokens, world }: WatchParts,
  forward: Forward,
  command: string,
): readonly string[] | null {
  // The proxy passes back the value that the gateway gave it.
  const { id, held, carrier } = forward as PassOn;
  const word = command.trim().toLowerCase();
  if (word !== "revoke" || !front.settings.enabledOriginCommands.includes(word)) {
    world.log.debug({ room: front.name, id }, "the origin's command is not known here, or not allowed");
    return null;
  }
  if (held === null) return null;
  void ask.ask(() => engine.revoke(front.name, held.pass.id));
  // A renewed pass must not reach them, unless it carries how often they have been here.
  return front.settings.visitsMax === null ? tokens.drop({ front, carrier }) : null;
}
