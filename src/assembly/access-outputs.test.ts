import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Output } from "../gateway/access-log/line-writer.ts";
import { destinationOf } from "./access-outputs.ts";

const folder = mkdtempSync(join(tmpdir(), "fairgate-outputs-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

function write(
  output: Output,
  text: string,
): Promise<{ error: NodeJS.ErrnoException | null; written: number }> {
  return new Promise((resolve) => {
    output.write(Buffer.from(text), (error, written) => resolve({ error, written }));
  });
}

test("a file is added to, and is not for everyone to read", async () => {
  const name = join(folder, "access.log");
  for (const text of ["one\n", "two\n"]) {
    const output = await destinationOf(name).open();
    assert.deepEqual(await write(output, text), { error: null, written: 4 });
    output.writeNow(Buffer.from("and at once\n"));
    output.close();
  }
  assert.equal(readFileSync(name, "utf8"), "one\nand at once\ntwo\nand at once\n");
  assert.equal(statSync(name).mode & 0o007, 0);
});

test("a file is the same by either name, and another after it was moved away", async () => {
  const name = join(folder, "moved.log");
  const first = await destinationOf(name).open();
  const second = await destinationOf(`${folder}/./moved.log`).open();
  rmSync(name);
  const third = await destinationOf(name).open();
  assert.equal(first.identity, second.identity);
  assert.notEqual(first.identity, third.identity);
  for (const output of [first, second, third]) output.close();
});

test("a full disk is an error for the writer", async () => {
  const output = await destinationOf("/dev/full").open();
  const { error, written } = await write(output, "line\n");
  assert.deepEqual([error?.code, written], ["ENOSPC", 0]);
  output.close();
});

test("what cannot be opened is told in words, and a pipe without a reader is not waited for", async () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const wrong = (name: string) =>
    assert.rejects(destinationOf(name).open(), {
      message: new RegExp(`^the access log ${name} cannot be opened: `),
    });
  await wrong(pipe);
  await wrong(folder);
  await assert.rejects(destinationOf(join(folder, "no", "file")).open(), /there is no such folder/);
});
