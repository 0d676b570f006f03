import assert from "node:assert/strict";
import { test } from "node:test";
import type { Settings } from "../config/schema.ts";
import { startFailure } from "./start-failure.ts";

const settings = { data: "/var/lib/fairgate" } as Settings;

test("a data directory that cannot be used is named, with the reason and what to do", () => {
  const failed = (code: string, path: string) =>
    startFailure(Object.assign(new Error("raw"), { code, path }), settings);
  assert.match(
    failed("EACCES", "/var/lib/fairgate/secret"),
    /fairgate\/secret may not be used by the user .* --data\.$/,
  );
  assert.match(failed("EEXIST", "/var/lib/fairgate"), /fairgate is a file, not a directory; /);
  assert.equal(failed("EACCES", "/etc/tls.pem"), "Fairgate could not start: raw");
});
