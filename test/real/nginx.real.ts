/** Files of an nginx, requested through the gateway and directly: the answers are the same. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { Run } from "../../src/testing/cli/fairgate.ts";
import { ask, begin, type HttpAnswer, type HttpAsking } from "../../src/visitor/ask.ts";
import { openGate } from "./gate.ts";
import { BYTES, type NginxSites, openNginxSites, WORDS } from "./nginx-sites.ts";
import { enter } from "./program.ts";

let sites: NginxSites;
let gate: Run;
let cookie = "";
before(async () => {
  sites = await openNginxSites();
  gate = await openGate({ origins: [sites.files] });
  cookie = await enter(`${gate.address}/words.txt`);
});
after(async () => {
  await gate?.[Symbol.asyncDispose]();
  await sites?.[Symbol.asyncDispose]();
});

/** Headers that describe an answer. Those for caches are made private, which is tested elsewhere. */
const SAME = [
  ...["content-type", "content-length", "content-encoding", "content-range", "accept-ranges"],
  ...["etag", "last-modified", "location", "vary", "server"],
] as const;

/** Asks both, compares them, and returns the answer through the gateway. */
async function askBoth(path: string, asking: HttpAsking = {}): Promise<HttpAnswer> {
  const direct = await ask(sites.files + path, asking);
  const through = await ask(gate.address + path, { ...asking, headers: { ...asking.headers, cookie } });
  assert.equal(through.status, direct.status);
  for (const name of SAME) assert.equal(through.headers[name], direct.headers[name], name);
  assert.ok(through.body.equals(direct.body), "another body");
  return through;
}

describe("files of an nginx", () => {
  test("a file comes whole, and a part of it as that part", async () => {
    assert.ok((await askBoth("/noise.bin")).body.equals(BYTES));
    const part = await askBoth("/noise.bin", { headers: { range: "bytes=1000-1999" } });
    assert.equal(part.status, 206);
    assert.ok(part.body.equals(BYTES.subarray(1_000, 2_000)));
    const parts = await askBoth("/noise.bin", { headers: { range: `bytes=${BYTES.length}-` } });
    assert.equal(parts.status, 416);
  });

  test("a compressed file stays compressed, and is not sent again when it has not changed", async () => {
    const packed = await askBoth("/words.txt", { headers: { "accept-encoding": "gzip" } });
    assert.equal(packed.headers["content-encoding"], "gzip");
    assert.equal(gunzipSync(packed.body).toString(), WORDS);
    const etag = packed.headers.etag!;
    const again = await askBoth("/words.txt", { headers: { "if-none-match": etag.replace("W/", "") } });
    assert.equal(again.status, 304);
  });

  test("redirects reach the visitor unchanged, and the gateway follows none", async () => {
    assert.equal((await askBoth("/moved")).headers.location, "/words.txt");
    assert.equal((await askBoth("/elsewhere")).headers.location, "https://shop.example/words.txt?a=1");
  });

  test("a slow answer arrives as it is sent, and completely", async () => {
    const answer = await begin(`${gate.address}/slow.bin`, { headers: { cookie } });
    const pieces: Buffer[] = [];
    for await (const piece of answer) pieces.push(piece);
    assert.ok(pieces[0]!.length < BYTES.length / 2, `${pieces[0]!.length} bytes came at once`);
    assert.ok(Buffer.concat(pieces).equals(BYTES));
  });
});
