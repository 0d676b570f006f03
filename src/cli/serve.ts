/**
 * Everything that runs: engine, gateway, its listener and the control address, started together and stopped in order.
 * `run` and `demo` both stand on this.
 */
import type { Settings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import { MemoryEngine } from "../engines/memory/memory-engine.ts";
import { type Listener, listen } from "../gateway/listen.ts";
import { ProxiedGateway } from "../gateway/proxied-gateway.ts";
import { createOffice } from "../office/office.ts";
import { listenOffice } from "../office/server.ts";
import { createDesk } from "./desk.ts";

export interface Running {
  readonly engine: Engine;
  readonly address: Listener["address"];
  readonly controlAddress: Listener["address"];
  /** Puts new settings in force. Fails, changing nothing, when they cannot be. */
  reload(settings: Settings): Promise<void>;
  /** Stops taking requests, finishes those under way, then lets go of everything. */
  close(): Promise<void>;
}

export async function serve(settings: Settings, world: World): Promise<Running> {
  const engine = new MemoryEngine(world);
  const proxied = await ProxiedGateway.open({ settings, engine, world });
  const state = { isDraining: false };
  const desk = createDesk({ engine, proxied, isDraining: () => state.isDraining });
  const { host } = settings.control.listen;
  const office = await listenOffice(
    createOffice({ desk, token: settings.control.token, host, world }),
    settings.control.listen,
  );
  const listener = await openListener(settings, proxied, world, () => office.close());
  return {
    engine,
    address: listener.address,
    controlAddress: office.address,
    reload: async (next) => {
      warnOfRestart(settings, next, world);
      await proxied.configure(next);
      await listener.reload(next);
    },
    close: async () => {
      state.isDraining = true;
      proxied.gateway.closeStreams();
      await listener.close();
      await proxied.close();
      await office.close();
      engine.close();
    },
  };
}

async function openListener(
  settings: Settings,
  proxied: ProxiedGateway,
  world: World,
  onFailure: () => Promise<void>,
): Promise<Listener> {
  try {
    return await listen({
      settings,
      handle: proxied.handle,
      handleContinue: proxied.handleContinue,
      upgrade: proxied.upgrade,
      world,
    });
  } catch (cause) {
    await onFailure();
    await proxied.close();
    throw cause;
  }
}

/** Addresses are taken once, at the start. */
function warnOfRestart(before: Settings, next: Settings, world: World): void {
  const fixed = { listen: before.listen, control: before.control.listen };
  const wanted = { listen: next.listen, control: next.control.listen };
  if (JSON.stringify(fixed) !== JSON.stringify(wanted)) {
    world.log.warn({ from: fixed, to: wanted }, "a changed address takes effect at the next start");
  }
}
