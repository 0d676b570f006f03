/**
 * The Redis that tests and benches start for themselves: Debian's, installed on the way when that is possible. Valkey
 * does as well.
 */
import { ensurePrograms, findProgram, type Program } from "./debian.ts";

export const REDIS: Program = {
  name: "Redis 7",
  why: "the Redis tests and benches start servers of their own",
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

/** Makes sure there is a Redis, or says what to install and stops. */
export const ensureRedis = (): void => ensurePrograms([REDIS]);
