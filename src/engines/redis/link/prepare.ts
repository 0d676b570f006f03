/**
 * Checks and prepares a new connection before it is used: the version, that this is a primary, and that it has our functions.
 * They are loaded only when missing, since a Redis that is out of memory refuses to load what it already has.
 */
import type { Library } from "../library.ts";
import type { Connection } from "./connection.ts";
import { isLibraryThere, notPrimary, OLDEST_VERSION, tooOld } from "./problem.ts";

/** Prepares a connection for calls. Rejects when this Redis cannot be used, now or at all. */
export async function prepare(connection: Connection, library: Library): Promise<void> {
  const info = String(await connection.send(["INFO"]));
  const version = field(info, "redis_version") ?? field(info, "valkey_version") ?? "unknown";
  if (!isNewEnough(version)) throw tooOld(version, connection.asked);
  if (field(info, "role") === "slave") throw notPrimary(connection.asked);
  await loadLibrary(connection, library);
}

/** Loads missing functions; it is fine if another gateway was faster. */
export async function loadLibrary(connection: Connection, { parts }: Library): Promise<void> {
  await Promise.all(
    parts.map(async ({ name, text }) => {
      const libraries = await connection.send(["FUNCTION", "LIST", "LIBRARYNAME", name]);
      if (Array.isArray(libraries) && libraries.length > 0) return;
      try {
        await connection.send(["FUNCTION", "LOAD", text]);
      } catch (thrown) {
        if (!isLibraryThere(thrown)) throw thrown;
      }
    }),
  );
}

function field(info: string, name: string): string | undefined {
  const line = info.split(/\r?\n/).find((one) => one.startsWith(`${name}:`));
  return line?.slice(name.length + 1);
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_VERSION.split(".").map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}
