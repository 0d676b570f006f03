/** Servers that imitate a Redis, for answers that a current one cannot be made to give. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface PretendRedis extends AsyncDisposable {
  readonly port: number;
  /** How many connections were made. */
  readonly connections: number;
}

/** A text as Redis writes it. */
export const bulk = (text: string) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
/** A list as Redis writes it, of parts that are written already. */
export const list = (...parts: readonly string[]) => `*${parts.length}\r\n${parts.join("")}`;

/** Answers everything that comes over a connection with one write. */
export async function pretendRedis(answer: (asked: string, socket: Socket) => string): Promise<PretendRedis> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => socket.write(answer(data.toString(), socket)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return sockets.size;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
