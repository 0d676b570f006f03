/** `fairgate keys origin`: the key it prints is the one that checks what the origin gets. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jwtVerify } from "jose";
import { fairgate, ownFolder, SECRET, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";

test("`keys origin` prints the key with which an origin checks its visitors' tokens", async () => {
  await using origin = await TestOrigin.open();
  const rooms = "rooms:\n  main:\n    totalActiveUsers: 5\n";
  const file = `listen: 127.0.0.1:0\ncontrol:\n  listen: 127.0.0.1:0\norigin:\n  addresses: ["${origin.address}"]\n  token: hs256\n${rooms}`;
  using folder = ownFolder({ "fairgate.yaml": file });
  const environment = { FAIRGATE_SECRET: SECRET };
  await using run = await startRun([], { cwd: folder.path, environment });
  await ProcessVisitor.arrive(run.address);
  const { code, out } = await fairgate(["keys", "origin"], { environment });
  assert.equal(code, 0);
  const token = String(origin.arrived[0]?.headers["fairgate-pass"]);
  const key = Buffer.from(out.trim(), "base64url");
  const { payload } = await jwtVerify(token, key, {
    issuer: "fairgate",
    audience: "main",
    algorithms: ["HS256"],
  });
  assert.equal(payload.sub, origin.arrived[0]?.headers["fairgate-visitor"]);
});

test("`keys origin` without a secret says where to put one", async () => {
  using folder = ownFolder();
  const { code, out, err } = await fairgate(["keys", "origin"], { cwd: folder.path });
  assert.equal(code, 2);
  assert.equal(out, "");
  assert.match(err, /Set FAIRGATE_SECRET/);
});
