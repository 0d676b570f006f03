/**
 * Waiting for something in another process to become true. A black-box test cannot move that process's time, so it polls, and
 * gives up only after far longer than it should take.
 */
import { connect } from "node:net";

export const ASK_EVERY_MS = 40;
/** Only reached when something is broken: what takes a second alone may take half a minute on a busy machine. */
export const GIVE_UP_MS = 180_000;

/** The first answer of `ask` that is not undefined or false. Fails, naming `what` as it is then, when none comes. */
export async function eventually<T>(
  what: string | (() => string),
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  giveUpMs = GIVE_UP_MS,
): Promise<T> {
  const endAt = Date.now() + giveUpMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > endAt) throw new Error(`in vain: ${typeof what === "string" ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}

/** True when something accepts connections at an address such as `http://127.0.0.1:8080`. */
export function isListening(address: string): Promise<boolean> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
