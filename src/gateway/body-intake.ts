/**
 * The body of one request to an address of our own, as an adapter reads it: gathered in memory up to a limit, no more slowly than
 * the pace that uploads to the site have, and within the memory that all such bodies share. When that is full, those that began
 * first give theirs up: who sends at all fast is done long before, so nobody keeps others out by bodies that stand still. It knows
 * no runtime.
 *
 *   begin ─▶ take, take, … ─▶ end ─▶ settled with the bytes
 *                         └─▶ too large, too slow, no memory left: settled with that
 *                         └─▶ cut: its sender is gone, nothing is settled
 */
import type { LimitSettings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { type Memory, StreamPace } from "./proxy/slow-visitors.ts";

/** A body is looked at this often in each pace window. */
const LOOKS_PER_WINDOW = 8;

export type BodyProblem = "tooLarge" | "tooSlow" | "noMemory";

/** The whole body, or why there is none. */
export type BodyOutcome = Uint8Array | BodyProblem;

export interface BodyIntakeParts {
  readonly bytesMax: number;
  readonly limits: Pick<LimitSettings, "bodyPace" | "paceWindowMs">;
  /** What all bodies that are being read have together. */
  readonly memory: Memory;
  /** Those bodies, the first to begin first. */
  readonly underWay: Set<BodyIntake>;
  readonly world: World;
  /** Called once; never for a body that was cut short. */
  readonly settle: (outcome: BodyOutcome) => void;
  /** Called once, before `settle`, however it ends. */
  readonly over: (isGivenUp: boolean) => void;
}

export class BodyIntake {
  readonly #parts: BodyIntakeParts;
  readonly #pace: StreamPace;
  readonly #stop: () => void;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(parts: BodyIntakeParts) {
    const { world, limits } = parts;
    this.#parts = parts;
    parts.underWay.add(this);
    this.#pace = new StreamPace(world.clock.now());
    this.#stop = world.timers.every(limits.paceWindowMs / LOOKS_PER_WINDOW, () => this.#judge());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What the head of the request says of its length; null: nothing. */
  begin(declaredBytes: number | null): void {
    if (declaredBytes !== null && declaredBytes > this.#parts.bytesMax) this.#end("tooLarge");
  }

  take(chunk: Uint8Array): void {
    if (this.#isOver) return;
    const { memory, bytesMax } = this.#parts;
    if (this.#bytes + chunk.length > bytesMax) return this.#end("tooLarge");
    this.#makeRoom(chunk.length);
    if (this.#isOver) return;
    memory.take(chunk.length);
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
  }

  /** All of it has come. */
  end(): void {
    if (!this.#isOver) this.#end(joined(this.#chunks, this.#bytes));
  }

  /** Its sender is gone. */
  cut(): void {
    if (!this.#isOver) this.#end(null);
  }

  #makeRoom(bytes: number): void {
    const { memory, underWay } = this.#parts;
    if (bytes > memory.free + memory.taken) return this.#end("noMemory");
    for (const first of underWay) {
      if (bytes <= memory.free) return;
      if (first === this || first.#bytes > 0) first.#end("noMemory");
    }
  }

  #judge(): void {
    const { world, limits } = this.#parts;
    const { bodyPace: perSecond, paceWindowMs: windowMs } = limits;
    if (this.#pace.isTooSlow(world.clock.now(), this.#bytes, { windowMs, perSecond })) this.#end("tooSlow");
  }

  #end(outcome: BodyOutcome | null): void {
    const { memory, underWay, over, settle } = this.#parts;
    this.#isOver = true;
    underWay.delete(this);
    this.#stop();
    memory.give(this.#bytes);
    this.#chunks = [];
    over(outcome === null);
    if (outcome !== null) settle(outcome);
  }
}

/** A length as a header has it; null for none that counts. */
export function declaredLength(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : null;
}

function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
