/** The state that an object's constructor is given, made from storage and gate. */
import type { World } from "../core/world.ts";
import type { ObjectName } from "./disk.ts";
import type { InputGate } from "./input-gate.ts";
import type { DurableState, DurableStorage } from "./storage.ts";

/** Work that blocks an object for longer has failed; as on Cloudflare. */
const BLOCKED_MS_MAX = 30_000;

export interface StateParts {
  readonly object: ObjectName;
  readonly storage: DurableStorage;
  readonly gate: InputGate;
  readonly world: World;
  /** Blocked work failed: the object has to be restarted. */
  readonly onBlockFailed: (error: unknown) => void;
  /** Work that nobody awaits has begun (1) or ended (-1). */
  readonly onWork: (change: 1 | -1) => void;
  /** Where it may take longer than on Cloudflare. */
  readonly blockedMsMax?: number | undefined;
}

export function makeState(parts: StateParts): DurableState {
  const { object, storage, gate, world, onBlockFailed, onWork, blockedMsMax = BLOCKED_MS_MAX } = parts;
  const { name } = object;
  return {
    id: { name, toString: () => name },
    storage,
    blockConcurrencyWhile(work) {
      const blocked = block(work);
      // A constructor does not await it; callers of the object get the failure.
      blocked.catch(() => {});
      return blocked;
    },
    waitUntil(promise) {
      onWork(1);
      promise
        .catch((error: unknown) =>
          world.log.error(
            { object: name, class: object.className, err: error },
            "Work nobody waited for failed.",
          ),
        )
        .finally(() => onWork(-1));
    },
  };

  async function block<T>(work: () => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const stop = world.timers.after(blockedMsMax, () =>
      late.reject(new Error(`Work that blocks the object "${name}" took longer than ${blockedMsMax} ms.`)),
    );
    try {
      return await gate.section(() => Promise.race([work(), late.promise]));
    } catch (error) {
      onBlockFailed(error);
      throw error;
    } finally {
      stop();
    }
  }
}
