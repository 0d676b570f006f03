/**
 * Something else answers where an operator's command asks: no escape sequence of it reaches the terminal, as text or as JSON, and
 * whatever form its answer has, the command ends with a sentence.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { fairgate, TOKEN } from "../../src/testing/cli/fairgate.ts";

const WILD = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\u200f";
const COMMANDS = [
  ...[["status"], ["health", "--ready"], ["keys"], ["keys", "rotate"], ["changes"], ["cluster", "status"]],
  ...[["metrics"], ["api", "--json"], ["set", "main", "paused=true"]],
];
const DEEP = `${'{"keys":'.repeat(50_000)}1${"}".repeat(50_000)}`;

/** An answer to every question at once, each text in it wild. */
const EVERYTHING = {
  ...{ isReady: false, isAlive: true, reasons: [WILD], id: WILD, name: WILD, settings: { paused: WILD } },
  keys: [{ id: WILD, isSigning: false, retiresAt: WILD }],
  unused: [{ room: WILD, settings: [WILD], reason: WILD }],
  aside: [{ room: WILD, settings: [WILD], reason: WILD }],
  ...{ rooms: {}, address: WILD, view: null, root: WILD, towardsRoot: WILD, rounds: 1, problems: [WILD] },
  ...{ nodes: [], lost: [{ name: WILD, address: WILD }], error: { code: WILD, message: WILD } },
};

const ANSWERS: Readonly<Record<string, string>> = {
  "wild texts": JSON.stringify(EVERYTHING),
  "null in place of everything": JSON.stringify({
    rooms: [null],
    keys: [null],
    unused: [null],
    aside: [null],
  }),
  nothing: "null",
  "values without bottom": DEEP,
};

async function listening(body: string) {
  const server = createServer((_, response) => response.end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { at: `127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

describe("commands that ask a hostile control address", () => {
  for (const [name, body] of Object.entries(ANSWERS))
    test(`${name}: a sentence or harmless text`, async () => {
      await using server = await listening(body);
      const environment = { FAIRGATE_CONTROL_TOKEN: TOKEN };
      const ends = await Promise.all(
        COMMANDS.map((args) => fairgate([...args, "--control", server.at], { environment })),
      );
      for (const [i, { code, out, err }] of ends.entries()) {
        const command = COMMANDS[i]!.join(" ");
        assert.ok([0, 1, 2].includes(code ?? -1), `${command} ended with ${code}`);
        assert.doesNotMatch(out + err, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200f\u202e]/, command);
        assert.doesNotMatch(err, /^ +at .*:\d+:\d+/m, command);
      }
    });
});
