/** A small HTTP/1.1 client over a fixed set of keep-alive sockets, for benches whose visitors decide as they go. */
import { connect, type Socket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly body: string;
  /** The cookie that came with it, name and value, or null. */
  readonly cookie: string | null;
}

export class Client {
  readonly #idle: Socket[] = [];
  readonly #waiting: ((socket: Socket) => void)[] = [];
  readonly #sockets: Socket[];

  private constructor(sockets: Socket[]) {
    this.#sockets = sockets;
    this.#idle = [...sockets];
  }

  static async open(port: number, connections: number): Promise<Client> {
    const open = () =>
      new Promise<Socket>((resolve, reject) => {
        const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket));
        socket.once("error", reject);
      });
    return new Client(await Promise.all(Array.from({ length: connections }, open)));
  }

  async ask(method: string, path: string, cookie: string | null): Promise<Answer> {
    const socket = this.#idle.pop() ?? (await new Promise<Socket>((resolve) => this.#waiting.push(resolve)));
    const length = method === "POST" ? "Content-Length: 0\r\n" : "";
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: shop.example\r\nAccept: text/html\r\n${length}${cookie ? `Cookie: ${cookie}\r\n` : ""}\r\n`,
    );
    const answer = await readAnswer(socket);
    const next = this.#waiting.shift();
    if (next) next(socket);
    else this.#idle.push(socket);
    return answer;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

function readAnswer(socket: Socket): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = "";
    const onData = (data: Buffer) => {
      text += data.toString("latin1");
      const answer = parse(text);
      if (!answer) return;
      socket.off("data", onData);
      socket.off("close", onClose);
      resolve(answer);
    };
    const onClose = () => reject(new Error(`the server closed the connection after: ${text.slice(0, 200)}`));
    socket.on("data", onData);
    socket.once("close", onClose);
  });
}

function parse(text: string): Answer | null {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return null;
  const length = /\r\ncontent-length: (\d+)/i.exec(text);
  if (!length) throw new Error(`an answer without a length: ${text.slice(0, head)}`);
  const body = text.slice(head + 4);
  if (body.length < Number(length[1])) return null;
  const cookie = /\r\nset-cookie: ([^;]*)/i.exec(text.slice(0, head + 2));
  return { status: Number(text.slice(9, 12)), body, cookie: cookie?.[1] ?? null };
}
