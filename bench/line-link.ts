/** Lines of words over a socket, either way. Lines of one turn of the event loop go out in one write. */
import type { Socket } from "node:net";

export class LineLink {
  readonly #socket: Socket;
  #lines: string[] = [];

  /** `onLine` is given the words of each line that comes. */
  constructor(socket: Socket, onLine: (words: string[]) => void) {
    this.#socket = socket;
    let rest = "";
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) onLine(line.split(" "));
    });
    // A lost connection is noticed by the callers that wait for an answer.
    socket.on("error", () => {});
  }

  say(line: string): void {
    if (this.#lines.push(line) > 1) return;
    setImmediate(() => {
      this.#socket.write(`${this.#lines.join("\n")}\n`, "latin1");
      this.#lines = [];
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
