import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { ownFolder } from "../testing/cli/fairgate.ts";
import { askControl, findControl, NotDone } from "./ask-control.ts";

const TOKEN = "a-token-for-tests-only-0123456789-abcdef";
const WITH_TOKEN = { FAIRGATE_CONTROL_TOKEN: TOKEN };
const GET = { method: "GET", path: "/cluster" } as const;

function refusal(words: RegExp, exitCode: 1 | 2) {
  return (cause: unknown) => {
    assert.ok(cause instanceof NotDone);
    assert.match(cause.message, words);
    assert.equal(cause.exitCode, exitCode);
    assert.ok(!cause.message.includes(TOKEN));
    return true;
  };
}

test("where to ask is said by a flag, the settings file, or is the usual address", () => {
  using folder = ownFolder({
    "a.yaml": `control: { listen: ":9000", token: ${TOKEN} }\norigin: { addresses: [http://127.0.0.1:3000] }\nrooms: { main: { totalActiveUsers: 5 } }\n`,
  });
  const config = `${folder.path}/a.yaml`;
  assert.deepEqual(findControl({}, WITH_TOKEN), { at: "127.0.0.1:8081", token: TOKEN });
  assert.deepEqual(findControl({ config }, {}), { at: "127.0.0.1:9000", token: TOKEN });
  assert.deepEqual(findControl({ config, control: "[::1]:9001" }, {}), { at: "[::1]:9001", token: TOKEN });
});

test("without a token, or with an address that is none, nothing is asked", () => {
  assert.throws(() => findControl({}, {}), refusal(/no token.*FAIRGATE_CONTROL_TOKEN/, 2));
  assert.throws(() => findControl({ control: "here" }, WITH_TOKEN), refusal(/--control is "here"/, 2));
  assert.throws(() => findControl({ config: "nowhere.yaml" }, WITH_TOKEN), refusal(/nowhere\.yaml/, 2));
});

async function listening(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("an answer is read, and the token and the body were sent", async (t) => {
  const at = await listening(t, (request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    const { authorization } = request.headers;
    request.on("end", () => response.end(JSON.stringify({ authorization, body, url: request.url })));
  });
  assert.deepEqual(
    await askControl({ at, token: TOKEN }, { method: "POST", path: "/a", body: { name: "b" } }),
    {
      authorization: `Bearer ${TOKEN}`,
      body: '{"name":"b"}',
      url: "/a",
    },
  );
});

test("every other end is a sentence", async (t) => {
  const answers: readonly (readonly [number, string, RegExp])[] = [
    [401, "{}", /wants another token/],
    [404, '{"error":{"message":"No node is lost.\\u001b[2J"}}', /^No node is lost\. \[2J$/],
    [200, "<html>", /is no control address of Fairgate \(200\)/],
    [500, "", /is no control address of Fairgate \(500\)/],
  ];
  for (const [status, body, words] of answers) {
    const at = await listening(t, (_, response) => response.writeHead(status).end(body));
    await assert.rejects(askControl({ at, token: TOKEN }, GET), refusal(words, 1));
  }
  // Nobody ever listens on the first port. One that was given up could be somebody else's by now.
  const at = "127.0.0.1:1";
  await assert.rejects(askControl({ at, token: TOKEN }, GET), refusal(/Nobody listens at .*--control/, 1));
});
