import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import { explain } from "./explain.ts";
import { FLAGS, type Flags } from "./flags.ts";
import { type Environment, type LoadResult, loadSettings, type ReadFile, settingsFrom } from "./load.ts";
import { roomOutline, settingAt, settingsOutline } from "./outline.ts";
import type { Settings } from "./schema.ts";
import { settingsDuring } from "./settings-during.ts";

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
        newUsersPerMinute: "100",
      },
    });
    assert.deepEqual(Object.keys(rooms), ["main"]);
    assert.deepEqual([rooms.main?.host, rooms.main?.path], [null, "/"]);
    assert.deepEqual([rooms.main?.totalActiveUsers, rooms.main?.newUsersPerMinute], [200, 100]);
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
        queueingMethod: "random",
      },
    });
    assert.deepEqual(settings.listen, { host: "127.0.0.1", port: 9_000 });
    assert.deepEqual(settings.control.listen, { host: "127.0.0.1", port: 9_001 });
    assert.equal(settings.log.level, "debug");
    assert.deepEqual(settings.trustedProxies, ["10.0.0.0/8"]);
    assert.equal(settings.origin?.hostHeader, "origin");
    const main = settings.rooms.main!;
    const { host, path, newUsersPerMinute, totalActiveUsers, sessionDuration } = main;
    assert.deepEqual(
      [host, path, newUsersPerMinute, totalActiveUsers, sessionDuration],
      ["shop.example.com", "/tickets", 60, null, 90_000],
    );
    assert.equal(main.queueingMethod, "random");
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
        "        Add --total-active-users 200, --new-users-per-minute 100, or both.",
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

  test("for the access log win over its short form", () => {
    const given = { text: `accessLog: ./one.log\n${ONE_ROOM}`, flags: { accessLog: "stdout" } };
    assert.deepEqual(good(given).accessLog, { to: "stdout", format: "combined" });
    const json = { ...given, text: `accessLog: { to: one.log, format: json }\n${ONE_ROOM}` };
    assert.deepEqual(good(json).accessLog, { to: "stdout", format: "json" });
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
  const result = loadSettings(source, {}, WITH_SECRET, noFiles, {
    checkPage: () => "line 1: there is no variable {{ahed}}",
  });
  assert.ok(!result.ok);
  assert.deepEqual(
    result.problems.map(({ message, source }) => [message, source.spot?.line]),
    [["rooms.shop.page.customPageHtml: line 1: there is no variable {{ahed}}", 7]],
  );
});

test("a custom page of an event is read from its file, beside the room's own", () => {
  const text = `${ONE_ROOM}    page: { customPageFile: a.html }
    events:
      - name: sale
        eventStartTime: 2026-12-01T10:00:00Z
        eventEndTime: 2026-12-01T12:00:00Z
        page: { customPageFile: b.html }
      - name: gala
        eventStartTime: 2026-12-02T10:00:00Z
        eventEndTime: 2026-12-02T12:00:00Z
`;
  const files = { "/etc/fairgate/a.html": "<p>Room</p>", "/etc/fairgate/b.html": "<p>Sale</p>" };
  const shop = good({ text, readFile: filesOf(files) }).rooms.shop!;
  const pages = [shop, ...shop.events.map((event) => settingsDuring(shop, event))].map(({ page }) => [
    page.customPageHtml,
    page.customPageFile,
  ]);
  assert.deepEqual(pages, [
    ["<p>Room</p>", "/etc/fairgate/a.html"],
    ["<p>Sale</p>", "/etc/fairgate/b.html"],
    ["<p>Room</p>", "/etc/fairgate/a.html"],
  ]);
  assert.deepEqual(problems({ text, readFile: filesOf({ "/etc/fairgate/a.html": "<p>" }) }), [
    "/etc/fairgate/fairgate.yaml: rooms.shop.events[0].page.customPageFile: b.html cannot be read: there is no such file",
  ]);
});

test("secrets of lanes come beside the settings and never in them", () => {
  const text = `${ONE_ROOM}    lanes:
      vip:
        members:
          jwt: { claim: tier, values: [gold], secretVariable: SHOP_JWT_SECRET }
`;
  const settings = good({ text, environment: { ...WITH_SECRET, SHOP_JWT_SECRET: OTHER } });
  assert.deepEqual([...settings.laneSecrets.values()], [OTHER]);
  assert.doesNotMatch(JSON.stringify(settings), new RegExp(OTHER));
  assert.deepEqual(problems({ text }), [
    "/etc/fairgate/fairgate.yaml: rooms.shop.lanes.vip.members.jwt.secretVariable names SHOP_JWT_SECRET, which is not in the environment",
  ]);
});

