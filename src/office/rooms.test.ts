import assert from "node:assert/strict";
import { test } from "node:test";
import type { RoomInput } from "../config/schema.ts";
import type { Counts } from "../core/engine.ts";
import { lingerMs } from "../core/pass.ts";
import { DESK_TOKEN, read, type Scene, scene } from "../testing/office/scene.ts";
import { until } from "../testing/until.ts";
import { ENGINE_ANSWER_MAX_MS } from "./ask-engine.ts";

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly event: string | null;
  readonly paused: boolean;
  readonly counts: Counts;
  readonly settings: RoomInput;
}

const patch = ({ ask }: Scene, change: unknown) => ask("/rooms/main", { method: "PATCH", json: change });
const changesLogged = ({ world }: Scene) =>
  world.logged.filter(({ message }) => message.includes("was changed"));

test("the list has every room with its counts", async () => {
  const { ask, engine } = await scene({
    rooms: {
      main: { totalActiveUsers: 2 },
      tickets: { path: "/tickets", newUsersPerMinute: 60, paused: true },
    },
  });
  for (let i = 0; i < 5; i++) engine.join("main");
  const { rooms } = await read<{ rooms: Shown[] }>(await ask("/rooms"));
  assert.deepEqual(
    rooms.map((room) => [room.name, room.paused]),
    [
      ["main", false],
      ["tickets", true],
    ],
  );
  assert.equal(rooms[0]!.counts.waiting, 3);
  assert.equal(rooms[0]!.counts.onSite, 2);
  assert.equal(rooms[0]!.counts.totals.joined, 5);
  assert.equal(rooms[1]!.counts.waiting, 0);
});

test("the list tells the state of each room and the event that is on", async () => {
  const sale = {
    name: "sale",
    prequeueStartTime: "2026-06-01T09:00:00Z",
    eventStartTime: "2026-06-01T11:00:00Z",
    eventEndTime: "2026-06-01T12:00:00Z",
  };
  const { ask } = await scene({
    rooms: {
      main: { totalActiveUsers: 2 },
      soon: { path: "/soon", totalActiveUsers: 2, events: [sale] },
      shut: { path: "/shut", closed: true },
    },
  });
  const { rooms } = await read<{ rooms: Shown[] }>(await ask("/rooms"));
  assert.deepEqual(
    rooms.map(({ name, state, event }) => [name, state, event]),
    [
      ["main", "open", null],
      ["soon", "prequeue", "sale"],
      ["shut", "closed", null],
    ],
  );
});

test("a room shows its settings the way the file has them", async () => {
  const { ask } = await scene();
  const room = await read<Shown>(await ask("/rooms/main"));
  assert.equal(room.name, "main");
  assert.equal(room.counts.waiting, 0);
  assert.equal(room.settings.sessionDuration, "5m");
  assert.equal(room.settings.lapseAfter, "1m");
  assert.equal(room.settings.totalActiveUsers, 2);
  assert.equal(room.settings.newUsersPerMinute, null);
});

test("an unknown room is 404 on every path, also one named like something every object has", async () => {
  const { ask } = await scene();
  for (const name of [
    "other",
    "constructor",
    "__proto__",
    "toString",
    "..%2f",
    "MAIN",
    "%00",
    "a".repeat(5_000),
  ]) {
    const answers = [
      await ask(`/rooms/${name}`),
      await ask(`/rooms/${name}`, { method: "PATCH", json: {} }),
      await ask(`/rooms/${name}/pause`, { method: "POST" }),
      await ask(`/rooms/${name}/sessions/${"0".repeat(32)}`, { method: "DELETE" }),
    ];
    for (const answer of answers) assert.equal(answer.status, 404, name);
  }
});

test("a change is in force at once and comes back as it was written", async () => {
  const on = await scene();
  for (let i = 0; i < 4; i++) on.engine.join("main");
  const response = await patch(on, {
    totalActiveUsers: 3,
    sessionDuration: "90s",
    page: { colour: "#ff0000" },
  });
  assert.equal(response.status, 200);
  const { name, settings } = await read<Shown>(response);
  assert.equal(name, "main");
  assert.equal(settings.totalActiveUsers, 3);
  assert.equal(settings.sessionDuration, "90s");
  assert.equal(settings.page!.colour, "#ff0000");
  on.world.pass(1_000);
  assert.equal(on.engine.counts("main").admitted, 1, "one more place");
});

