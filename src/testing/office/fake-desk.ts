/**
 * A desk for the office's tests: real rooms in a real memory engine, moved by hand, with the few things that only a
 * whole process has (keys, origins, traffic) as plain values that a test may set.
 */
import { checkRoomChange } from "../../config/room-change.ts";
import { toRules } from "../../config/rules.ts";
import { type RoomInput, type RoomSettings, roomSchema } from "../../config/schema.ts";
import { MemoryEngine } from "../../engines/memory/memory-engine.ts";
import type {
  AsideChange,
  ClusterDesk,
  Desk,
  GatewayTraffic,
  KeyOnRing,
  OriginState,
  UnusedChange,
} from "../../office/desk.ts";
import { createOffice, type Office } from "../../office/office.ts";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";

export const TOKEN = "a-token-that-is-long-enough-for-anyone";

export class FakeDesk implements Desk {
  readonly version = "1.2.3";
  readonly engine: MemoryEngine;
  readonly settings = new Map<string, RoomSettings>();
  readonly world: HandWorld;
  isServing = true;
  ring: KeyOnRing[] = [{ id: "0a", isSigning: true, retiresAt: null }];
  addresses: OriginState[] = [
    { origin: "main", address: "http://127.0.0.1:3000", isUp: true, trouble: null, inFlight: 2 },
  ];
  seen: GatewayTraffic = noTraffic();
  cluster: ClusterDesk | null = null;
  unused: UnusedChange[] = [];
  aside: AsideChange[] = [];

  constructor(world: HandWorld, rooms: Record<string, RoomInput>) {
    this.world = world;
    this.engine = new MemoryEngine(world);
    for (const [name, room] of Object.entries(rooms)) this.#put(name, roomSchema.parse(room));
  }

  rooms(): readonly string[] {
    return [...this.settings.keys()];
  }

  room(name: string): RoomSettings | undefined {
    return this.settings.get(name);
  }

  async change(name: string, change: unknown) {
    const answer = checkRoomChange(this.settings.get(name)!, change, {
      trustedProxies: [],
      checkPage: () => null,
    });
    if (answer.ok) this.#put(name, answer.room);
    return answer;
  }

  unusedChanges(): readonly UnusedChange[] {
    return this.unused;
  }

  async asideChanges(): Promise<readonly AsideChange[]> {
    return this.aside;
  }

  keys(): readonly KeyOnRing[] {
    return this.ring;
  }

  async rotateKeys(): Promise<{ id: string }> {
    const retiresAt = this.world.clock.now() + 86_400_000;
    const id = `0${this.ring.length + 10}`;
    this.ring = [
      { id, isSigning: true, retiresAt: null },
      ...this.ring.map((key) => ({ ...key, isSigning: false, retiresAt })),
    ];
    return { id };
  }

  origins(): readonly OriginState[] {
    return this.addresses;
  }

  async isReady(): Promise<boolean> {
    return this.isServing;
  }

  traffic(): GatewayTraffic {
    return this.seen;
  }

  #put(name: string, room: RoomSettings): void {
    this.settings.set(name, room);
    this.engine.configure(name, toRules(name, room, { budgets: {}, seedOf: () => "00".repeat(32) }));
  }
}

export interface Scene {
  readonly world: HandWorld;
  readonly desk: FakeDesk;
  readonly office: Office;
  /** Asks the office, with the right token unless `headers` say otherwise. */
  ask(path: string, options?: AskOptions): Promise<Response>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly from?: string;
}

/** An office with a desk of one room, `main`, that holds two visitors. */
export function scene(
  options: { token?: string | null; host?: string; rooms?: Record<string, RoomInput> } = {},
): Scene {
  const world = handWorld();
  const desk = new FakeDesk(world, options.rooms ?? { main: { totalActiveUsers: 2 } });
  const { token = TOKEN, host = "127.0.0.1" } = options;
  const office = createOffice({ desk, token, host, world });
  const ask = async (path: string, { method, headers, json, from = "10.1.1.1" }: AskOptions = {}) => {
    const request = new Request(`http://127.0.0.1:8081${path}`, {
      method: method ?? (json === undefined ? "GET" : "POST"),
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    return office.fetch(request, { incoming: { socket: { remoteAddress: from } } });
  };
  return { world, desk, office, ask };
}

/** The body of an answer, as the type that the test expects; a refusal unless it says otherwise. */
export async function read<T = Refusal>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

export interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
  readonly problems: readonly { readonly path: string; readonly message: string; readonly hint?: string }[];
}

export function noTraffic(): GatewayTraffic {
  return {
    requests: {
      proxied: 0,
      waitingPages: 0,
      boards: 0,
      checkIns: 0,
      joins: 0,
      enters: 0,
      leaves: 0,
      refusedForms: 0,
      apiWaits: 0,
      problems: 0,
    },
    tokensRefused: {},
    joinsHeld: {},
    turnedAway: {},
    lanesRefused: {},
    streamsRefused: {},
    connections: null,
    bypassed: {},
    strays: {},
    requestsRefused: {},
    slowCut: {},
    engineFailures: 0,
    sseConnections: 0,
    upgrades: 0,
    connectionsEnded: 0,
    originSeconds: { counts: [0, 0], boundsSeconds: [0.1, 1], sum: 0, total: 0 },
  };
}
