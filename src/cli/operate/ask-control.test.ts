import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createPlainServer } from "node:net";
import { type TestContext, test } from "node:test";
import { askControl } from "./ask-control.ts";
import type { ControlPlace } from "./find-control.ts";
import { NotDone } from "./not-done.ts";

const TOKEN = "a-token-for-tests-only-0123456789-abcdef";
const GET = { method: "GET", path: "/cluster" } as const;

function place(at: string): ControlPlace {
  return { at, token: TOKEN, tokenFrom: "FAIRGATE_CONTROL_TOKEN", caution: null };
}

function refusal(words: RegExp, exitCode: 1 | 2 = 1) {
  return (cause: unknown) => {
    assert.ok(cause instanceof NotDone);
    assert.match(cause.message, words);
    assert.equal(cause.exitCode, exitCode);
    assert.ok(!cause.message.includes(TOKEN));
    return true;
  };
}

async function listening(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
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
  assert.deepEqual(await askControl(place(at), { method: "POST", path: "/a", body: { name: "b" } }), {
    authorization: `Bearer ${TOKEN}`,
    body: '{"name":"b"}',
    url: "/a",
  });
});

test("every other end is a sentence", async (t) => {
  const problems =
    '{"error":{"code":"bad_change","message":"No."},"problems":[{"message":"\\u001b[2Jx is y","hint":"Do."},null]}';
  const answers: readonly (readonly [number, string, RegExp, (1 | 2)?])[] = [
    [401, "{}", /wants another token than the one from FAIRGATE_CONTROL_TOKEN: .*--token-file/],
    [404, '{"error":{"code":"no_such_room","message":"There are: main."}}', /^There are: main\.$/, 2],
    [422, problems, /^No\.\n {3}\[2Jx is y\. Do\.\n/, 2],
    [
      503,
      '{"error":{"code":"engine_away","message":"x"}}',
      /engine does not answer, so nothing was done.*doctor/,
    ],
    [200, "null]", /\(it answers with status 200\)/],
    [404, '{"error":{"message":"No node is lost.\\u001b[2J"}}', /^No node is lost\. \[2J$/],
    [200, "<html>", /is no control address of this version of Fairgate/],
    [500, "", /is no control address of this version of Fairgate/],
  ];
  for (const [status, body, words, exitCode = 1] of answers) {
    const at = await listening(t, (_, response) => response.writeHead(status).end(body));
    await assert.rejects(askControl(place(at), GET), refusal(words, exitCode));
  }
  // Nobody ever listens on the first port. One that was given up could be somebody else's by now.
  const at = "127.0.0.1:1";
  await assert.rejects(askControl(place(at), GET), refusal(/Nobody listens at .*--control/));
});

test("what answers without end, not at all, or in no HTTP is left after a while", async (t) => {
  const endless = await listening(t, (_, response) => {
    const chunk = Buffer.alloc(1_048_576, 32);
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", more);
    more();
  });
  const silent = await listening(t, () => {});
  const garbage = createPlainServer((socket) => socket.end("\x1b[2J hello\r\n\r\n"));
  await new Promise<void>((resolve) => garbage.listen(0, "127.0.0.1", resolve));
  t.after(() => garbage.close());
  const plain = `127.0.0.1:${(garbage.address() as AddressInfo).port}`;
  await Promise.all([
    assert.rejects(askControl(place(endless), GET), refusal(/its answer has no end/)),
    assert.rejects(
      askControl(place(silent), { ...GET, answerMaxMs: 100 }),
      refusal(/did not answer within 0\.1 s/),
    ),
    assert.rejects(askControl(place(plain), GET), refusal(/it does not speak HTTP/)),
  ]);
});