test("a change is logged with the settings it changed, their old and new values, and who made it", async () => {
  const on = await scene();
  await patch(on, { totalActiveUsers: 3, sessionDuration: "5m", page: { colour: "#ff0000" } });
  assert.deepEqual(changesLogged(on), [
    {
      level: "info",
      message: "a room was changed from the control address",
      fields: {
        room: "main",
        by: "10.1.1.1",
        changed: {
          totalActiveUsers: { from: 2, to: 3 },
          "page.colour": { from: "#1d4ed8", to: "#ff0000" },
        },
      },
    },
  ]);
});

test("what a partner must send to go past the line is neither shown nor logged, and sent back it stays", async () => {
  const key = "a-long-text-nobody-guesses";
  const bypass = [{ name: "hook", path: ["/hook"], header: { "X-Hook-Key": key } }];
  const on = await scene({ rooms: { main: { totalActiveUsers: 2, bypass } } });
  const before = on.desk.room("main")!.bypass;
  const look = await (await on.ask("/rooms/main")).text();
  const { settings } = JSON.parse(look) as Shown;
  const answer = await patch(on, { bypass: [...settings.bypass!, { path: ["/assets"] }] });
  assert.equal(answer.status, 200);
  const told = await answer.text();
  assert.deepEqual(on.desk.room("main")!.bypass[0], before[0]);
  assert.equal(on.desk.room("main")!.bypass.length, 2);
  for (const text of [look, told, JSON.stringify(on.world.logged)]) {
    assert.doesNotMatch(text, new RegExp(key));
    assert.match(text, /bypass/);
  }
  const other = await patch(on, {
    bypass: [{ ...bypass[0], header: { "X-Hook-Key": "hidden:0123456789abcdef" } }],
  });
  assert.equal(other.status, 422);
  assert.deepEqual(
    (await read(other)).problems.map(({ path }) => path),
    ["bypass[0].header.X-Hook-Key"],
  );
  assert.equal(on.desk.room("main")!.bypass.length, 2);
});

test("every problem of a change is told at once, and nothing is changed", async () => {
  const on = await scene();
  const response = await patch(on, {
    totalActiveUser: 3,
    sessionDuration: 300,
    paused: true,
    host: "x.example",
  });
  assert.equal(response.status, 422);
  const body = await read(response);
  assert.equal(body.error.code, "bad_change");
  assert.deepEqual(body.problems.map(({ path }) => path).sort(), [
    "host",
    "sessionDuration",
    "totalActiveUser",
  ]);
  const slip = body.problems.find(({ path }) => path === "totalActiveUser")!;
  assert.deepEqual(Object.keys(slip), ["path", "message", "hint"]);
  assert.match(slip.hint!, /totalActiveUsers/);
  assert.equal(on.desk.room("main")!.paused, false);
  assert.deepEqual(changesLogged(on), []);
});

