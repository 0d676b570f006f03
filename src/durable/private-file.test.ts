import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { keepPrivate, readPrivate, replacePrivate } from "./private-file.ts";

const IS_WINDOWS = process.platform === "win32" && "it has neither such links nor such rights";

describe("small files for their owner alone", { skip: IS_WINDOWS }, () => {
  const folder = mkdtempSync(join(tmpdir(), "fairgate-private-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string) => join(folder, name);
  const rights = (name: string) => statSync(path(name)).mode & 0o777;

  test("one is made once, for its owner alone, and read again", () => {
    assert.equal(readPrivate(path("a")), null);
    assert.deepEqual(
      keepPrivate(path("a"), () => "one"),
      { text: "one", isOpen: false, isOwn: true },
    );
    assert.equal(keepPrivate(path("a"), () => "other").text, "one");
    assert.equal(rights("a"), 0o600);
    chmodSync(path("a"), 0o644);
    assert.equal(keepPrivate(path("a"), () => "other").isOpen, true);
    assert.equal(rights("a"), 0o600);
  });

  test("a link is not followed: what it points to is neither read nor closed to others nor written over", () => {
    writeFileSync(path("victim"), "theirs");
    chmodSync(path("victim"), 0o644);
    symlinkSync(path("victim"), path("link"));
    symlinkSync(path("nowhere"), path("dangling"));
    for (const name of ["link", "dangling"]) {
      assert.throws(() => readPrivate(path(name)), /is a link/);
      assert.throws(() => keepPrivate(path(name), () => "ours"), /is a link/);
    }
    replacePrivate(path("link"), "note");
    assert.deepEqual([readFileSync(path("victim"), "utf8"), rights("victim")], ["theirs", 0o644]);
    assert.deepEqual([readPrivate(path("link"))?.text, rights("link")], ["note", 0o600]);
  });

  test("a pipe, a folder and a file without end are refused at once", () => {
    execFileSync("mkfifo", [path("pipe")]);
    writeFileSync(path("large"), "x".repeat(70_000));
    for (const name of ["pipe", "."]) assert.throws(() => readPrivate(path(name)), /is no plain file/);
    assert.throws(() => readPrivate(path("large")), /is too large/);
    assert.equal(readPrivate(path("large/below")), null);
  });

  test("another user's file is not taken for our own", {
    skip: process.geteuid?.() !== 0 && "only root can make a file for somebody else",
  }, () => {
    writeFileSync(path("foreign"), "their token", { mode: 0o644 });
    chownSync(path("foreign"), 65_534, 65_534);
    assert.equal(readPrivate(path("foreign"))?.isOwn, false);
    assert.throws(() => keepPrivate(path("foreign"), () => "ours"), /belongs to another user/);
    assert.equal(rights("foreign"), 0o644);
    mkdirSync(path("theirs"));
    writeFileSync(path("theirs/secret"), "their secret");
    for (const name of ["theirs", "theirs/secret"]) chownSync(path(name), 65_534, 65_534);
    assert.equal(keepPrivate(path("theirs/secret"), () => "ours").text, "their secret");
  });
});
