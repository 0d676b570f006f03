/** Raw bytes, for what no client would send. */
import net from "node:net";

/** Bytes as written to the port, and everything that comes back until the connection is closed or `enough` is seen. */
export function talk(port: number, text: string | Buffer, enough?: RegExp): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    let heard = "";
    const done = () => {
      socket.destroy();
      resolve(heard);
    };
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
      if (enough?.test(heard)) done();
    });
    socket
      .on("error", () => {})
      .on("close", done)
      .on("end", done);
    socket.write(typeof text === "string" ? Buffer.from(text, "latin1") : text);
  });
}
