/**
 * Requests that went through without a visit and last: event streams, downloads and the like of someone who shows no cookie.
 * They have no slot, so they are there only while there is room. Once a second the rooms that have some are looked at; where a
 * newcomer would have to wait they are broken off, as a request like theirs would be refused now.
 */
import type { Engine } from "../../core/engine.ts";
import type { World } from "../../core/world.ts";
import type { AskEngine } from "../ask-engine.ts";
import type { OpenAnswer } from "./open-answer.ts";
import { type Listed, OpenList } from "./open-list.ts";

const LOOK_EVERY_MS = 1_000;
/** An answer to a request that came while there was room has this long. */
export const STRAY_GRACE_MS = 10_000;

export interface StrayConnection extends Listed {
  readonly answer: OpenAnswer;
  readonly room: string;
  readonly since: number;
}

interface StrayParts {
  readonly engine: Engine;
  readonly ask: AskEngine;
  readonly world: World;
  readonly onEnd: () => void;
}

export class StrayConnections {
  readonly #parts: StrayParts;
  readonly #open = new OpenList<StrayConnection>();
  readonly #stop: () => void;

  constructor(parts: StrayParts) {
    this.#parts = parts;
    this.#stop = parts.world.timers.every(LOOK_EVERY_MS, () => this.#look());
  }

  /** The caller says when it is `closed`. */
  open(answer: OpenAnswer, room: string): StrayConnection {
    const connection = { answer, room, since: this.#parts.world.clock.now(), listedAt: -1 };
    this.#open.add(connection);
    return connection;
  }

  closed(connection: StrayConnection): void {
    this.#open.remove(connection);
  }

  close(): void {
    this.#stop();
  }

  #look(): void {
    const rooms = new Set(this.#lasting().map(({ room }) => room));
    const { engine, ask } = this.#parts;
    for (const room of rooms)
      ask.hear(
        () => engine.hasRoom(room),
        (hasRoom) => {
          // An engine that is away says nothing about room.
          if (hasRoom === false) this.#end(room);
        },
      );
  }

  #lasting(): StrayConnection[] {
    const before = this.#parts.world.clock.now() - STRAY_GRACE_MS;
    return this.#open.items.filter(({ since }) => since <= before);
  }

  #end(room: string): void {
    for (const connection of this.#lasting()) {
      if (connection.room !== room) continue;
      this.#open.remove(connection);
      this.#parts.onEnd();
      connection.answer.end();
    }
  }
}
