/**
 * Changes at the control address that no room can accept: pages that do not compile, values of every wrong kind, bodies that are
 * deep, long or cut off, names that every object has; several at once. The holder of the token may send them, by mistake or on
 * purpose. Each must be refused with a reason, and none may leave anything behind.
 */
import { BODY_BYTES_MAX } from "../../src/office/body.ts";
import { TOKEN } from "../../src/testing/cli/fairgate.ts";
import { ask } from "../../src/visitor/ask.ts";
import type { Attack, Target } from "./attack.ts";

const ROUNDS = { small: 1, full: 50 } as const;
const AT_ONCE = 4;
const DEEP = 20_000;

const nested = (open: string, close: string, inner = "1") =>
  `${open.repeat(DEEP)}${inner}${close.repeat(DEEP)}`;
const page = (customPageHtml: string) => JSON.stringify({ paused: true, page: { customPageHtml } });

const BODIES: readonly string[] = [
  page("<h1>{{#nosuch}}</h1>"),
  page("{{#ahead}}"),
  page("{{/ahead}}"),
  page("{{{ahead}}}"),
  page("{{#ahead}}".repeat(30_000)),
  page(`{{${" ".repeat(400_000)}ahead`),
  page("x".repeat(524_289)),
  `{"paused":${nested("[", "]")}}`,
  `{"page":${nested('{"page":', "}")}}`,
  `{"events":${nested("[", "]")}}`,
  `{"bypass":[{"header":${nested('{"x":', "}")}}]}`,
  nested("[", "]"),
  nested('{"paused":', "}"),
  `{"paused":true,${Array.from({ length: 20_000 }, (_, n) => `"k${n}":${n}`).join(",")}}`,
  `{"message":"${"x".repeat(3_000_000)}"}`,
  `{"message":"${"x".repeat(5_000_000)}"}`,
  '{"__proto__":{"paused":true}}',
  '{"constructor":{"prototype":{"paused":true}}}',
  '{"lanes":{"__proto__":{"share":9}}}',
  '{"page":{"__proto__":{"title":"x"},"nosuch":1}}',
  '{"paused":"yes","totalActiveUsers":-1,"sessionDuration":1e999,"show":[],"page":7}',
  '{"paused":true,"drained":true}',
  '{"totalActiveUsers":null,"newUsersPerMinute":null}',
  '{"host":"evil.example","origin":{"addresses":["http://127.0.0.1:1"]}}',
  '{"page":{"customPageFile":"/etc/passwd"}}',
  '{"events":[{"name":"a","eventStartTime":"x","eventEndTime":"y"}]}',
  '{"bypass":[{"header":{"X-A":"hidden:0123456789abcdef"}}]}',
  '{"paused":true',
  "[]",
  "null",
  "",
  "\u0000",
];

export const badChanges: Attack = {
  name: "bad changes",
  about: "break a room, or leave something behind, by a change that it cannot take",
  async run({ control }, scale) {
    const before = await settingsAt(control);
    const examples: string[] = [];
    const todo = Array.from({ length: ROUNDS[scale] }, () => BODIES).flat();
    let next = 0;
    const work = async () => {
      for (let body = todo[next++]; body !== undefined; body = todo[next++]) {
        const status = await change(control, body);
        if (status < 400 || status >= 500) examples.push(`${status}: ${body.slice(0, 60)}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const after = await settingsAt(control);
    if (after !== before) examples.push(`the room is another one: ${after.slice(0, 200)}`);
    return { attempts: todo.length, through: examples.length, examples: examples.slice(0, 3) };
  },
};

/** The status; 413 also when the connection was cut over a body that is too large. */
async function change(control: Target["control"], body: string): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  try {
    return (await ask(control, { method: "PATCH", path: "/rooms/main", headers, body })).status;
  } catch (error) {
    if (body.length > BODY_BYTES_MAX) return 413;
    throw error;
  }
}

async function settingsAt(control: Target["control"]): Promise<string> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { text } = await ask(control, { path: "/rooms/main", headers });
  return JSON.stringify((JSON.parse(text) as { settings: object }).settings);
}
