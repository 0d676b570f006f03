import assert from "node:assert/strict";
import { chmodSync, statSync } from "node:fs";
import { test } from "node:test";
import { settingsFrom } from "../../config/load.ts";
import type { Settings } from "../../config/schema.ts";
import { ownFolder } from "../../testing/cli/fairgate.ts";
import { noteAddress, notedAddress, tokenFor } from "./control-files.ts";

const SET = "a-token-for-tests-only-0123456789-abcdef";

function settings(data: string | null, token: string | null = null): Settings {
  const input = { data, control: { token }, rooms: { main: { totalActiveUsers: 1 } } };
  const needs = { needsSecret: false, needsOrigin: false };
  const result = settingsFrom(input, { environment: {}, readFile: () => "", ...needs });
  assert.ok(result.ok);
  return result.settings;
}

test("a token is made at the first start, kept for its owner alone, and the same at the next", () => {
  using folder = ownFolder();
  const first = tokenFor(settings(folder.path));
  assert.match(first.token, /^[\w-]{43}$/);
  assert.equal(statSync(first.file!).mode & 0o777, 0o600);
  assert.deepEqual(tokenFor(settings(folder.path)), first);
  noteAddress(folder.path, { host: "127.0.0.1", port: 9_000 });
  assert.equal(notedAddress(folder.path), "127.0.0.1:9000");
});

test("the settings' token goes before the kept one; without a directory one is made for the process", () => {
  using folder = ownFolder();
  tokenFor(settings(folder.path));
  assert.deepEqual(tokenFor(settings(folder.path, SET)), {
    ...{ token: SET, from: "settings", file: null, caution: null },
  });
  const [one, other] = [tokenFor(settings(null)), tokenFor(settings(null))];
  assert.equal(one.from, "process");
  assert.notEqual(one.token, other.token);
});

test("a file that others could read is closed to them, and that is told; one without a token is refused", () => {
  using folder = ownFolder();
  const { file } = tokenFor(settings(folder.path));
  chmodSync(file!, 0o644);
  assert.match(tokenFor(settings(folder.path)).caution ?? "", /could be read by others/);
  assert.equal(statSync(file!).mode & 0o777, 0o600);
  folder.write("control-token", "short\n");
  assert.throws(() => tokenFor(settings(folder.path)), /holds no token/);
});
