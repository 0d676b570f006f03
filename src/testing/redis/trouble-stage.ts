/**
 * One gateway in this process, with a Redis that a test disturbs. It has two rooms, each for one visitor at a
 * time: one that is closed to newcomers while the line cannot be reached, and one that is open then. Everything it logs
 * is kept.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { createGateway, type SettingsInput } from "../../index.ts";
import { eventually } from "../cli/eventually.ts";
import { openOrigin, STAGE_SECRET } from "../gateway/stage.ts";
import { type HttpAnswer as Answer, assertWaitingPage, Visitor } from "../gateway/visitor.ts";
import { type RecordedEntry, realWorld } from "../real-world.ts";

export const CLOSED = "closed";
export const OPEN = "open";
const ROOMS = [CLOSED, OPEN] as const;
/** What one room is for. */
export type Mode = (typeof ROOMS)[number];

/** No call takes this long, however busy the machine is. Tests of slowness set a shorter timeout. */
const TIMEOUT = "30s";

export interface TroubleStage {
  readonly port: number;
  /** Everything that was logged. */
  readonly entries: readonly RecordedEntry[];
  visitor(): Visitor;
  /** Someone who is on the site in both rooms, and someone who waits in both. */
  fill(): Promise<{ occupant: Visitor; waiting: Visitor }>;
  /** What a newcomer gets. */
  newcomer(room: Mode): Promise<Answer>;
  /** Waits until newcomers get what `engineFailure` says. */
  untilAway(): Promise<void>;
  /** Waits until newcomers are given places or passes again. */
  untilWell(): Promise<void>;
}

export async function openTroubleStage(
  t: TestContext,
  redis: NonNullable<SettingsInput["redis"]>,
  room: object = {},
): Promise<TroubleStage> {
  const origin = await openOrigin(t);
  const { entries, log } = realWorld();
  const rooms = ROOMS.map((name) => {
    return [name, { path: `/${name}`, totalActiveUsers: 1, engineFailure: name, ...room }] as const;
  });
  const gateway = await createGateway({
    secret: STAGE_SECRET,
    origin: { addresses: [origin.address] },
    redis: { timeout: TIMEOUT, ...redis },
    rooms: Object.fromEntries(rooms),
    log,
  });
  t.after(() => gateway.close());
  const server = createServer(gateway.handler).listen(0, "127.0.0.1");
  t.after(() => server.close().closeAllConnections());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const visitor = () => new Visitor(port, t);
  const newcomer = (name: Mode) => visitor().open(`/${name}`);
  return {
    port,
    entries,
    visitor,
    newcomer,
    fill: async () => {
      const [occupant, waiting] = [visitor(), visitor()];
      for (const name of ROOMS) {
        await eventually("the gateway is ready", async () => isTaken(await occupant.open(`/${name}`)));
        assert.ok(await occupant.isIn(`/${name}`));
        assertWaitingPage(await waiting.open(`/${name}`));
      }
      return { occupant, waiting };
    },
    untilAway: async () => {
      await eventually("newcomers are refused", async () => (await newcomer(CLOSED)).status === 503);
      await eventually("newcomers go through", async () => (await newcomer(OPEN)).text === "the site");
    },
    untilWell: async () => {
      for (const name of ROOMS)
        await eventually(`newcomers are taken in the room ${name}`, async () =>
          isTaken(await newcomer(name)),
        );
    },
  };
}

/** True for someone who was given a place or a pass. A visitor who is let through because the line is away gets neither. */
function isTaken({ status, headers }: Answer): boolean {
  return status === 200 && headers["set-cookie"] !== undefined;
}
