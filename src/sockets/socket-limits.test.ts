import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { settingsFrom } from "../config/load.ts";
import type { Settings, SettingsInput } from "../config/schema.ts";
import { withSlack } from "./connections.ts";
import { socketCautions, socketLimits } from "./socket-limits.ts";

function settings(input: Partial<SettingsInput> = {}): Settings {
  const whole: SettingsInput = {
    secret: "a-secret-for-tests-only-0123456789-abcdef",
    origin: { addresses: ["http://127.0.0.1:3000"] },
    rooms: { main: { totalActiveUsers: 1 } },
    ...input,
  };
  const result = settingsFrom(whole, { environment: {}, readFile: () => "" });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.settings;
}

test("with many files, visitors get all that origins and the rest do not need", () => {
  const { visitors, reserve } = socketLimits(settings(), 20_000);
  assert.deepEqual(reserve, { runtime: 48, control: 128, redis: 0, cluster: 0, origins: 512 });
  assert.deepEqual(visitors, { max: 19_056, perAddressMax: 2_382 });
});

test("with few files, origins get no more than visitors", () => {
  const { visitors, reserve } = socketLimits(settings(), 1_024);
  assert.ok(reserve.origins >= visitors.max && reserve.origins <= visitors.max * 1.1);
});

test("whatever the limit on files, all together never take more", () => {
  const redis = { url: "redis://127.0.0.1:6379" };
  fc.assert(
    fc.property(fc.integer({ min: 256, max: 2_000_000 }), fc.boolean(), (files, hasRedis) => {
      const { visitors, control, reserve, streams } = socketLimits(
        settings(hasRedis ? { redis } : {}),
        files,
      );
      const { runtime, redis: forRedis, cluster, origins } = reserve;
      assert.ok(withSlack(visitors.max) + control.max + runtime + forRedis + cluster + origins <= files);
      assert.ok(visitors.max >= files / 8 || visitors.max === 20_000);
      assert.ok(streams.max < visitors.max && streams.perAddressMax < visitors.perAddressMax);
    }),
  );
});

test("an origin that several rooms name is counted once, each of its addresses with all its connections", () => {
  const origin = { addresses: ["http://10.0.0.1:80", "http://10.0.0.2:80"], connectionsMax: 100 };
  const room = { totalActiveUsers: 1, origin };
  const { reserve } = socketLimits(
    settings({ rooms: { a: { ...room, path: "/a" }, b: { ...room, path: "/b" } } }),
    20_000,
  );
  assert.equal(reserve.origins, 512 + 200);
});

test("without a limit on files there is one all the same", () => {
  assert.equal(socketLimits(settings(), Number.POSITIVE_INFINITY).visitors.max, 20_000);
});

test("a number that was set is used, and cut to what there are files for", () => {
  const few = socketLimits(
    settings({ limits: { connectionsMax: 100, connectionsPerAddressMax: 7 } }),
    20_000,
  );
  assert.deepEqual(few.visitors, { max: 100, perAddressMax: 7 });
  assert.equal(few.isCut, false);
  const many = socketLimits(settings({ limits: { connectionsMax: 100_000 } }), 20_000);
  assert.deepEqual([many.visitors.max, many.isCut], [19_056, true]);
});

test("few files, and a number that they cannot hold, are told in words; enough of them are not", () => {
  assert.deepEqual(socketCautions(socketLimits(settings(), 20_000)), []);
  const [few, cut] = socketCautions(socketLimits(settings({ limits: { connectionsMax: 5_000 } }), 1_024));
  assert.match(few!, /^This process may open 1024 files, .* LimitNOFILE= in systemd/);
  assert.match(cut!, /^limits\.connectionsMax is more than the limit on open files \(1024\)/);
});
