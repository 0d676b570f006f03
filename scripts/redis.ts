/**
 * The Redis that tests and benches start for themselves: Debian's, installed on the way when that is possible. Valkey
 * does as well.
 */
import { ensureProgram, findProgram, type Program } from "./debian.ts";

const REDIS: Program = {
  name: "Redis 7",
  neededBy: "Redis tests and benches",
  debianPackage: "redis-server",
  places: [
    "/usr/bin/redis-server",
    "/usr/local/bin/redis-server",
    "/opt/homebrew/bin/redis-server",
    "/usr/bin/valkey-server",
    "/usr/local/bin/valkey-server",
    "/opt/homebrew/bin/valkey-server",
  ],
  variable: "FAIRGATE_REDIS_SERVER",
};

/** Where the server program is, or undefined. `FAIRGATE_REDIS_SERVER` names another place. */
export const findRedis = (): string | undefined => findProgram(REDIS);

/** Makes sure there is a Redis, or says in one sentence what to install and stops. */
export const ensureRedis = (): void => ensureProgram(REDIS);
