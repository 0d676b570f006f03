/** A shop's ledger on Redis: reservations a second through one gateway and through two. */
import { startRedis } from "../src/testing/redis/servers.ts";
import { measurePair, type Row, row } from "./bench.ts";
import { startOneOfMany } from "./child.ts";

const GATEWAYS = 2;
const SLICE_MS = 1_000;

export async function redisRows(isQuick: boolean): Promise<Row[]> {
  const verified: string[] = [];
  const measured = await measurePair(isQuick ? 1 : 3, isQuick ? 2 : 5, async () => {
    const redis = await startRedis();
    const gateways = await Promise.all(
      Array.from({ length: GATEWAYS }, () =>
        startOneOfMany<object>("shop-on-redis", [`redis://127.0.0.1:${redis.port}`]),
      ),
    );
    const perSecond = async (asked: typeof gateways) => {
      const startAt = performance.now();
      const granted = await Promise.all(asked.map((one) => one.ask<number>({ ms: SLICE_MS })));
      return granted.reduce((sum, one) => sum + one, 0) / ((performance.now() - startAt) / 1_000);
    };
    return {
      value: () => perSecond(gateways),
      baseline: () => perSecond(gateways.slice(0, 1)),
      stop: async () => {
        verified.push(await gateways[0]!.ask<string>("verify"));
        for (const gateway of gateways) await gateway.stop();
        await redis.stop();
      },
    };
  });
  return [
    row({ name: "on Redis, through two gateways at once, beside one of them", unit: "holds/s", ...measured }),
    row({
      name: "ledgers on Redis whose recount differs afterwards",
      unit: "",
      value: verified.filter((kind) => kind !== "clean").length,
      goal: { of: "value", atMost: 0 },
    }),
  ];
}