test("rooms may share a capacity and do without limits of their own", () => {
  const text = `budgets: { all: { totalActiveUsers: 10 } }
origin: { addresses: [http://127.0.0.1:3000] }
rooms:
  a: { path: /a, budget: all, guaranteed: 4 }
  b: { path: /b, budget: all, guaranteed: 6 }
`;
  const { rooms, budgets } = good({ text });
  assert.deepEqual([rooms.a?.budget, rooms.b?.guaranteed, budgets.all], ["all", 6, { totalActiveUsers: 10 }]);
});

test("a budget of a name that every object has is not there", () => {
  assert.match(problems({ text: `${ONE_ROOM}    budget: constructor\n` })[0]!, /there is no such budget/);
});

test("an event that stays closed with its room is taken with a warning", () => {
  const text = `${ONE_ROOM}    closed: true
    events:
      - name: sale
        eventStartTime: 2026-12-01T10:00:00Z
        eventEndTime: 2026-12-01T12:00:00Z
      - name: gala
        eventStartTime: 2026-12-02T10:00:00Z
        eventEndTime: 2026-12-02T12:00:00Z
        closed: false
      - name: repair
        eventStartTime: 2026-12-03T10:00:00Z
        eventEndTime: 2026-12-03T12:00:00Z
        closed: true
`;
  assert.deepEqual(warnings({ text }), ["rooms.shop.events[0] is closed, since room shop is"]);
});

test("rules that let more past the line than it seems are taken with a warning, an event's too", () => {
  const text = `${ONE_ROOM}    bypass: [{ path: ["*.css"] }]
    events:
      - name: sale
        eventStartTime: 2026-12-01T10:00:00Z
        eventEndTime: 2026-12-01T12:00:00Z
        bypass: [{ path: ["*.js"] }]
`;
  assert.deepEqual(
    warnings({ text }).map((text) => text.split(" ")[0]),
    ["rooms.shop.bypass[0].path[0]", "rooms.shop.events[0].bypass[0].path[0]"],
  );
});

test("a rate above the capacity is taken with a warning that points at it, a flag's and an event's too", () => {
  const text = `${ONE_ROOM}    newUsersPerMinute: 600
    events:
      - name: sale
        eventStartTime: 2026-12-01T10:00:00Z
        eventEndTime: 2026-12-01T12:00:00Z
        totalActiveUsers: 700
      - name: gala
        eventStartTime: 2026-12-02T10:00:00Z
        eventEndTime: 2026-12-02T12:00:00Z
        newUsersPerMinute: 900
  short-visits:
    path: /quiz
    totalActiveUsers: 200
    newUsersPerMinute: 600
    sessionDuration: 59s
  visits-ended-by-the-origin:
    path: /pay
    totalActiveUsers: 200
    newUsersPerMinute: 600
    enabledOriginCommands: [revoke]
`;
  const result = load({ text });
  assert.ok(result.ok);
  assert.equal(
    explain(result.warnings, { noun: "warning" }),
    `/etc/fairgate/fairgate.yaml:6:24: rooms.shop.newUsersPerMinute is 600, which is more than totalActiveUsers, 200: more would be let in each minute than fit
    6 |     newUsersPerMinute: 600
      |                        ^^^
        No more than 200 are let in each minute, unless visitors leave before one is over (sessionDuration is 5m).

/etc/fairgate/fairgate.yaml:15:28: rooms.shop.events[1].newUsersPerMinute is 900, which is more than totalActiveUsers, 200: more would be let in each minute than fit
   15 |         newUsersPerMinute: 900
      |                            ^^^
        No more than 200 are let in each minute, unless visitors leave before one is over (sessionDuration is 5m).

2 warnings
`,
  );
  const flags = { origin: ["http://127.0.0.1:3000"], totalActiveUsers: "200", newUsersPerMinute: "600" };
  const fromFlags = load({ flags });
  assert.ok(fromFlags.ok);
  assert.deepEqual(
    fromFlags.warnings.map(({ source }) => source.name),
    ["--new-users-per-minute"],
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
