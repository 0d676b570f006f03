/**
 * Active health checks: every address is asked for a path at an interval, over a connection of its own so that a busy
 * pool cannot starve the check. An answer below 500 in time means well. The first check runs at once.
 */
import { Client } from "undici";
import type { OriginSettings } from "../../config/schema.ts";
import type { World } from "../../core/world.ts";
import { isOutOfHandles } from "../../sockets/relief.ts";
import type { Address, Origin } from "./origin.ts";
import { createConnector } from "./pool.ts";

const UNASKED = "not asked";

type Check = NonNullable<OriginSettings["healthCheck"]>;

/** Starts the checks the settings ask for, if any. Returns the way to stop them. */
export function startChecks(
  origin: Pick<Origin, "addresses" | "reached">,
  settings: OriginSettings,
  world: World,
): () => void {
  const check = settings.healthCheck;
  if (check === null) return () => {};
  const stops = origin.addresses.map((address) => watch(address, { check, settings, origin, world }));
  return () => {
    for (const stop of stops) stop();
  };
}

interface Watch {
  readonly check: Check;
  readonly settings: OriginSettings;
  readonly origin: Pick<Origin, "reached">;
  readonly world: World;
}

function watch(address: Address, { check, settings, origin, world }: Watch): () => void {
  const client = new Client(address.url.origin, {
    connect: createConnector(address.url, check.timeout),
    allowH2: false,
    headersTimeout: check.timeout,
    bodyTimeout: check.timeout,
  });
  const host = isFixedHost(settings.hostHeader) ? { host: settings.hostHeader } : {};
  let isAsking = false;
  let isStopped = false;
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    const problem = await askOnce(client, check.path, { "user-agent": "fairgate-health-check", ...host });
    isAsking = false;
    // Without a handle to ask with, nothing is known of the origin.
    if (isStopped || problem === UNASKED) return;
    note(address, problem, world);
    if (problem === null) origin.reached(address);
  };
  void ask();
  const stop = world.timers.every(check.interval, () => void ask());
  return () => {
    isStopped = true;
    stop();
    void client.destroy();
  };
}

/** Null when the address is well, else what is wrong with it; `UNASKED` when it could not be asked. */
async function askOnce(
  client: Client,
  path: string,
  headers: Record<string, string>,
): Promise<string | null> {
  try {
    const { statusCode, body } = await client.request({ method: "GET", path, headers });
    await body.dump();
    return statusCode < 500 ? null : `status ${statusCode}`;
  } catch (error) {
    if (error instanceof Error && isOutOfHandles(error)) return UNASKED;
    return error instanceof Error ? error.message : String(error);
  }
}

function note(address: Address, problem: string | null, { log }: World): void {
  const isFailing = problem !== null;
  if (isFailing === address.health.isFailingCheck) return;
  address.health.isFailingCheck = isFailing;
  if (isFailing)
    log.warn(
      { code: "ORIGIN_UNWELL", address: address.name, error: problem },
      "origin address fails its check",
    );
  else log.info({ code: "ORIGIN_WELL", address: address.name }, "origin address passes its check");
}

function isFixedHost(hostHeader: string): boolean {
  return hostHeader !== "preserve" && hostHeader !== "origin";
}
