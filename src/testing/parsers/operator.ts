/** Parsers of requests to the control address, and of operators' files, pages and records. */
import { hideSecrets, safeText } from "../../config/problem.ts";
import { checkRoomChange } from "../../config/room-change.ts";
import { readAddress, readHost, readPath } from "../../config/route.ts";
import { roomSchema } from "../../config/schema.ts";
import { parseDuration, parseInstant, parsePercent, parseSize } from "../../config/units.ts";
import { readReceipt } from "../../core/draw-receipt.ts";
import { readRecord } from "../../core/draw-record.ts";
import { readColour } from "../../gateway/page/colour.ts";
import { readPicture } from "../../gateway/page/look.ts";
import { createPage } from "../../gateway/page/render.ts";
import { compileTemplate, escapeHtml } from "../../gateway/page/template.ts";
import { createHiding } from "../../office/hidden-values.ts";
import { DESK_TOKEN, scene } from "../office/scene.ts";
import { again, type Parser } from "./parser.ts";

const current = roomSchema.parse({ totalActiveUsers: 1, lanes: { vip: {} } });
const NAMES = { escaped: new Set(["ahead", "message"]), raw: new Set(["script"]) };
const CONTEXT = { trustedProxies: [], lineKind: "memory", checkPage: () => null } as const;
const hiding = createHiding(Buffer.alloc(32));

const control: readonly Parser[] = [
  {
    name: "control: token",
    read: (text) => ask("/rooms", { authorization: `Bearer ${text}` }),
    worst: [again(" "), again("Bearer ")],
  },
  {
    name: "control: password",
    read: (text) => ask("/", { authorization: `Basic ${text}` }),
    worst: [again(" "), again("A"), again("="), again("Ojo6")],
  },
  {
    name: "control: path and query",
    read: (text) => ask(`/rooms/${text}`, { authorization: `Bearer ${DESK_TOKEN}` }),
    worst: [again("/"), again("%2F"), again("?a="), again("../")],
  },
  {
    name: "control: Content-Type",
    read: (text) => ask("/rooms/main", { ...AUTHORIZED, "content-type": `application/json;${text}` }, "{}"),
    worst: [again("; a=b"), again("application/json;"), again(" ;")],
  },
  {
    name: "control: body",
    read: (text) => ask("/rooms/main", { ...AUTHORIZED, "content-type": "application/json" }, text),
    worst: [
      again("[", { before: '{"events":' }),
      again('{"a":'),
      again("1,", { before: '{"events":[', after: "1]}" }),
      again('{"a":1},', { before: '{"bypass":[', after: "{}]}" }),
    ],
  },
  {
    name: "change of a room: names",
    read: (text) =>
      checkRoomChange(current, Object.fromEntries(names(text).map((name) => [name, 1])), CONTEXT),
    worst: [again("totalActiveUser"), again("paused_")],
  },
  {
    name: "change of a room: list",
    read: (text) =>
      checkRoomChange(current, { bypass: names(text), lanes: { vip: { a: names(text) } } }, CONTEXT),
    worst: [again("a")],
  },
  {
    name: "change of a room: values",
    read: (text) => [
      checkRoomChange(current, { message: text, page: { title: text, logo: text, colour: text } }, CONTEXT),
      hiding.restore(current as never, { bypass: [{ header: { a: text } }] }),
    ],
    worst: [again("data:image/"), again("hidden:")],
  },
];

const pages: readonly Parser[] = [
  {
    name: "custom page",
    read: (text) => attempt(() => compileTemplate(text, NAMES)),
    worst: [
      again("{{"),
      again("{{{"),
      again("{{ ", { after: "}" }),
      again(" ", { before: "{{", after: "}" }),
      again("{{#message}}"),
      again("{{message}}"),
      again("{{#message}}{{/message}}"),
      again("{{!}"),
      again("}}"),
    ],
  },
  {
    name: "custom page, put to use",
    read: (text) =>
      attempt(() => createPage({ ...current.page, customPageHtml: `${text}{{{script}}}{{{style}}}` })),
    worst: [again("{{#message}}{{/message}}"), again("{{ahead}}"), again("<p>")],
  },
  { name: "text into HTML", read: escapeHtml, worst: [again("&lt;")] },
  { name: "colour", read: (text) => attempt(() => readColour(text)), worst: [again("#f")] },
  {
    name: "logo",
    read: (text) => attempt(() => readPicture(text, "logo")),
    worst: [again("a", { before: "data:image/" }), again("/", { before: "/" }), again("https://")],
  },
];

const written: readonly Parser[] = [
  {
    name: "units",
    read: (text) => [parseDuration(text), parseSize(text), parsePercent(text), parseInstant(text)],
    worst: [
      again(" ", { before: "1", after: "x" }),
      again("0", { before: "2026-01-01T00:00:00." }),
      again("9", { after: "x" }),
    ],
  },
  {
    name: "host, path and address of a room",
    read: (text) => [readHost(text), readPath(`/${text}`), readAddress(`http://${text}`)],
    worst: [again("a."), again("a-"), again(":1"), again("*."), again("xn--")],
  },
  {
    name: "words in messages",
    read: (text) => [hideSecrets(text), safeText(text, 80)],
    worst: [again("a@"), again("//@"), again("aA1"), again("0123456789abcdef"), again("aA1 ")],
  },
];

const records: readonly Parser[] = [
  {
    name: "draw: record",
    read: (text) => readRecord(text),
    worst: [again("a: b\n"), again("\n"), again("0".repeat(32))],
  },
  { name: "draw: receipt", read: readReceipt, worst: [again('{"a":'), again("[")] },
];

export const OPERATOR_PARSERS: readonly Parser[] = [...control, ...pages, ...written, ...records];

const AUTHORIZED = { authorization: `Bearer ${DESK_TOKEN}` };
const { office } = await scene();

async function ask(path: string, headers: Record<string, string>, body?: string): Promise<unknown> {
  try {
    const method = body === undefined ? "GET" : "PATCH";
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    return await (await office.fetch(request)).text();
  } catch (error) {
    return error;
  }
}

/** A text cut into short names, all different. */
function names(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at += 15) found.push(`${text.slice(at, at + 15)}${at}`);
  return found;
}

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
