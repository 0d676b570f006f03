/**
 * A small, cheap HTTP/1.1 load: a number of keep-alive connections, each sending its next request when the last answer is
 * complete. Written on bare sockets so that the client costs less than any server it measures.
 */
import { connect, type Socket } from "node:net";

export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  /** The bytes of the n-th request of a connection. */
  readonly request: (connection: number, n: number) => Buffer;
  /** Status every answer must have; another one fails the bench. */
  readonly status?: number;
  /** Sleep between answers, and leave the core to other processes meanwhile. */
  readonly maySleep?: boolean;
}

/** Answers a second. */
export async function load(options: Load): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: options.connections }, () => open(options.port)));
  let answers = 0;
  const sleep = options.maySleep ? () => {} : stayAwake();
  const from = process.hrtime.bigint();
  const until = from + BigInt(options.milliseconds) * 1_000_000n;
  await Promise.all(
    sockets.map((socket, connection) => drive(socket, connection, options, until, () => answers++)),
  );
  const seconds = Number(process.hrtime.bigint() - from) / 1e9;
  sleep();
  for (const socket of sockets) socket.destroy();
  return answers / seconds;
}

/**
 * Keeps this process from sleeping between answers. Otherwise a server that is a little slower than its client pays for waking it
 * with every answer and a faster one does not, which exaggerates a small difference.
 */
function stayAwake(): () => void {
  let isAwake = true;
  const turn = () => {
    if (isAwake) setImmediate(turn);
  };
  turn();
  return () => {
    isAwake = false;
  };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

function drive(
  socket: Socket,
  connection: number,
  options: Load,
  until: bigint,
  onAnswer: () => void,
): Promise<void> {
  const status = Buffer.from(` ${options.status ?? 200} `);
  return new Promise((resolve, reject) => {
    let n = 0;
    let pending: Buffer | null = null;
    const next = () => socket.write(options.request(connection, n++));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the server closed a connection")));
    socket.on("data", (data: Buffer) => {
      const bytes: Buffer = pending ? Buffer.concat([pending, data]) : data;
      const end = answerEnd(bytes);
      if (end < 0 || bytes.length < end) {
        pending = bytes;
        return;
      }
      pending = null;
      if (bytes.indexOf(status) !== 8)
        return reject(new Error(`unexpected answer: ${bytes.toString("latin1", 0, 200)}`));
      onAnswer();
      if (n % 16 === 0 && process.hrtime.bigint() >= until) {
        socket.removeAllListeners("close");
        resolve();
      } else next();
    });
    next();
  });
}

const HEAD_END = Buffer.from("\r\n\r\n");
const LENGTH = /\r\ncontent-length: (\d+)/i;

/** Where the answer at the start of these bytes ends, or -1 when it is not complete. */
function answerEnd(bytes: Buffer): number {
  const head = bytes.indexOf(HEAD_END);
  if (head < 0) return -1;
  const length = LENGTH.exec(bytes.toString("latin1", 0, head));
  if (!length) throw new Error(`an answer without a length: ${bytes.toString("latin1", 0, head)}`);
  return head + HEAD_END.length + Number(length[1]);
}
