/** Puts handlers behind the product's own listener on a free port, and reports the port to the parent process. */
import type { Settings } from "../../src/config/schema.ts";
import type { World } from "../../src/core/world.ts";
import type { AccessLog } from "../../src/gateway/access-log/access-log.ts";
import { listen } from "../../src/gateway/listener/listen.ts";
import type { ProxiedGateway } from "../../src/gateway/proxied-gateway.ts";

export type Handlers = Pick<ProxiedGateway, "handle" | "handleContinue" | "upgrade">;

export async function listenAndTell(
  settings: Settings,
  handlers: Handlers,
  world: World,
  more: object = {},
  accessLog?: AccessLog,
): Promise<void> {
  const { handle, handleContinue, upgrade } = handlers;
  const there = { host: "127.0.0.1", port: 0 };
  const { address } = await listen({
    settings: { ...settings, listen: there },
    handle,
    handleContinue,
    upgrade,
    world,
    ...(accessLog && { accessLog }),
  });
  process.send?.({ port: address.port, ...more });
}
