/** Real Redis processes for tests and benches, in the three shapes in which Redis is run. */
export { type ClusterOptions, type RedisCluster, startCluster } from "./redis-cluster.ts";
export { type RedisSentinels, type SentinelsOptions, startSentinels } from "./redis-sentinels.ts";
export { type RedisOptions, type RedisServer, startRedis } from "./redis-server.ts";
