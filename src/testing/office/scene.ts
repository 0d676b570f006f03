/**
 * A scene for the office's tests: the product as it runs, with its own desk, a memory engine and time that is moved by
 * hand; only listeners are missing. Answers of the desk that no test can cause are replaced by the test.
 */
import { type FairgateOptions, openFairgate } from "../../assembly/open-fairgate.ts";
import type { RoomInput, SettingsInput } from "../../config/schema.ts";
import { MemoryEngine } from "../../engines/memory/memory-engine.ts";
import type { Traffic } from "../../gateway/traffic.ts";
import type { Desk } from "../../office/desk.ts";
import { createOffice, type Office } from "../../office/office.ts";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";
import { checked, STAGE_SECRET } from "../gateway/stage.ts";

export const DESK_TOKEN = "a-token-that-is-long-enough-for-anyone";

export interface Scene {
  readonly world: HandWorld;
  /** The product's own desk; a test may replace its answers. */
  readonly desk: { -readonly [Key in keyof Desk]: Desk[Key] };
  readonly engine: MemoryEngine;
  /** What the gateway counts. */
  readonly traffic: Traffic;
  readonly office: Office;
  /** Asks the office, with the right token unless `headers` say otherwise. */
  ask(path: string, options?: AskOptions): Promise<Response>;
  /** Puts other rooms in force, as a reload does. */
  reload(rooms: Record<string, RoomInput>): Promise<void>;
  /** The process is about to stop. */
  drain(): void;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly from?: string;
}

export interface SceneOptions {
  readonly token?: string | null;
  readonly host?: string;
  readonly isPageOpen?: boolean;
  readonly rooms?: Record<string, RoomInput>;
  readonly settings?: Partial<SettingsInput>;
  /** The ledgers of the shops that the settings name. */
  readonly deskOf?: FairgateOptions["deskOf"];
}

/** An office with one room, `main`, that holds two visitors. */
export async function scene(options: SceneOptions = {}): Promise<Scene> {
  const { token = DESK_TOKEN, host = "127.0.0.1", rooms = { main: { totalActiveUsers: 2 } } } = options;
  const world = handWorld();
  const engine = new MemoryEngine(world);
  const origin = { addresses: ["http://127.0.0.1:3000"] };
  const settings = (now: Record<string, RoomInput>) =>
    checked({ secret: STAGE_SECRET, origin, rooms: now, ...options.settings });
  const fairgate = await openFairgate(settings(rooms), world, {
    engine,
    ...(options.deskOf && { deskOf: options.deskOf }),
  });
  const { desk } = fairgate;
  const office = createOffice({ desk, token, host, isPageOpen: options.isPageOpen ?? false, world });
  const ask = async (path: string, { method, headers, json, from = "10.1.1.1" }: AskOptions = {}) => {
    const request = new Request(`http://127.0.0.1:8081${path}`, {
      method: method ?? (json === undefined ? "GET" : "POST"),
      headers: {
        authorization: `Bearer ${DESK_TOKEN}`,
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    return office.fetch(request, { incoming: { socket: { remoteAddress: from } } });
  };
  return {
    ...{ world, desk, engine, office, ask },
    traffic: fairgate.proxied.gateway.traffic,
    reload: (next) => fairgate.reload(settings(next)),
    drain: () => fairgate.drain(),
  };
}

/** The body of an answer, as the type that the test expects; a refusal unless it says otherwise. */
export async function read<T = OfficeRefusal>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

export interface OfficeRefusal {
  readonly error: { readonly code: string; readonly message: string };
  readonly problems: readonly { readonly path: string; readonly message: string; readonly hint?: string }[];
}
