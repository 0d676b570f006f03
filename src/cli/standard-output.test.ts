import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { BACKLOG_BYTES_MAX, StandardOutput } from "./standard-output.ts";

const LINE = `${"x".repeat(999)}\n`;

test("what would move a terminal's cursor is escaped, and the line means the same", async () => {
  let text = "";
  const output = new StandardOutput(
    new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        text += chunk;
        done();
      },
    }),
  );
  const line = { msg: "\x1b[2J \x9b2J \u202e \u200f größer" };
  output.write(`${JSON.stringify(line)}\n`);
  await output.drained();
  assert.doesNotMatch(text, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200f\u202e]/);
  assert.deepEqual(JSON.parse(text), line);
});

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
