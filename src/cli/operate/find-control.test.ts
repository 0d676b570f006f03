import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import { test } from "node:test";
import { ownFolder } from "../../testing/cli/fairgate.ts";
import { type ControlFlags, findControl } from "./find-control.ts";
import { NotDone } from "./not-done.ts";

const token = (of: string) => `a-token-for-tests-only-0123456789-${of}`;

/** A folder with every source in it. */
function everySource() {
  const yaml = (more: string) =>
    `control: { ${more} }\ndata: ./kept\norigin: { addresses: [http://127.0.0.1:3000] }\nrooms: { main: {} }\n`;
  const folder = ownFolder({
    "said.yaml": yaml(`listen: ":9000", token: ${token("settings")}`),
    "silent.yaml": yaml("listen: 127.0.0.1:0"),
    "broken.yaml": "control: [\n",
    "flag-token": `${token("flag")}\n`,
  });
  const kept = ownFolder({ "control-token": `${token("kept")}\n`, "control-address": "0.0.0.0:9100\n" });
  const path = (name: string) => `${folder.path}/${name}`;
  folder.write("silent.yaml", yaml("listen: 127.0.0.1:0").replace("./kept", kept.path));
  for (const name of ["flag-token", `../${kept.path.split("/").at(-1)}/control-token`])
    chmodSync(path(name), 0o600);
  const close = () => [folder, kept].map((one) => one[Symbol.dispose]());
  return { path, data: kept.path, [Symbol.dispose]: () => void close() };
}

test("address and token come from flags, then the environment, the settings file, the data directory", async () => {
  using all = everySource();
  const environment = { FAIRGATE_CONTROL: "127.0.0.1:9200", FAIRGATE_CONTROL_TOKEN: token("environment") };
  const said = { config: all.path("said.yaml") };
  const silent = { config: all.path("silent.yaml") };
  const cases: [ControlFlags, object, string, string][] = [
    [
      { ...said, control: "[::1]:9300", tokenFile: all.path("flag-token") },
      environment,
      "[::1]:9300",
      "flag",
    ],
    [{ ...said, data: all.data }, environment, "127.0.0.1:9100", "kept"],
    [said, environment, "127.0.0.1:9200", "environment"],
    [said, {}, "127.0.0.1:9000", "settings"],
    [silent, {}, "127.0.0.1:9100", "kept"],
    [{ ...silent, control: ":9400" }, {}, "127.0.0.1:9400", "kept"],
    [{}, { FAIRGATE_CONTROL_TOKEN: token("environment") }, "127.0.0.1:8081", "environment"],
    // What is known without the file is not looked for in it.
    [{ control: "127.0.0.1:9", config: all.path("broken.yaml") }, environment, "127.0.0.1:9", "environment"],
  ];
  for (const [flags, variables, at, from] of cases) {
    const found = await findControl(flags, variables as Record<string, string>);
    assert.deepEqual([found.at, found.token, found.caution], [at, token(from), null]);
    assert.ok(!found.tokenFrom.includes(token(from)));
  }
});

test("a data directory that nobody named gets no token but its own", async () => {
  using folder = ownFolder();
  mkdirSync(`${folder.path}/fairgate-data`);
  folder.write("fairgate-data/control-token", `${token("kept")}\n`);
  folder.write("fairgate-data/control-address", "attacker.example:80\n");
  chmodSync(`${folder.path}/fairgate-data/control-token`, 0o600);
  const before = process.cwd();
  process.chdir(folder.path);
  try {
    const own = await findControl({}, {});
    assert.deepEqual([own.at, own.token], ["attacker.example:80", token("kept")]);
    const set = await findControl({}, { FAIRGATE_CONTROL_TOKEN: token("environment") });
    assert.deepEqual([set.at, set.token], ["127.0.0.1:8081", token("environment")]);
  } finally {
    process.chdir(before);
  }
});

test("what a data directory holds in place of the token and the address is not followed, waited for or shown", async () => {
  using all = everySource();
  using folder = ownFolder();
  const path = (name: string) => `${folder.path}/${name}`;
  const refused = (words: RegExp) =>
    assert.rejects(findControl({ data: folder.path }, {}), (cause) => {
      assert.ok(cause instanceof NotDone);
      assert.match(cause.message, words);
      assert.doesNotMatch(cause.message, /a-token-for-tests|[\x00-\x1f\x7f-\x9f]/);
      return true;
    });
  symlinkSync(all.path("flag-token"), path("control-token"));
  await refused(/control-token is a link/);
  rmSync(path("control-token"));
  folder.write("control-token", `${token("kept")}\n`);
  for (const address of ["\x1b]0;owned\x07:80", "\x9b2J:80", "evil.example/?x=:80", "evil.example#:80"]) {
    folder.write("control-address", address);
    await refused(/should be an address such as/);
  }
  rmSync(path("control-address"));
  mkdirSync(path("control-address"));
  await refused(/is no plain file/);
  rmdirSync(path("control-address"));
  if (process.platform === "win32") return;
  execFileSync("mkfifo", [path("control-address")]);
  await refused(/is no plain file/);
});

test("what cannot be found or read is a sentence, without the token in it", async () => {
  using all = everySource();
  const set = { FAIRGATE_CONTROL_TOKEN: token("environment") };
  const cases: [ControlFlags, object, RegExp][] = [
    [{}, {}, /no token.*--data.*FAIRGATE_CONTROL_TOKEN/],
    [{ control: "here" }, set, /--control is "here"/],
    [{ control: `${token("x")}@127.0.0.1:80` }, set, /--control is "\*+@127/],
    [{ config: "nowhere.yaml" }, {}, /nowhere\.yaml cannot be read/],
    [{ config: all.path("broken.yaml") }, {}, /broken\.yaml:/],
    [{ tokenFile: "nowhere" }, {}, /no file nowhere/],
    [{ tokenFile: all.path("said.yaml") }, {}, /holds no token/],
  ];
  for (const [flags, variables, words] of cases)
    await assert.rejects(findControl(flags, variables as Record<string, string>), (cause) => {
      assert.ok(cause instanceof NotDone);
      assert.match(cause.message, words);
      assert.doesNotMatch(cause.message, /a-token-for-tests/);
      return cause.exitCode === 2;
    });
});

test("a token that others can read is used, and that is told", async () => {
  using folder = ownFolder({ token: token("open") });
  chmodSync(`${folder.path}/token`, 0o640);
  const found = await findControl({ tokenFile: `${folder.path}/token` }, {});
  assert.match(found.caution ?? "", /chmod 600/);
});
