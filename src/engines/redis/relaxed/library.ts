/** The server-side functions of the relaxed queue: a library apart from that of rooms, so that each is loaded only where used. */
import { type Library, libraryOf, luaFiles } from "../library.ts";

/** Reads the library of relaxed queues. */
export function relaxedLibrary(): Library {
  return libraryOf("fairgate_relaxed", luaFiles(new URL("lua/", import.meta.url)));
}