for (const [what, change] of [
  ["a list", []],
  ["a number", 3],
  ["null", null],
  ["a text", "paused"],
  ["deep nesting", JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`)],
  ["a prototype", JSON.parse('{"__proto__": {"paused": true}}')],
] as const) {
  test(`a change that is ${what} is refused, not an exception`, async () => {
    const on = await scene();
    assert.equal((await patch(on, change)).status, 422);
    assert.equal(on.desk.room("main")!.paused, false);
  });
}

test("a body that is not JSON is told apart from one that is not marked as JSON", async () => {
  const { office, desk } = await scene();
  const send = (body: string, type: string) =>
    office.fetch(
      new Request("http://localhost/rooms/main", {
        method: "PATCH",
        body,
        headers: { authorization: `Bearer ${DESK_TOKEN}`, "content-type": type },
      }),
    );
  const broken = await send('{"paused": tru', "application/json");
  assert.equal(broken.status, 400);
  assert.equal((await read(broken)).error.code, "bad_request");
  const unmarked = await send('{"paused": true}', "text/plain");
  assert.equal(unmarked.status, 415);
  assert.equal((await read(unmarked)).error.code, "not_json");
  assert.equal(desk.room("main")!.paused, false);
});

test("pause and open do what they say, with or without a message, and twice is as good as once", async () => {
  const on = await scene();
  for (let i = 0; i < 2; i++) {
    const response = await on.ask("/rooms/main/pause", { json: { message: "Back at ten." } });
    assert.equal(response.status, 200);
    assert.equal((await read<Shown>(response)).settings.paused, true);
  }
  assert.equal(on.engine.board("main").state, "paused");
  assert.equal(on.engine.board("main").message, "Back at ten.");
  assert.equal(changesLogged(on).length, 1);
  for (let i = 0; i < 2; i++) {
    assert.equal((await on.ask("/rooms/main/open", { method: "POST" })).status, 200);
  }
  assert.equal(on.desk.room("main")!.paused, false);
  assert.equal(on.desk.room("main")!.message, "Back at ten.", "left as it was");
  assert.equal(changesLogged(on).length, 2);
});

test("a note with anything else in it is refused", async () => {
  const on = await scene();
  const bodies = [{ paused: false }, { message: 3 }, { message: "x".repeat(3_000) }, []];
  for (const json of bodies) {
    const response = await on.ask("/rooms/main/pause", { json });
    assert.equal(response.status, 422, JSON.stringify(json).slice(0, 40));
    assert.ok((await read(response)).problems.length > 0);
  }
  assert.equal(on.desk.room("main")!.paused, false);
});

test("revoking ends a visit once; a second time nobody is there", async () => {
  const { ask, engine, world } = await scene();
  const entered = await engine.join("main");
  assert.ok(entered.kind === "entered");
  const { id } = entered.pass;
  const remove = () => ask(`/rooms/main/sessions/${id}`, { method: "DELETE" });
  const response = await remove();
  assert.equal(response.status, 204);
  assert.equal(await response.text(), "");
  world.pass(lingerMs(0));
  assert.equal(engine.counts("main").onSite, 0);
  assert.equal(engine.counts("main").totals.revoked, 1);
  assert.deepEqual(world.logged.at(-1)!.fields, { room: "main", id, by: "10.1.1.1" });
  assert.equal((await remove()).status, 404);
});

test("revoking somebody who only waits is 404", async () => {
  const { ask, engine } = await scene();
  for (let i = 0; i < 2; i++) engine.join("main");
  const waiting = await engine.join("main");
  assert.ok(waiting.kind === "waiting");
  const response = await ask(`/rooms/main/sessions/${waiting.ticket.id}`, { method: "DELETE" });
  assert.equal((await read(response)).error.code, "not_on_site");
});

test("an id of another form is 400", async () => {
  const { ask } = await scene();
  for (const id of ["0", "0".repeat(33), "G".repeat(32), "A".repeat(32)]) {
    assert.equal((await ask(`/rooms/main/sessions/${id}`, { method: "DELETE" })).status, 400, id);
  }
});

test("while the engine fails, what needs it is 503, and the log has the reason", async () => {
  const { ask, engine, world } = await scene();
  engine.counts = () => {
    throw new Error("redis is away");
  };
  for (const path of ["/rooms", "/rooms/main"]) {
    const response = await ask(path);
    assert.equal(response.status, 503);
    const body = await read(response);
    assert.equal(body.error.code, "engine_away");
    assert.doesNotMatch(JSON.stringify(body), /redis/);
  }
  const warnings = world.logged.filter(({ level }) => level === "warn");
  assert.equal(warnings.length, 2);
  assert.match(String((warnings[0]!.fields as { err: unknown }).err), /redis is away/);
});

test("an engine that never answers is waited for a set time only", async () => {
  const { ask, engine, world } = await scene();
  let isEngineAsked = false;
  engine.revoke = () => {
    isEngineAsked = true;
    return new Promise<boolean>(() => {}) as never;
  };
  const asked = ask(`/rooms/main/sessions/${"0".repeat(32)}`, { method: "DELETE" });
  let isAnswered = false;
  void asked.then(() => {
    isAnswered = true;
  });
  await until(() => isEngineAsked);
  world.pass(ENGINE_ANSWER_MAX_MS - 1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isAnswered, false);
  world.pass(1);
  assert.equal((await asked).status, 503);
});
