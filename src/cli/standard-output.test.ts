import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { BACKLOG_BYTES_MAX, StandardOutput } from "./standard-output.ts";

const LINE = `${"x".repeat(999)}\n`;

test("lines that nobody reads are kept up to a limit; beyond it they are dropped, and counted once they are read", async () => {
  let text = "";
  let isRead = false;
  const waiting: (() => void)[] = [];
  const pipe = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      text += chunk;
      if (isRead) done();
      else waiting.push(done);
    },
  });
  const output = new StandardOutput(pipe);
  const kept = Math.floor(BACKLOG_BYTES_MAX / LINE.length);
  for (let n = 0; n < kept + 7; n++) output.write(LINE);
  isRead = true;
  for (const done of waiting) done();
  await output.drained();
  output.write("after\n");
  await output.drained();
  const lines = text.split("\n");
  assert.deepEqual([lines.length, lines.at(-2)], [kept + 3, "after"]);
  const { code, lines: dropped } = JSON.parse(lines.at(-3)!) as { code: string; lines: number };
  assert.deepEqual([code, dropped], ["LOG_DROPPED", 7]);
});
