/**
 * Active health checks: every address is asked for a path at an interval, over a connection of its own so that a busy
 * pool cannot starve the check. An answer below 500 in time means well. The first check runs at once.
 */
import type { OriginSettings } from "../../config/schema.ts";
import type { Timers, World } from "../../core/world.ts";
import { isOutOfHandles } from "../../sockets/relief.ts";
import type { OriginAddress } from "./address.ts";
import { type AddressPool, createAddressPool } from "./address-pool.ts";
import type { PoolRequest } from "./pool.ts";

const UNASKED = "not asked";
/** The most that is read of an answer. */
const ANSWER_BYTES_MAX = 131_072;

type Check = NonNullable<OriginSettings["healthCheck"]>;

/** Told that an address could be connected to. */
interface Reached {
  reached(address: OriginAddress): void;
}

/** Starts the checks the settings ask for, if any. Returns the way to stop them. */
export function startChecks(
  origin: Reached & { readonly addresses: readonly OriginAddress[] },
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
  readonly origin: Reached;
  readonly world: World;
}

function watch(address: OriginAddress, { check, settings, origin, world }: Watch): () => void {
  const { path, timeout } = check;
  const limits = {
    connectTimeout: timeout,
    headersTimeout: timeout,
    idleTimeout: timeout,
    connectionsMax: 1,
  };
  const pool = createAddressPool(address.url, { ...settings, ...limits }, world);
  const host = isFixedHost(settings.hostHeader) ? ["Host", settings.hostHeader] : [];
  const request: PoolRequest = {
    method: "GET",
    path,
    headers: ["User-Agent", "fairgate-health-check", ...host],
    body: null,
    servername: address.hostname,
    te: undefined,
  };
  let isAsking = false;
  let isStopped = false;
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    const problem = await askOnce(pool, request, { timers: world.timers, timeout });
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
    void pool.destroy();
  };
}

/**
 * Null when the address is well, else what is wrong with it; `UNASKED` when it could not be asked. The timer is our own, from
 * before there is a connection until the answer begins: undici's may be a second late.
 */
function askOnce(
  pool: AddressPool,
  request: PoolRequest,
  { timers, timeout }: { timers: Timers; timeout: number },
): Promise<string | null> {
  return new Promise((resolve) => {
    let status = 0;
    let bytes = 0;
    let late: Error | null = null;
    let abort = (_error: Error) => {};
    const judge = () => resolve(status < 500 ? null : `status ${status}`);
    const stop = timers.after(timeout, () => {
      late = new Error("no answer in time");
      resolve(late.message);
      abort(late);
    });
    pool.dispatch(request, {
      isInvalid: false,
      onRequestStart: (controller) => {
        if (late !== null) throw late;
        abort = (error) => controller.abort(error);
      },
      onResponseStart: (_controller, given) => {
        stop();
        status = given;
      },
      onResponseData: (controller, chunk) => {
        bytes += chunk.length;
        if (bytes <= ANSWER_BYTES_MAX) return;
        judge();
        controller.abort(new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`));
      },
      onResponseEnd: judge,
      onResponseError: (_controller, error) => {
        stop();
        resolve(isOutOfHandles(error) ? UNASKED : error.message);
      },
    });
  });
}

function note(address: OriginAddress, problem: string | null, { log }: World): void {
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
