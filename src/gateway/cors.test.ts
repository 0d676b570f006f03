import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { Cors } from "./cors.ts";

const APP = "https://app.example.com";
const asking = (headers: Record<string, string>) => ({ headers }) as unknown as IncomingMessage;
const read = (list: readonly string[]) =>
  Object.fromEntries(list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1]]] : [])));

test("only origins that are named may read, each told by its own name", () => {
  const cors = new Cors([APP, "capacitor://localhost"]);
  assert.equal(read(cors.headersFor(asking({ origin: APP })))["Access-Control-Allow-Origin"], APP);
  const inApp = read(cors.headersFor(asking({ origin: "capacitor://localhost" })));
  assert.equal(inApp["Access-Control-Allow-Origin"], "capacitor://localhost");
  for (const origin of ["https://evil.example", "null", `${APP}.evil.example`, "*", ""])
    assert.deepEqual(read(cors.headersFor(asking({ origin }))), { Vary: "Origin" }, origin);
  assert.deepEqual(new Cors([]).headersFor(asking({ origin: APP })), []);
});

test("a preflight of the site may ask for what it likes, if it is a list of names", () => {
  const cors = new Cors([APP]);
  const preflight = (method: string, headers: string) =>
    read(
      cors.sitePreflight(
        asking({
          origin: APP,
          "access-control-request-method": method,
          "access-control-request-headers": headers,
        }),
      ),
    );
  const given = preflight("PUT", "content-type,x-own");
  assert.equal(given["Access-Control-Allow-Methods"], "PUT");
  assert.equal(given["Access-Control-Allow-Headers"], "content-type,x-own");
  const odd = preflight("PUT\r\nX: y", "a b");
  assert.deepEqual(
    [odd["Access-Control-Allow-Methods"], odd["Access-Control-Allow-Headers"]],
    [undefined, undefined],
  );
});
