/**
 * Keeps pauses for garbage short. V8 lets the space for new objects grow with what survives in it, to 16 MB; while
 * thousands of connections are opened all of it survives, and one collection takes 15 to 45 ms, in which nobody is
 * served. Where the space may not grow it stays at 1 MB: pauses of 1 to 5 ms, more of them, at no measurable cost for each
 * request (`npm run bench -- gateway`).
 */
import { setFlagsFromString } from "node:v8";

/** To be called before much is loaded: what has grown by then stays. */
export function keepPausesShort(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
