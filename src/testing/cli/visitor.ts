/** A visitor of a gateway in another process, who asks for JSON, to read the wait as numbers. */
import type { Board } from "../../core/board.ts";
import { ask } from "../../visitor/ask.ts";
import { HttpVisitor } from "../../visitor/http-visitor.ts";

export type VisitorStanding =
  | { readonly isIn: true }
  | { readonly isIn: false; readonly ahead: number; readonly message: string };

export class ProcessVisitor extends HttpVisitor {
  /** A visitor who has made a first request, and its answer. */
  static async arrive<V extends ProcessVisitor>(
    this: new (
      address: string,
    ) => V,
    address: string,
  ): Promise<V & { standing: VisitorStanding }> {
    const visitor = new this(address);
    return Object.assign(visitor, { standing: await visitor.come() });
  }

  /** Asks for the site: in, or waiting, with the number ahead. */
  async come(): Promise<VisitorStanding> {
    const { status, text } = await this.ask("/", { headers: { accept: "application/json" } });
    if (status === 200) return { isIn: true };
    if (status !== 429) throw new Error(`status ${status}: ${text}`);
    const { ahead, message } = JSON.parse(text) as { ahead: number; message: string };
    return { isIn: false, ahead, message };
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

  async leave(): Promise<void> {
    await this.call("leave");
  }
}

/** The room's board, as everyone sees it. */
export async function readBoard(address: string, room = "main"): Promise<Board> {
  const { text } = await ask(`${address}/.fairgate/${room}/board`);
  return JSON.parse(text) as Board;
}
