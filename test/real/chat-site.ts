/** The chat in socket.io (`sites/socket-io`), and what it knows of its connections. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { REAL, REAL_MODULES } from "../../scripts/real-sites.ts";
import { Child } from "../../src/testing/cli/child.ts";
import type { Site } from "./site.ts";

const PROGRAM = join(REAL, "sites", "socket-io", "server.mjs");

/** What the chat itself sees. */
export interface ChatState {
  readonly name: string;
  /** Visitors with open WebSockets: how many each has, by the visitor's id from the gateway. */
  readonly visitors: Readonly<Record<string, { readonly sockets: number; readonly id: string | null }>>;
  /** Everyone who ever had one. */
  readonly seen: readonly string[];
  /** The most visitors who had one at the same time. */
  readonly mostAtOnce: number;
}

export interface ChatSite extends Site {
  state(): Promise<ChatState>;
}

export async function openChatSite(name = "chat"): Promise<ChatSite> {
  if (!existsSync(join(REAL_MODULES, "socket.io")))
    throw new Error("socket.io is not installed; `npm run test:real` does it");
  const child = new Child(process.execPath, [PROGRAM, name]);
  const [, port] = await child.prints(/"port":(\d+)/);
  const address = `http://127.0.0.1:${port}`;
  return {
    address,
    state: async () => (await (await fetch(`${address}/state`)).json()) as ChatState,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
