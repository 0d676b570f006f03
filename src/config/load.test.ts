import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import { explain } from "./explain.ts";
import { FLAGS, type Flags } from "./flags.ts";
import { type Environment, type LoadResult, loadSettings, type ReadFile, settingsFrom } from "./load.ts";
import { roomOutline, settingAt, settingsOutline } from "./outline.ts";
import type { Settings } from "./schema.ts";

const SECRET = "example-secret-for-tests-0123456789";
const OTHER = "another-secret-for-tests-9876543210";
const WITH_SECRET = { FAIRGATE_SECRET: SECRET };
const ONE_ROOM =
  "origin:\n  addresses: [http://127.0.0.1:3000]\nrooms:\n  shop:\n    totalActiveUsers: 200\n";
const TWO_ROOMS = `${ONE_ROOM}  other:\n    path: /other\n    totalActiveUsers: 5\n`;

const noFiles = filesOf({});

function filesOf(files: Record<string, string>): ReadFile {
  return (fileName) => {
    const text = files[fileName];
    if (text === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    return text;
  };
}

interface Given {
  text?: string;
  flags?: Flags;
  environment?: Environment;
  readFile?: ReadFile;
}

function load({ text, flags = {}, environment = WITH_SECRET, readFile = noFiles }: Given): LoadResult {
  return loadSettings(
    text === undefined ? null : { text, file: "/etc/fairgate/fairgate.yaml" },
    flags,
    environment,
    readFile,
  );
}

function good(given: Given): Settings {
  const result = load(given);
  assert.ok(result.ok, result.ok ? "" : explain(result.problems));
  return result.settings;
}

function problems(given: Given): string[] {
  const result = load(given);
  assert.ok(!result.ok, "the settings were taken");
  return result.problems.map(({ source, message }) => `${source.name}: ${message}`);
}

function warnings(given: Given): string[] {
  const result = load(given);
  assert.ok(result.ok, result.ok ? "" : explain(result.problems));
  return result.warnings.map((warning) => warning.message);
}

describe("without a file", () => {
  test("flags make one room called main for every host and path", () => {
    const { rooms, origin } = good({
      flags: {
        origin: ["http://127.0.0.1:3000", "http://127.0.0.1:3001"],
        totalActiveUsers: "200",
        newUsersPerMinute: "600",
      },
    });
    assert.deepEqual(Object.keys(rooms), ["main"]);
    assert.deepEqual([rooms.main?.host, rooms.main?.path], [null, "/"]);
    assert.deepEqual([rooms.main?.totalActiveUsers, rooms.main?.newUsersPerMinute], [200, 600]);
    assert.deepEqual(origin?.addresses, ["http://127.0.0.1:3000", "http://127.0.0.1:3001"]);
  });

  test("every flag reaches its setting", () => {
    const settings = good({
      flags: {
        origin: ["http://127.0.0.1:3000"],
        hostHeader: "origin",
        listen: "127.0.0.1:9000",
        controlListen: "127.0.0.1:9001",
        logLevel: "debug",
        trustedProxy: ["10.0.0.0/8"],
        host: "Shop.example.com",
        path: "/tickets",
        newUsersPerMinute: "60",
        sessionDuration: "90s",
      },
    });
    assert.deepEqual(settings.listen, { host: "127.0.0.1", port: 9_000 });
    assert.deepEqual(settings.control.listen, { host: "127.0.0.1", port: 9_001 });
    assert.equal(settings.log.level, "debug");
    assert.deepEqual(settings.trustedProxies, ["10.0.0.0/8"]);
    assert.equal(settings.origin?.hostHeader, "origin");
    const { host, path, newUsersPerMinute, totalActiveUsers, sessionDuration } = settings.rooms.main!;
    assert.deepEqual(
      [host, path, newUsersPerMinute, totalActiveUsers, sessionDuration],
      ["shop.example.com", "/tickets", 60, null, 90_000],
    );
  });

  test("what is wrong with a flag is said of the flag", () => {
    const flags = { origin: ["nowhere"], totalActiveUsers: "many", sessionDuration: "300", listen: "x" };
    assert.deepEqual(problems({ flags }).toSorted(), [
      '--listen: listen is "x", which is not an address to listen on',
      '--origin: origin.addresses[0] is "nowhere", which is not a URL',
      '--session-duration: rooms.main.sessionDuration is "300", which has no unit',
      '--total-active-users: rooms.main.totalActiveUsers is "many"',
    ]);
  });

  test("what is missing is said in flags", () => {
    const result = load({ flags: { listen: "8080", path: "/" }, environment: {} });
    assert.ok(!result.ok);
    assert.equal(
      explain(result.problems),
      [
        "command line: room main has no origin, and there is none at the top",
        "        Add --origin with the site's address, such as --origin http://127.0.0.1:3000.",
        "",
        "command line: room main has neither totalActiveUsers nor newUsersPerMinute, so it would never make anyone wait",
        "        Add --total-active-users 200, --new-users-per-minute 600, or both.",
        "",
        "command line: there is no secret to sign tickets and passes with",
        "        Make one with `fairgate keys new`, keep it safe, and `export FAIRGATE_SECRET=…` before starting.",
        "",
        "3 problems",
        "",
      ].join("\n"),
    );
  });

  test("no flags at all are one problem, not five", () => {
    assert.deepEqual(problems({ environment: {} }), [
      "command line: there is no settings file, and no flags that say what to do",
    ]);
  });

  test("the demo needs no secret", () => {
    const flags = { origin: ["http://127.0.0.1:3000"], totalActiveUsers: "5", isDemo: true };
    assert.equal(good({ flags, environment: {} }).secret, null);
  });
});

describe("with a file, flags", () => {
  test("for the whole of Fairgate always win", () => {
    const settings = good({
      text: `listen: 8080\n${TWO_ROOMS}`,
      flags: { listen: "9000", logLevel: "warn" },
    });
    assert.equal(settings.listen.port, 9_000);
    assert.equal(settings.log.level, "warn");
  });

  test("for a room change the only room", () => {
    const { rooms } = good({ text: ONE_ROOM, flags: { totalActiveUsers: "7", path: "/a" } });
    assert.deepEqual([rooms.shop?.totalActiveUsers, rooms.shop?.path], [7, "/a"]);
  });

  test("for a room are refused where there are several", () => {
    assert.deepEqual(problems({ text: TWO_ROOMS, flags: { totalActiveUsers: "7" } }), [
      "--total-active-users: --total-active-users is for one room, and the file has 2: shop, other",
    ]);
  });

  test("for the origin keep what else the file says of it", () => {
    const text = ONE_ROOM.replace("rooms:", "  connectionsMax: 7\nrooms:");
    const { origin } = good({ text, flags: { origin: ["http://127.0.0.1:4000"] } });
    assert.deepEqual(origin?.addresses, ["http://127.0.0.1:4000"]);
    assert.equal(origin?.connectionsMax, 7);
  });

  test("for the origin are refused where a room has its own", () => {
    const text = `${ONE_ROOM}    origin: { addresses: [http://127.0.0.1:5000] }\n`;
    assert.deepEqual(problems({ text, flags: { origin: ["http://127.0.0.1:4000"] } }), [
      "--origin: --origin is for the origin at the top, and room shop has its own",
    ]);
  });

  test("make the room when the file has none", () => {
    const flags = { origin: ["http://127.0.0.1:3000"], totalActiveUsers: "3" };
    assert.deepEqual(Object.keys(good({ text: "listen: 8080\n", flags }).rooms), ["main"]);
  });

  test("do not hide what is wrong in the file", () => {
    const [problem] = problems({
      text: "rooms: 5\norigin: 6\n",
      flags: { path: "/", origin: ["http://127.0.0.1:3000"] },
    });
    assert.match(problem!, /rooms is 5/);
  });
});

test("every flag has a setting that exists", () => {
  for (const { flag, path, scope } of FLAGS) {
    const setting = settingAt(scope === "room" ? roomOutline() : settingsOutline(), path);
    assert.ok(setting, flag);
  }
});

describe("a secret", () => {
  test("comes from the environment, the file, or a file of its own", () => {
    const readFile = filesOf({ "/etc/fairgate/keys/secret": `${SECRET}\n` });
    assert.equal(good({ text: ONE_ROOM }).secret, SECRET);
    assert.equal(good({ text: `secret: ${SECRET}\n${ONE_ROOM}`, environment: {} }).secret, SECRET);
    assert.equal(
      good({ text: `secretFile: keys/secret\n${ONE_ROOM}`, environment: {}, readFile }).secret,
      SECRET,
    );
  });

  test("in a file of its own may be followed by the ones before it", () => {
    const readFile = filesOf({ "/etc/fairgate/s": `${SECRET}\n\n${OTHER}\r\n` });
    const settings = good({ text: `secretFile: s\n${ONE_ROOM}`, environment: {}, readFile });
    assert.deepEqual([settings.secret, settings.previousSecrets], [SECRET, [OTHER]]);
  });

  test("in the environment wins, with a warning", () => {
    const text = `secret: ${OTHER}\n${ONE_ROOM}`;
    assert.equal(good({ text }).secret, SECRET);
    assert.deepEqual(warnings({ text }), [
      "FAIRGATE_SECRET is set, so the secret in the settings is not used",
    ]);
  });

  test("that is weak is refused wherever it is, and never shown", () => {
    const weak = {
      short: "has only 5 characters",
      [`${"a".repeat(40)}`]: "is easy to guess: it repeats a few characters",
      [`${"abc".repeat(20)}`]: "is easy to guess: it repeats a few characters",
      [`${SECRET} with spaces`]: "has spaces or characters outside ASCII in it",
      [`${SECRET.repeat(40)}`]: "has 1400 characters",
    };
    for (const [secret, wrong] of Object.entries(weak)) {
      const readFile = filesOf({ "/etc/fairgate/s": secret });
      assert.deepEqual(problems({ text: ONE_ROOM, environment: { FAIRGATE_SECRET: secret } }), [
        `FAIRGATE_SECRET: FAIRGATE_SECRET ${wrong}`,
      ]);
      assert.deepEqual(problems({ text: `secretFile: s\n${ONE_ROOM}`, environment: {}, readFile }), [
        `/etc/fairgate/fairgate.yaml: secretFile ${wrong}`,
      ]);
    }
  });

  test("file that is empty, missing or too long is refused", () => {
    const text = `secretFile: s\n${ONE_ROOM}`;
    const wrongOf = (files: Record<string, string>) =>
      problems({ text, environment: {}, readFile: filesOf(files) })[0];
    assert.match(wrongOf({ "/etc/fairgate/s": "\n" })!, /secretFile is empty$/);
    assert.match(wrongOf({})!, /secretFile: s cannot be read: there is no such file$/);
    assert.match(wrongOf({ "/etc/fairgate/s": `${SECRET}\n`.repeat(10) })!, /has 10 lines$/);
  });

  test("variable that is empty counts as not set", () => {
    assert.equal(
      good({ text: `secret: ${OTHER}\n${ONE_ROOM}`, environment: { FAIRGATE_SECRET: " " } }).secret,
      OTHER,
    );
  });
});

test("the control token comes from the environment, and lets the control address be opened", () => {
  const text = `control:\n  listen: :8081\n${ONE_ROOM}`;
  const settings = good({ text, environment: { ...WITH_SECRET, FAIRGATE_CONTROL_TOKEN: OTHER } });
  assert.deepEqual(settings.control, { listen: { host: "", port: 8_081 }, token: OTHER });
  assert.match(problems({ text })[0]!, /can be reached from other machines, and there is no token/);
});

test("port 0 may be used for both addresses", () => {
  good({ text: `listen: 127.0.0.1:0\ncontrol:\n  listen: 127.0.0.1:0\n${ONE_ROOM}` });
});

test("an origin on the same port is only a loop where it is the same machine", () => {
  const isLoop = (listen: string, origin: string) =>
    !load({ text: `listen: "${listen}"\n${ONE_ROOM.replace("http://127.0.0.1:3000", origin)}` }).ok;
  for (const [listen, origin] of [
    [":3000", "http://127.0.0.1:3000"],
    [":3000", "http://127.9.9.9:3000"],
    [":3000", "'http://[::1]:3000'"],
    ["0.0.0.0:80", "http://localhost"],
    ["127.0.0.1:3000", "http://localhost:3000"],
    ["127.0.0.1:3000", "http://0.0.0.0:3000"],
    ["10.0.0.1:3000", "http://10.0.0.1:3000"],
    ["127.0.0.1:9000", "http://127.0.0.1:8081"],
  ]) {
    assert.ok(isLoop(listen!, origin!), `${listen} ${origin}`);
  }
  for (const [listen, origin] of [
    [":3000", "http://10.0.0.1:3000"],
    ["127.0.0.1:3000", "http://127.0.0.2:3000"],
    ["127.0.0.1:3000", "http://127.0.0.1:3001"],
    ["10.0.0.1:3000", "http://127.0.0.1:3000"],
    ["127.0.0.1:80", "https://localhost"],
  ]) {
    assert.ok(!isLoop(listen!, origin!), `${listen} ${origin}`);
  }
});

test("a custom page is read from its file and handed over as text", () => {
  const text = `${ONE_ROOM}    page: { customPageFile: pages/wait.html }\n`;
  const readFile = filesOf({ [resolve("/etc/fairgate/pages/wait.html")]: "<p>Wait</p>" });
  const { page } = good({ text, readFile }).rooms.shop!;
  assert.deepEqual(
    [page.customPageHtml, page.customPageFile],
    ["<p>Wait</p>", resolve("/etc/fairgate/pages/wait.html")],
  );
});

test("what the page check finds is shown at the page's line", () => {
  const text = `${ONE_ROOM}    page:\n      customPageHtml: "{{ahed}}"\n`;
  const source = { text, file: "fairgate.yaml" };
  const result = loadSettings(
    source,
    {},
    WITH_SECRET,
    noFiles,
    () => "line 1: there is no variable {{ahed}}",
  );
  assert.ok(!result.ok);
  assert.deepEqual(
    result.problems.map(({ message, source }) => [message, source.spot?.line]),
    [["rooms.shop.page.customPageHtml: line 1: there is no variable {{ahed}}", 7]],
  );
});

test("settings that are seldom meant are taken with a warning", () => {
  const text = `trustedProxies: [0.0.0.0/0]\n${ONE_ROOM}    cookieAttributes: { secure: never }\n`;
  assert.deepEqual(warnings({ text }), [
    "0.0.0.0/0 trusts everyone",
    "rooms.shop.cookieAttributes.secure is never",
  ]);
});

describe("settings from a program", () => {
  const context = { environment: WITH_SECRET, readFile: noFiles };
  const rooms = { main: { totalActiveUsers: 5, sessionDuration: "1m" } };

  test("are checked like a file's", () => {
    const result = settingsFrom({ rooms: { main: { totalActiveUsers: 5, sessionDuration: 60 } } }, context);
    assert.ok(!result.ok);
    assert.deepEqual(result.problems.map((problem) => problem.code).toSorted(), ["invalid", "no-origin"]);
  });

  test("may do without an origin where the site is in the same program", () => {
    const result = settingsFrom({ rooms }, { ...context, needsOrigin: false });
    assert.ok(result.ok);
    assert.equal(result.settings.rooms.main?.sessionDuration, 60_000);
  });

  test("that are no mapping at all are refused", () => {
    for (const input of [null, undefined, 5, "text", [], () => 5]) {
      assert.equal(settingsFrom(input, context).ok, false, String(input));
    }
  });
});
