import assert from "node:assert/strict";
import { test } from "node:test";
import { version } from "../assembly/version.ts";
import { checkRoomChange } from "../config/room-change.ts";
import { roomSchema } from "../config/schema.ts";
import { writtenRoom } from "../config/written.ts";
import { read, scene } from "../testing/office/scene.ts";

interface Schema {
  readonly type: string;
  readonly description: string;
  readonly default: unknown;
  readonly enum: readonly unknown[];
  readonly properties: Readonly<Record<string, Schema>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: unknown }>>>>;
  readonly security: unknown;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: { readonly token: { readonly scheme: string } };
  };
}

const documentOf = async () => read<Document>(await (await scene()).ask("/openapi.json"));
const schemaOf = async (name: string) => (await documentOf()).components.schemas[name]!;

test("the document has every route and no other", async () => {
  const { openapi, info, paths } = await documentOf();
  assert.equal(openapi, "3.1.0");
  assert.equal(info.version, version);
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  assert.deepEqual(routes.sort(), [
    "delete /rooms/{room}/sessions/{id}",
    "get /changes",
    "get /cluster",
    "get /healthz",
    "get /keys",
    "get /metrics",
    "get /openapi.json",
    "get /readyz",
    "get /rooms",
    "get /rooms/{room}",
    "get /rooms/{room}/draws/{event}",
    "get /shops",
    "get /shops/{shop}",
    "get /shops/{shop}/export",
    "get /shops/{shop}/figures",
    "get /shops/{shop}/orders",
    "get /shops/{shop}/orders/{order}",
    "get /shops/{shop}/stock",
    "patch /rooms/{room}",
    "post /cluster/forget",
    "post /keys/rotate",
    "post /rooms/{room}/open",
    "post /rooms/{room}/pause",
    "post /shops/{shop}/close",
    "post /shops/{shop}/open",
    "post /shops/{shop}/orders/{order}/cancel",
    "post /shops/{shop}/products/{product}/adjust",
    "post /shops/{shop}/products/{product}/reopen",
    "post /shops/{shop}/verify",
    "put /shops/{shop}",
  ]);
});

test("the document asks for the token everywhere but at health", async () => {
  const { paths, security, components } = await documentOf();
  assert.deepEqual(security, [{ token: [] }]);
  assert.equal(components.securitySchemes.token.scheme, "bearer");
  for (const [path, methods] of Object.entries(paths)) {
    for (const route of Object.values(methods)) {
      assert.deepEqual(route.security, path.endsWith("z") ? [] : undefined, path);
    }
  }
});

test("every reference in the document leads somewhere", async () => {
  const document = await documentOf();
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  assert.ok(references.length > 0);
  for (const [, name] of references) assert.ok(document.components.schemas[name!], name!);
});

test("settings are documented whole, in the file's words and without our notes", async () => {
  const RoomSettings = await schemaOf("RoomSettings");
  assert.deepEqual(Object.keys(RoomSettings.properties).sort(), Object.keys(roomSchema.shape).sort());
  const sessionDuration = RoomSettings.properties.sessionDuration!;
  assert.equal(sessionDuration.type, "string");
  assert.equal(sessionDuration.default, "5m");
  assert.match(sessionDuration.description, /such as 45s or 10m/);
  assert.deepEqual(RoomSettings.properties.queueingStatusCode!.enum, [200, 202, 429]);
  assert.doesNotMatch(JSON.stringify(RoomSettings), /"(?:kind|shape|isSecret|\$schema)":/);
});

test("the document offers exactly the settings that may be changed while a room runs", async () => {
  const RoomChange = await schemaOf("RoomChange");
  const room = roomSchema.parse({ totalActiveUsers: 2 });
  const written = writtenRoom(room) as Record<string, unknown>;
  const mayChange = (change: object) =>
    checkRoomChange(room, change, { trustedProxies: [], place: "memory", checkPage: () => null }).ok;
  const settings = Object.keys(roomSchema.shape).filter((key) => key !== "page");
  const changeable = settings.filter((key) => mayChange({ [key]: written[key] }));
  assert.deepEqual(Object.keys(RoomChange.properties).sort(), [...changeable, "page"].sort());
  const page = Object.keys(written.page as object).filter((key) =>
    mayChange({ page: { [key]: (written.page as Record<string, unknown>)[key] } }),
  );
  assert.deepEqual(Object.keys(RoomChange.properties.page!.properties).sort(), page.sort());
  assert.doesNotMatch(JSON.stringify(RoomChange), /"default":/);
});
