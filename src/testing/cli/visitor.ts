/** A visitor without a browser: keeps the one cookie, and asks for JSON so that a wait comes as numbers. */
import type { Board } from "../../core/board.ts";

export type Standing =
  | { readonly isIn: true }
  | { readonly isIn: false; readonly ahead: number; readonly message: string };

export class Visitor {
  /** As the browser would send it; empty before the first visit. */
  cookie = "";
  address: string;

  constructor(address: string) {
    this.address = address;
  }

  /** A visitor who has come already, and how they stand. */
  static async arrive(address: string): Promise<Visitor & { standing: Standing }> {
    const visitor = new Visitor(address);
    return Object.assign(visitor, { standing: await visitor.come() });
  }

  /** Asks for the site: in, or waiting with so many ahead. */
  async come(): Promise<Standing> {
    const answer = await this.fetch("/", { headers: { accept: "application/json" } });
    if (answer.status === 200) {
      await answer.text();
      return { isIn: true };
    }
    const body = (await answer.json()) as { ahead: number; message: string };
    if (answer.status !== 429) throw new Error(`status ${answer.status}: ${JSON.stringify(body)}`);
    return { isIn: false, ahead: body.ahead, message: body.message };
  }

  async isIn(): Promise<boolean> {
    return (await this.come()).isIn;
  }

  /** People ahead; fails for someone who is in. */
  async ahead(): Promise<number> {
    const standing = await this.come();
    if (standing.isIn) throw new Error("this visitor is in, and does not wait");
    return standing.ahead;
  }

  /** POST to one of the room's own endpoints. */
  async post(endpoint: string): Promise<{ status: string }> {
    const answer = await this.fetch(`/.fairgate/main/${endpoint}`, { method: "POST" });
    return (await answer.json()) as { status: string };
  }

  async leave(): Promise<void> {
    await this.post("leave");
  }

  async fetch(
    path: string,
    options: RequestInit & { headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const headers = { accept: "text/html", ...options.headers, ...(this.cookie && { cookie: this.cookie }) };
    const answer = await fetch(this.address + path, { ...options, headers });
    for (const given of answer.headers.getSetCookie()) this.cookie = given.split(";", 1)[0]!;
    return answer;
  }
}

/** The room's board, as everyone sees it. */
export async function readBoard(address: string, room = "main"): Promise<Board> {
  const answer = await fetch(`${address}/.fairgate/${room}/board`);
  return (await answer.json()) as Board;
}
