/** The server-side functions of the relaxed queue, in a library of their own: who uses the one need not load the other. */
import { type Library, libraryOf, luaFiles } from "../library.ts";

/** Reads the library of relaxed queues. */
export function relaxedLibrary(): Library {
  return libraryOf("fairgate_relaxed", luaFiles(new URL("lua/", import.meta.url)));
}
