/** `fairgate check`: everything `run` would check, every problem at once, for people and as JSON. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fairgate, ownFolder, SECRET } from "../../src/testing/cli/fairgate.ts";

const GOOD =
  'listen: 127.0.0.1:0\ncontrol: { listen: "127.0.0.1:0" }\norigin: { addresses: ["http://127.0.0.1:3000"] }\nrooms: { tickets: { totalActiveUsers: 200 } }\n';
const BAD = `listen: 99999999
origin: { addresses: [127.0.0.1:3000] }
rooms:
  tickets:
    totalActiveUser: 3
    sessionDuration: 5
`;
const environment = { FAIRGATE_SECRET: SECRET };
/** The usual ports may be taken on this machine. */
const ANYWHERE = ["--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"];

interface Result {
  readonly ok: boolean;
  readonly problems: readonly { setting: string; message: string; hint: string; line: number | null }[];
}

describe("fairgate check", { concurrency: 3 }, () => {
  test("of good settings exits with 0 and starts nothing", async () => {
    using folder = ownFolder({ "fairgate.yaml": GOOD });
    const { code, out, err } = await fairgate(["check"], { cwd: folder.path, environment });
    assert.equal(code, 0);
    assert.match(out, /one room \(tickets\)/);
    assert.equal(err, "");
  });

  test("warns of settings that are rarely intended, and exits with 0", async () => {
    const limits = ["--total-active-users", "200", "--new-users-per-minute", "600"];
    const args = ["check", "--origin", "http://127.0.0.1:3000", ...limits, ...ANYWHERE];
    const { code, err } = await fairgate(args, { environment });
    assert.equal(code, 0);
    assert.match(err, /newUsersPerMinute is 600, which is more than totalActiveUsers, 200[\s\S]*1 warning/);
  });

  test("shows every problem at once, with its line and the user's own text", async () => {
    using folder = ownFolder({ "fairgate.yaml": BAD });
    const { code, err, out } = await fairgate(["check"], { cwd: folder.path });
    assert.equal(code, 2);
    assert.match(err, /fairgate\.yaml:1:9: listen is 99999999/);
    assert.match(err, /127\.0\.0\.1:3000/);
    assert.match(err, /fairgate\.yaml:5:5: .*"totalActiveUser"[\s\S]*Did you mean totalActiveUsers\?/);
    assert.match(err, /sessionDuration: 5\n +\| +\^[\s\S]*no unit|no unit[\s\S]*sessionDuration: 5/);
    assert.match(err, /no secret/);
    assert.equal(out, "");
  });

  test("--json gives the same for programs", async () => {
    using folder = ownFolder({ "good.yaml": GOOD, "bad.yaml": BAD });
    const ask = async (name: string) => {
      const { code, out } = await fairgate(["check", "--json", "--config", name], {
        cwd: folder.path,
        environment,
      });
      return { code, ...(JSON.parse(out) as Result) };
    };
    const [good, bad] = await Promise.all([ask("good.yaml"), ask("bad.yaml")]);
    assert.deepEqual([good.code, good.ok, good.problems], [0, true, []]);
    assert.equal(bad.code, 2);
    assert.equal(bad.ok, false);
    const settings = bad.problems.map(({ setting }) => setting);
    for (const setting of ["listen", "rooms.tickets.totalActiveUser", "rooms.tickets.sessionDuration"])
      assert.ok(settings.includes(setting), `${setting} in ${settings}`);
    assert.equal(bad.problems.find(({ setting }) => setting === "listen")?.line, 1);
  });

  test("checks flags the same way", async () => {
    const args = ["check", "--origin", "http://127.0.0.1:3000", "--total-active-users", "lots"];
    const { code, err } = await fairgate(args, { environment });
    assert.equal(code, 2);
    assert.match(err, /--total-active-users.*"?lots/);
  });

  test("says that a named file is not there", async () => {
    const { code, err } = await fairgate(["check", "--config", "nowhere.yaml"], { environment });
    assert.equal(code, 2);
    assert.match(err, /nowhere\.yaml/);
  });

  test("with no file and no flags says what to write", async () => {
    using folder = ownFolder();
    const { code, err } = await fairgate(["check"], { cwd: folder.path, environment });
    assert.equal(code, 2);
    assert.match(err, /fairgate\.yaml/);
    assert.match(err, /--origin/);
  });

  test("says where Redis is, and shows none of its passwords", async () => {
    const redis = "redis: { sentinels: [10.0.0.1, 10.0.0.2], masterName: mymaster }\n";
    using folder = ownFolder({ "fairgate.yaml": redis + GOOD });
    const ask = (args: readonly string[], more: Readonly<Record<string, string>>) =>
      fairgate(["check", ...args, ...ANYWHERE], {
        cwd: folder.path,
        environment: { ...environment, ...more },
      });
    const [words, json, flag] = await Promise.all([
      ask([], { FAIRGATE_REDIS_PASSWORD: "hunter2", FAIRGATE_REDIS_SENTINEL_PASSWORD: "hunter2" }),
      ask(["--json"], { FAIRGATE_REDIS_PASSWORD: "hunter2" }),
      fairgate(
        [
          ...["check", "--origin", "http://127.0.0.1:3000", "--total-active-users", "5", ...ANYWHERE],
          ...["--redis", "redis://shop:hunter2@10.0.0.3"],
        ],
        { environment },
      ),
    ]);
    for (const { code, out, err } of [words, json, flag]) {
      assert.deepEqual([code, err], [0, ""]);
      assert.doesNotMatch(out, /hunter2/);
    }
    assert.match(words.out, /in Redis: mymaster by the sentinels at 10\.0\.0\.1:26379, 10\.0\.0\.2:26379\./);
    assert.equal(JSON.parse(json.out).redis, "mymaster by the sentinels at 10.0.0.1:26379, 10.0.0.2:26379");
    assert.match(flag.out, /in Redis: redis:\/\/10\.0\.0\.3:6379\/0\./);
  });

  test("refuses Redis beside a data directory, or without a secret, and shows no password", async () => {
    using folder = ownFolder({ "fairgate.yaml": `redis: { url: "redis://:hunter2@10.0.0.3" }\n${GOOD}` });
    const { code, err, out } = await fairgate(["check", "--data", "kept"], { cwd: folder.path });
    assert.deepEqual([code, out], [2, ""]);
    assert.match(err, /data and redis are both set, and a line can only live in one place/);
    assert.match(err, /no secret[\s\S]*the same for every gateway on this Redis/);
    assert.doesNotMatch(err, /hunter2/);
  });

  test("checks a custom waiting page as `run` would", async () => {
    const page = "      page: { customPageFile: page.html }\n";
    const file = `${GOOD.replace("rooms: { tickets: { totalActiveUsers: 200 } }\n", "")}rooms:\n  tickets:\n      totalActiveUsers: 2\n${page}`;
    using folder = ownFolder({ "fairgate.yaml": file, "page.html": "<h1>{{peopleAhead}}</h1>" });
    const { code, err } = await fairgate(["check"], { cwd: folder.path, environment });
    assert.equal(code, 2);
    assert.match(err, /peopleAhead/);
  });

  test("finds the example file good", async () => {
    const example = new URL("../../fairgate.example.yaml", import.meta.url).pathname;
    const { code, err } = await fairgate(["check", "--config", example, ...ANYWHERE], { environment });
    assert.equal(code, 0, err);
  });
});
