/** The files in `deploy` that cannot be run by a test are what their readers take: Docker, Docker Compose and systemd. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { findProgram } from "../../scripts/debian.ts";
import { EXECUTABLE, ensureExecutable, RELEASE_TOOLS } from "../../scripts/executable.ts";
import { SYSTEMD } from "../../scripts/systemd.ts";
import { fairgate, ownFolder, SECRET } from "../../src/testing/cli/fairgate.ts";
import { proves } from "../../src/testing/requirements/proves.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOCKER = join(ROOT, "deploy", "docker");
const read = (name: string) => readFileSync(join(ROOT, "deploy", name), "utf8");
const tools = createRequire(join(RELEASE_TOOLS, "package.json"));

before(ensureExecutable);

describe("the Dockerfile", () => {
  const dockerfile = read("docker/Dockerfile");
  const instructions = dockerfile
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.split(/\s+/));

  test("has nothing that two linters would change, and they can see", () => {
    using folder = ownFolder({
      good: dockerfile,
      bad: "FROM node\nRUN cd / && sudo apt-get install curl\nCMD run\nUSR x\n",
    });
    const { validate } = tools("dockerfile-utils") as { validate(text: string): unknown[] };
    const linter = join(RELEASE_TOOLS, "node_modules/dockerlinter/bin/dockerfilelinter.js");
    const lint = (name: string) =>
      spawnSync(process.execPath, [linter, "-s", "none", "-e", "-f", join(folder.path, name)], {
        encoding: "utf8",
      });
    assert.deepEqual(validate(dockerfile), []);
    const { status, stdout } = lint("good");
    assert.equal(status, 0, stdout);
    assert.notDeepEqual(validate(readFileSync(join(folder.path, "bad"), "utf8")), []);
    assert.equal(lint("bad").status, 1);
  });

  test("copies files that are there and that the build is given", () => {
    const given = read("docker/Dockerfile.dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"));
    const copied = instructions
      .filter(([name, from]) => name === "COPY" && !from?.startsWith("--from"))
      .flatMap((words) => words.slice(1, -1));
    assert.deepEqual(
      copied.filter((file) => !existsSync(join(ROOT, file)) || !given.includes(`!${file}`)),
      [],
    );
    assert.ok(copied.includes("src"));
  });

  test("starts the program itself, not by a shell that keeps signals, and not as root", () => {
    const last = (name: string) =>
      instructions
        .findLast(([first]) => first === name)
        ?.slice(1)
        .join(" ");
    assert.deepEqual(
      [last("ENTRYPOINT"), last("CMD"), last("USER")],
      ['["fairgate"]', '["run"]', "1000:1000"],
    );
    assert.ok(existsSync(join(ROOT, "src/cli/main.ts")) && dockerfile.includes("dist/cli/main.js"));
  });
});

describe("the compose file", () => {
  interface Compose {
    services: Record<
      string,
      { read_only?: boolean; volumes: string[]; build?: { context: string; dockerfile: string } }
    >;
  }
  const compose = parse(read("docker/compose.yaml")) as Compose;

  test("is of the Compose Specification and has nothing that a linter would change, and it can see", () => {
    using folder = ownFolder({ "bad.yaml": read("docker/compose.yaml").replace("read_only", "read_onyl") });
    const lint = (file: string) => {
      const linter = join(RELEASE_TOOLS, "node_modules/dclint/bin/dclint.cjs");
      return spawnSync(process.execPath, [linter, "--max-warnings", "0", file], {
        cwd: folder.path,
        encoding: "utf8",
      });
    };
    const { status, stdout } = lint(join(DOCKER, "compose.yaml"));
    assert.equal(status, 0, stdout);
    assert.match(lint("bad.yaml").stdout, /invalid-schema/);
  });

  test("names files that are there, and writes to nothing but volumes", () => {
    const { context, dockerfile } = compose.services.fairgate!.build!;
    assert.ok(existsSync(join(DOCKER, context, dockerfile)));
    const mounted = compose.services.fairgate!.volumes.map((volume) => volume.split(":"));
    for (const [from, to, mode] of mounted) {
      assert.ok(existsSync(join(DOCKER, from!)), from!);
      assert.deepEqual([to, mode], ["/etc/fairgate/fairgate.yaml", "ro"]);
    }
    for (const [name, service] of Object.entries(compose.services))
      assert.equal(service.read_only, true, name);
  });

  test("has settings that are good", async () => {
    const { code, err } = await fairgate(["check"], {
      cwd: DOCKER,
      environment: { FAIRGATE_SECRET: SECRET },
    });
    assert.equal(code, 0, err);
  });
});

const systemdAnalyze = findProgram(SYSTEMD);
describe("the systemd unit", {
  skip: systemdAnalyze === undefined && "there is no systemd-analyze here",
}, () => {
  const unit = read("systemd/fairgate.service");
  // Verifying wants the program to be there.
  const installed = unit.replaceAll("/usr/local/bin/fairgate", EXECUTABLE);
  const analyze = (words: string[], text: string) => {
    using folder = ownFolder({ "fairgate.service": text });
    const { status, stdout, stderr } = spawnSync(
      systemdAnalyze!,
      [...words, join(folder.path, "fairgate.service")],
      { encoding: "utf8" },
    );
    return { isGood: status === 0 && stderr === "", said: `${stdout}${stderr}` };
  };

  test("is well-formed, and what is not would be noticed", () => {
    const { isGood, said } = analyze(["verify"], installed);
    assert.ok(isGood, said);
    assert.equal(analyze(["verify"], installed.replace("DynamicUser=yes", "DynamicUsr=yes")).isGood, false);
  });

  test("leaves the service little to do harm with", () => {
    const threshold = ["security", "--offline=true", "--no-pager", "--threshold=20"];
    const { isGood, said } = analyze(threshold, installed);
    assert.ok(isGood, said);
    assert.equal(analyze(threshold, installed.replace(/^CapabilityBoundingSet.*$/m, "")).isGood, false);
  });

  test(proves(["dp1"], "starts and checks with flags that the program takes"), async () => {
    const commands = [...unit.matchAll(/^Exec\w+=\/usr\/local\/bin\/fairgate (.*)$/gm)].map(([, words]) =>
      words!.split(" "),
    );
    assert.deepEqual(
      commands.map(([name]) => name),
      ["run", "check"],
    );
    using folder = ownFolder({
      "fairgate.yaml":
        "listen: 127.0.0.1:0\ncontrol: { listen: 127.0.0.1:0 }\norigin: { addresses: [http://127.0.0.1:1] }\nrooms:\n  main:\n    totalActiveUsers: 1\n",
    });
    const here = commands[1]!.map((word) =>
      word.replace("/etc/fairgate", folder.path).replace("/var/lib", folder.path),
    );
    const { code, err } = await fairgate(here, { cwd: folder.path });
    assert.equal(code, 0, err);
    assert.ok(commands[0]!.slice(1).join(" ") === commands[1]!.slice(2).join(" "));
    assert.equal(commands[1]![1], "--offline", "a reload waits for nobody");
  });
});
